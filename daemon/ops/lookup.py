"""From what an operator typed to the object that is meant."""

from typing import Final

from syncret.config.meta import ObjectRef
from syncret.config.resources.base import GROUP
from syncret.config.spelling import did_you_mean
from syncret.daemon.backends.contract import Stored
from syncret.daemon.ops.seen import KINDS
from syncret.daemon.ops.watched import Objects

SHORT: Final = {
    "es": "ExternalSecret",
    "ps": "PushSecret",
    "ss": "SecretStore",
    "css": "ClusterSecretStore",
    "ces": "ClusterExternalSecret",
    "cps": "ClusterPushSecret",
}


class UnknownObject(Exception):
    """There is no such object; `hint` names what may be meant."""

    def __init__(self, message: str, *, hint: str) -> None:
        self.hint = hint
        super().__init__(message)


def find(objects: Objects, kind: str, namespace: str, name: str) -> Stored:
    """The object of that kind (in any case, plural or short, with its group or not). Raises UnknownObject."""
    spelled = {each.kind.lower(): each for each in KINDS}
    word = kind.lower().removesuffix(f".{GROUP}")
    wanted = SHORT.get(word, word).lower()
    group_kind = spelled.get(wanted) or spelled.get(wanted.removesuffix("s"))
    if group_kind is None:
        hint = did_you_mean(kind, [each.kind for each in KINDS])
        raise UnknownObject(f"there is no kind {kind} to ask about", hint=hint)
    place = "" if group_kind.kind.startswith("Cluster") else namespace
    ref = ObjectRef(*group_kind, place, name)
    stored = objects.get(ref)
    if stored is not None:
        return stored
    refs = [stored.ref for stored in objects.list(group_kind)]
    elsewhere = sorted(each.namespace for each in refs if each.name == name)
    if elsewhere:
        hint = f"there is one in namespace {', '.join(elsewhere)}: add -n"
        raise UnknownObject(f"there is no {ref}", hint=hint)
    near = did_you_mean(name, [each.name for each in refs if each.namespace == place])
    raise UnknownObject(f"there is no {ref}", hint=near or f"the daemon knows no {group_kind.kind} there")
