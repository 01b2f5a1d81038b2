"""The report of `syncret migrate`: what a takeover would change in a cluster."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from syncret.config.meta import Document, ObjectRef
from syncret.daemon.cli.migration.definitions import Findings, advice
from syncret.daemon.cli.migration.effects import TakeoverEffects
from syncret.daemon.cli.migration.operator import Part, Translated
from syncret.daemon.core.plan.held_write import OBJECTS, HeldWrite


class Migration(Struct, frozen=True, kw_only=True):
    """The whole report."""

    seen: TakeoverEffects
    parts: Sequence[Part]
    """ESO's Deployments; empty if there are none, or they could not be read."""
    translated: Translated
    findings: Findings
    unseen: Sequence[str]
    """What could not be read besides objects. It does not change the result."""

    @property
    def changes(self) -> Mapping[ObjectRef, Sequence[HeldWrite]]:
        """The writes of a takeover, by the object whose run would make them; empty if it is clean."""
        found = {ref: [each for each in held if _changes(each)] for ref, held in self.seen.held.items()}
        return {ref: held for ref, held in sorted(found.items()) if held}

    @property
    def due(self) -> Sequence[ObjectRef]:
        """Objects that are due, so that a secret manager would be asked at once."""
        return sorted(ref for ref, held in self.seen.held.items() if any(each.verb in _ASKS for each in held))

    @property
    def reasons(self) -> Sequence[str]:
        """Why a takeover is not clean; empty if it is."""
        seen, counts = self.seen, list[tuple[int, str]]()
        counts += [
            (len(self.changes), "would be changed"),
            (len(seen.errors), "could not be decided"),
            (len({each.ref for each in seen.identities.lost}), "would lose the operator's identity"),
            (len(seen.unreachable), "of a vendor that syncret cannot reach"),
            (len(seen.unseen), "kinds that could not be looked at"),
            (len(self.translated.impossible), "flags that cannot be had"),
        ]
        return [f"{count} {what}" for count, what in counts if count]

    @property
    def is_clean(self) -> bool:
        """Whether a takeover would change nothing."""
        return not self.reasons

    def as_document(self) -> Document:
        """As `-o json` prints it."""
        seen = self.seen
        return {
            "apiVersion": "syncret.dev/v1alpha1",
            "kind": "Migration",
            "clean": self.is_clean,
            "objects": seen.objects,
            "changes": [
                {"object": str(ref), "writes": [each.as_document() for each in held]}
                for ref, held in self.changes.items()
            ],
            "due": [str(ref) for ref in self.due],
            "undecided": [
                {"object": str(ref), "message": str(error)} for ref, error in sorted(seen.errors.items())
            ],
            "identities": [
                {"object": str(each.ref), **each.verdict.as_document()} for each in seen.identities.lost
            ],
            "settings": {
                **{each.name: each.value for each in self.translated.settings},
                **(seen.identities.setting if seen.identities.receivers else {}),
            },
            "withoutEffect": [name for name, _ in self.translated.without_effect],
            "impossible": list(self.translated.impossible),
            "unreachable": [
                {"object": str(ref), "vendor": vendor} for ref, vendor in sorted(seen.unreachable.items())
            ],
            "operator": [
                {"deployment": str(each), "image": each.image, "replicas": each.replicas}
                for each in self.parts
            ],
            "advice": [
                {"what": what, "commands": list(commands)} for what, commands in advice(self.findings)
            ],
            "notLookedAt": [*seen.unseen, *self.unseen],
        }


_ASKS = ("read", "provider")


def _changes(held: HeldWrite) -> bool:
    return held.verb in OBJECTS or held.turns
