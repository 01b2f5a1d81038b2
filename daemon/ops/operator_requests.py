"""Serves `syncret refresh` and `explain`: finds the object that an operator named, and makes it due now.

A refresh has the effect of the External Secrets operator's `force-sync` annotation, but sets none: the
annotation would be lost when the manifest changes, removed from a child by the cluster-wide object that
created it, and copied to the output. The engine keeps the request in memory until a run that began after it
succeeds, so that it survives failures and retries.
"""

from collections.abc import Iterator
from typing import Final

import msgspec

from syncret.config.durations import DurationError, parse_duration
from syncret.config.meta import GroupKind, ObjectRef
from syncret.config.resources.base import GROUP
from syncret.config.resources.external_secret import ExternalSecret
from syncret.config.spelling import did_you_mean
from syncret.daemon.core.ownership import controller_of
from syncret.daemon.homes.contract import StoredObject
from syncret.daemon.ops.object_view import KINDS, STORES
from syncret.daemon.ops.view import Objects, Running

SHORT: Final = {
    "es": "ExternalSecret",
    "ps": "PushSecret",
    "ss": "SecretStore",
    "css": "ClusterSecretStore",
    "ces": "ClusterExternalSecret",
    "cps": "ClusterPushSecret",
}


class UnknownObject(Exception):
    """There is no such object; `hint` suggests others."""

    def __init__(self, message: str, *, hint: str) -> None:
        self.hint = hint
        super().__init__(message)


def find(objects: Objects, kind: str, namespace: str, name: str) -> StoredObject:
    """The object of a kind (any case, plural or short, with its group or without). Raises UnknownObject."""
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


CHILDREN: Final = {
    "ClusterExternalSecret": GroupKind(GROUP, "ExternalSecret"),
    "ClusterPushSecret": GroupKind(GROUP, "PushSecret"),
}


class Refused(Exception):
    """A refresh would do nothing; the message says why, `hint` what would help."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        self.hint = hint
        super().__init__(message)


class Refreshed(msgspec.Struct, frozen=True):
    """The answer to `syncret refresh`."""

    object: str
    message: str


def refresh(running: Running, stored: StoredObject) -> Refreshed:
    """Make an object, or all children of a cluster-wide one, due now. Raises Refused."""
    ref = stored.ref
    _check(running, stored)
    if ref.kind in STORES:
        running.engine.refresh(ref)
        return Refreshed(str(ref), "is looked at now; it is probed unless it was found healthy not long ago")
    if ref.kind not in CHILDREN:
        _request_refresh(running, ref)
        return Refreshed(str(ref), "is refreshed now")
    children = list(_children(running.inventory, stored))
    running.engine.refresh(ref)
    for child in children:
        _request_refresh(running, child)
    kind = CHILDREN[ref.kind].kind
    return Refreshed(str(ref), f"{len(children)} {kind}{'' if len(children) == 1 else 's'} refreshed now")


def _request_refresh(running: Running, ref: ObjectRef) -> None:
    running.context.memory.request_refresh(ref)
    running.engine.refresh(ref)


def _children(objects: Objects, owner: StoredObject) -> Iterator[ObjectRef]:
    for stored in objects.list(CHILDREN[owner.ref.kind]):
        controller = controller_of(stored.document)
        if controller is not None and controller.uid == owner.uid:
            yield stored.ref


def _check(running: Running, stored: StoredObject) -> None:
    document = stored.document
    spec = document.get("spec", {})
    if document["metadata"].get("deletionTimestamp"):
        raise Refused("it is being deleted")
    if not running.context.handles(spec.get("controller")):
        raise Refused("another controller class looks after it", hint="see spec.controller")
    if stored.ref.kind == "ExternalSecret":
        _check_policy(stored.as_type(ExternalSecret))


def _check_policy(resource: ExternalSecret) -> None:
    """Refuse what is created only once: it may be a password in use."""
    if not resource.status.synced_resource_version:
        return
    hint = "delete what it wrote, and it is made anew"
    if resource.spec.refresh_policy == "CreatedOnce":
        raise Refused("its refreshPolicy is CreatedOnce: it is not fetched again", hint=hint)
    try:
        once = parse_duration(resource.spec.refresh_interval) <= 0
    except DurationError:
        return
    if once and resource.spec.refresh_policy != "OnChange":
        raise Refused("its refreshInterval is 0: it is not fetched again", hint=hint)
