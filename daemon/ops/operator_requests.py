"""Serves `syncret refresh`, `explain` and completion: finds the object by its name, and makes it due now.

A refresh has the effect of the External Secrets operator's `force-sync` annotation, but sets none: the
annotation would be lost when the manifest changes, removed from a child by the cluster-wide object that
created it, and copied to the output. The engine keeps the request in memory until a run that began after it
succeeds, so that it survives failures and retries.
"""

from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from syncret.config.durations import DurationError, parse_duration
from syncret.config.meta import ObjectRef
from syncret.config.resources.base import GROUP, SYNCRET_GROUP
from syncret.config.resources.external_secret import ExternalSecret
from syncret.config.resources.kinds import EXTERNAL_SECRET, SHOWN_ON_HOST, Kind, kind_of, role_of
from syncret.config.spelling import did_you_mean
from syncret.daemon.core.ownership import controller_of
from syncret.daemon.homes.contract import StoredObject
from syncret.daemon.ops.view import Objects, Running, View

_BY_WORD: Final = {
    word: kind for kind in SHOWN_ON_HOST for word in (kind.kind.lower(), kind.plural, *kind.short_names)
}
"""The kinds by all their names: plural, singular, short."""


def _kind(word: str) -> Kind | None:
    """The kind of that name: any case, plural or short, with its group or without."""
    return _BY_WORD.get(word.lower().removesuffix(f".{GROUP}").removesuffix(f".{SYNCRET_GROUP}"))


class UnknownObject(Exception):
    """There is no such object; `hint` suggests others."""

    def __init__(self, message: str, *, hint: str) -> None:
        self.hint = hint
        super().__init__(message)


def ref_of(kind: str, namespace: str, name: str) -> ObjectRef:
    """The object of a kind. Raises UnknownObject."""
    wanted = _kind(kind)
    if wanted is None and "." in kind:  # a kind of another operator, as `Redis.cache.azure.com`
        other, _, group = kind.partition(".")
        return ObjectRef(group, other, namespace, name)
    if wanted is None:
        hint = did_you_mean(kind, [each.kind for each in SHOWN_ON_HOST])
        raise UnknownObject(f"there is no kind {kind} to ask about", hint=hint)
    return wanted.ref(namespace if wanted.namespaced else "", name)


def find(objects: Objects, ref: ObjectRef, invalid: Mapping[ObjectRef, object]) -> StoredObject:
    """The object, if it exists. Raises UnknownObject; `invalid` are the manifests that have no effect."""
    stored = objects.get(ref)
    if stored is not None:
        return stored
    if ref in invalid:
        raise UnknownObject(f"there is no {ref}: its manifest is invalid", hint=str(invalid[ref]))
    place, name = ref.namespace, ref.name
    refs = [stored.ref for stored in objects.list(ref.group_kind)]
    elsewhere = sorted(each.namespace for each in refs if each.name == name)
    if elsewhere:
        hint = f"there is one in namespace {', '.join(elsewhere)}: add -n"
        raise UnknownObject(f"there is no {ref}", hint=hint)
    near = did_you_mean(name, [each.name for each in refs if each.namespace == place])
    raise UnknownObject(f"there is no {ref}", hint=near or f"the daemon knows no {ref.kind} there")


class Names(msgspec.Struct, frozen=True):
    """The completions that a shell offers: namespace and name of each object."""

    objects: list[tuple[str, str]]


def names(objects: Objects, kind: str) -> Names:
    """The objects of a kind, or of all kinds if it is empty."""
    wanted = [_kind(kind)] if kind else SHOWN_ON_HOST
    refs = [stored.ref for each in wanted if each is not None for stored in objects.list(each.group_kind)]
    return Names(sorted({(ref.namespace, ref.name) for ref in refs}))


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
    kind = kind_of(ref.group_kind)
    if kind is not None and kind.role == "store":
        running.engine.refresh(ref)
        return Refreshed(str(ref), "is looked at now; it is probed unless it was found healthy not long ago")
    if kind is None or kind.child is None:
        _request_refresh(running, ref)
        return Refreshed(str(ref), "is refreshed now")
    children = list(_children(running.inventory, stored, kind.child))
    running.engine.refresh(ref)
    for child in children:
        _request_refresh(running, child)
    plural = "" if len(children) == 1 else "s"
    return Refreshed(str(ref), f"{len(children)} {kind.child.kind}{plural} refreshed now")


def _request_refresh(running: Running, ref: ObjectRef) -> None:
    running.context.memory.request_refresh(ref)
    running.engine.refresh(ref)


def _children(objects: Objects, owner: StoredObject, kind: Kind) -> Iterator[ObjectRef]:
    for stored in objects.list(kind.group_kind):
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
    if role_of(stored.ref.group_kind) == "sync":
        check_policy(stored.as_type(ExternalSecret))


def check_policy(resource: ExternalSecret) -> None:
    """Raise Refused for a target that is created only once: its value may be a password in use."""
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


class Cleared(msgspec.Struct, frozen=True, omit_defaults=True):
    """How many values the offline cache forgot; of one that could not be used, what to do next."""

    removed: int
    next: str = ""


def clear_cache(view: View, store: str) -> Cleared:
    """Forget what came from a store, as KIND/NAMESPACE/NAME or KIND/NAME; without one, everything.

    Raises UnknownObject and Refused.
    """
    if view.offline is None:
        raise Refused("the daemon has no cache", hint="set cache.key")
    cache = view.offline.cache
    if cache is None:
        return _remove_unusable(view, store)
    if not store:
        return Cleared(cache.clear())
    kind, *rest = store.split("/")
    objects = view.running.inventory
    ref = ref_of(kind, rest[0] if len(rest) > 1 else "default", rest[-1] if rest else "")
    stored = find(objects, ref, {})
    readers = objects.list(EXTERNAL_SECRET.group_kind)
    namespaces = {ref.namespace} if ref.namespace else {each.ref.namespace for each in readers}
    from syncret.daemon.cache.cache import store_id  # there is a cache: it is imported

    return Cleared(cache.clear([store_id(ref, stored.data, each) for each in namespaces]))


def _remove_unusable(view: View, store: str) -> Cleared:
    """Remove the file of a cache that this daemon cannot use. Raises Refused while another one uses it."""
    from syncret.daemon.cache.errors import CacheUnusable  # a cache is wanted: they are imported
    from syncret.daemon.cache.file import remove_file
    from syncret.daemon.cache.opening import cache_path

    if store:
        raise Refused("the cache cannot be used", hint="without --store all of it is removed")
    try:
        remove_file(cache_path(view.settings))
    except CacheUnusable as error:
        raise Refused(error.message, hint=error.hint) from None
    return Cleared(0, next="reload the daemon, and a new one begins")
