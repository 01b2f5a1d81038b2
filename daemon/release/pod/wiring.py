"""Wires containers: `env`, `envFrom` and `volumeMounts` of a module become those of Kubernetes."""

from collections.abc import Mapping, Sequence
from typing import Final

from syncret.config.fields import Json
from syncret.config.meta import Document, is_list, is_object
from syncret.daemon.release.dispatch import ref_of
from syncret.daemon.release.findings import Findings, Place
from syncret.daemon.release.groups import Group
from syncret.daemon.release.model import Failed, Field
from syncret.daemon.release.pod.references import References
from syncret.daemon.release.pod.volumes import Volumes
from syncret.daemon.release.schema import has_sensitive

_WAYS: Final = ("value", "from", "fieldRef", "resourceFieldRef")
_PASSED: Final[Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "fieldRef": (("fieldPath",), ("apiVersion",)),
    "resourceFieldRef": (("resource",), ("containerName", "divisor")),
}
"""What is passed through: the members that it must have, and those that it may."""

_SOURCES: Final = ("secretRef", "configMapRef")
_WIRED: Final = ("env", "envFrom", "volumeMounts", "name")


class Wiring:
    """Wires the containers of one module."""

    def __init__(
        self,
        references: References,
        fields: Mapping[str, Field],
        groups: Mapping[str, Group],
        volumes: Volumes,
        findings: Findings,
    ) -> None:
        self._references = references
        self._fields = fields
        self._groups = groups
        self._volumes = volumes
        self._findings = findings

    def container(self, name: str, written: Json, place: Place) -> Document:
        """A container of Kubernetes; what this module does not wire is passed through unchanged."""
        if not is_object(written):
            self._findings.error(place, "must be a mapping", "write {image: ...}")
            return {}
        if written.get("name", name) != name:
            self._findings.error(
                place.at("name"), f"differs from the name {name} that it stands under", "leave it out"
            )
        made: Document = {"name": name}
        for member, value in written.items():
            at = place.at(member)
            if member not in _WIRED:
                if has_sensitive(value):
                    hint = "name it in env.NAME.from or volumeMounts.NAME.from"
                    self._findings.error(at, "holds a sensitive field, which would become text here", hint)
                made[member] = value
        wired = {
            "env": self._env(written.get("env"), place.at("env")),
            "envFrom": self._env_from(written.get("envFrom"), place.at("envFrom")),
            "volumeMounts": self._mounts(written.get("volumeMounts"), place.at("volumeMounts")),
        }
        return made | {member: items for member, items in wired.items() if member in written}

    def _named(self, written: Json, place: Place, example: str) -> Document:
        if written is None:
            return {}
        if not is_object(written):
            self._findings.error(place, "must be a mapping by name", f"write {example}")
            return {}
        return written

    def _env(self, written: Json, place: Place) -> list[Document]:
        entries = self._named(written, place, "{NAME: {value: ...}}")
        made = (self._variable(name, entry, place.at(name)) for name, entry in entries.items())
        return [each for each in made if each is not None]

    def _variable(self, name: str, entry: Json, place: Place) -> Document | None:
        """One variable; None if it is left out, as what it refers to is absent, or wrong."""
        errors = self._findings
        said: Document = entry if is_object(entry) else {}
        suppressed = errors.unknown(place, said, (*_WAYS, "name"))
        ways = [way for way in _WAYS if way in said]
        if len(ways) != 1:
            if len(ways) > 1 or not suppressed.intersection(_WAYS):
                message = f"has {' and '.join(ways)}" if ways else "has no source"
                errors.error(place, message, f"write exactly one of {', '.join(_WAYS)}")
            return None
        if said.get("name", name) != name:
            errors.error(
                place.at("name"), f"differs from the name {name} that it stands under", "leave it out"
            )
        way = ways[0]
        if way == "value":
            text = self._text(said["value"], place.at("value"))
            return None if text is None else {"name": name, "value": text}
        if way == "from":
            source = self._secret_key(said["from"], place.at("from"))
        else:
            source = self._passed(way, said[way], place.at(way))
        return None if source is None else {"name": name, "valueFrom": source}

    def _text(self, value: Json, place: Place) -> str | None:
        if isinstance(value, str):
            return self._references.filled(value, place)
        hint = "quote it" if not is_object(value) and not is_list(value) else "use from for a sensitive field"
        self._findings.error(place, "must be a string", hint)
        return None

    def _secret_key(self, written: Json, place: Place) -> Document | None:
        target = self._references.target(written, place, groups=False)
        field = None if target is None else self._fields.get(target.labels[0])
        if field is None or isinstance(field.fulfilment, Failed):
            return None
        ref = ref_of(field, self._groups[field.routing.secret_name])
        return None if ref is None else {"secretKeyRef": {"name": ref.name, "key": ref.key}}

    def _passed(self, way: str, written: Json, place: Place) -> Document | None:
        required, optional = _PASSED[way]
        if not is_object(written):
            self._findings.error(place, "must be a mapping", f"write {{{required[0]}: ...}}")
            return None
        suppressed = self._findings.unknown(place, written, (*required, *optional))
        for name in required:
            if name not in written and name not in suppressed:
                self._findings.error(place.at(name), "is missing", f"write {name}: ...")
        return {way: written}

    def _env_from(self, written: Json, place: Place) -> list[Document]:
        if written is None:
            return []
        if not is_list(written):
            self._findings.error(place, "must be a list", "write [{secretRef: {name: ...}}]")
            return []
        return [self._bulk(entry, place.at(index)) for index, entry in enumerate(written)]

    def _bulk(self, entry: Json, place: Place) -> Document:
        errors = self._findings
        said: Document = entry if is_object(entry) else {}
        suppressed = errors.unknown(place, said, (*_SOURCES, "prefix"))
        sources = [source for source in _SOURCES if source in said]
        if len(sources) != 1:
            if sources or not suppressed.intersection(_SOURCES):
                errors.error(place, "must have exactly one source", f"write one of {', '.join(_SOURCES)}")
            return {}
        source = sources[0]
        ref: Json = said[source]
        if not is_object(ref) or not isinstance(ref.get("name"), str) or not ref["name"]:
            errors.error(place.at(source, "name"), "is missing: the name of the object", "write name: ...")
            return {}
        errors.unknown(place.at(source), ref, ("name", "optional"))
        group = self._groups.get(ref["name"]) if source == "secretRef" else None
        if group is None:
            return dict(said)
        if not group.texts and not group.external and not self._is_broken(group):
            message = f"nothing of this release makes the Secret {group.secret_name}"
            errors.warn(place.at(source), message, "fulfil a field with a value or source: k8s-eso")
        return {**said, source: {**ref, "name": group.name}}

    def _is_broken(self, group: Group) -> bool:
        """Whether a problem is reported of a field that goes to the Secret."""
        return any(
            isinstance(field.fulfilment, Failed)
            for field in self._fields.values()
            if field.routing.secret_name == group.secret_name
        )

    def _mounts(self, written: Json, place: Place) -> list[Document]:
        entries = self._named(written, place, "{NAME: {mountPath: ..., from: ...}}")
        made = (self._volumes.mount(name, entry, place.at(name)) for name, entry in entries.items())
        return [each for each in made if each is not None]


def fields_by_label(fields: Sequence[Field]) -> dict[str, Field]:
    """The fields as references name them."""
    return {field.label: field for field in fields}
