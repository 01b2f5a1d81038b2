"""Detects in the events of the watches that another operator wrote a status of one of our ExternalSecrets."""

from collections.abc import Callable
from typing import Final, Protocol

import msgspec

from syncret.config.meta import Document, GroupKind, ObjectRef, member
from syncret.config.resources.external_secret import ExternalSecret
from syncret.config.resources.kinds import EXTERNAL_SECRET, generator_ref, role_of, store_ref
from syncret.daemon.core import needs
from syncret.daemon.core.schedule.refresh import Periodic
from syncret.daemon.homes.kubernetes.other_operator.foreign import AFTER_LEASE, STATUS, ForeignWriters

MANAGER: Final = "external-secrets"
"""The operator's field manager: the name of its program."""

WITHOUT_INTERVAL: Final = 3600.0
"""Seconds between two statuses of an object that is not refreshed by time."""

INTERVALS: Final = 2
"""So many intervals of an object pass without a status until the other operator counts as gone."""


class Versions(Protocol):
    """Is called with each version of an object before the home drops its `managedFields`."""

    def saw(self, kind: GroupKind, document: Document) -> None:
        """A version from a watch."""
        ...

    def gone(self, ref: ObjectRef) -> None:
        """An object is gone."""
        ...

    def listed(self, kind: GroupKind) -> None:
        """All objects of the kind that existed have been announced."""
        ...


class NoVersions:
    """Does nothing: no other operator is expected."""

    def saw(self, kind: GroupKind, document: Document) -> None: ...
    def gone(self, ref: ObjectRef) -> None: ...
    def listed(self, kind: GroupKind) -> None: ...


class ForeignStatuses:
    """Implements `Versions`.

    The API server renews the time of an entry of `managedFields` whenever its manager writes. So a time later
    than all in the list is a write after it, and no object has to be remembered.
    """

    def __init__(self, foreign: ForeignWriters, handles: Callable[[str], bool]) -> None:
        """`handles` says whether a store or generator with that `spec.controller` is ours."""
        self._foreign = foreign
        self._handles = handles
        self._newest = ""
        self._is_listed = False
        self._others: set[ObjectRef] = set()
        """Stores and generators of other classes: few."""

    def saw(self, kind: GroupKind, document: Document) -> None:
        """As `Versions` says."""
        if kind == EXTERNAL_SECRET.group_kind:
            self._look(document)
        elif role_of(kind) in {"store", "generator"}:
            metadata = document["metadata"]
            ref = ObjectRef(*kind, metadata.get("namespace") or "", metadata["name"])
            if self._handles(str(member(document, "spec").get("controller") or "")):
                self._others.discard(ref)
            else:
                self._others.add(ref)

    def gone(self, ref: ObjectRef) -> None:
        """As `Versions` says."""
        self._others.discard(ref)

    def listed(self, kind: GroupKind) -> None:
        """As `Versions` says."""
        self._is_listed = self._is_listed or kind == EXTERNAL_SECRET.group_kind

    def _look(self, document: Document) -> None:
        written = _status_written(document)
        if written <= self._newest:
            return
        if self._is_listed:
            if not self._is_ours(document):
                return
            metadata = document["metadata"]
            name = f"{metadata.get('namespace')}/{metadata['name']}"
            reason = f"the status of ExternalSecret {name} was written by another operator at {written}"
            interval = msgspec.convert(document, Periodic).spec.interval or WITHOUT_INTERVAL
            self._foreign.seen(STATUS, reason, max(INTERVALS * interval, AFTER_LEASE))
        self._newest = written

    def _is_ours(self, document: Document) -> bool:
        """Whether none of the stores and generators that it names leaves it to another class."""
        try:
            resource = msgspec.convert(document, ExternalSecret)
        except msgspec.ValidationError:
            return False  # no operator can act on it
        namespace = resource.metadata.namespace
        named = [
            *(store_ref(*name, namespace) for name in needs.stores(resource.spec)),
            *(generator_ref(each.kind, each.name, namespace) for each in needs.generators(resource.spec)),
        ]
        return self._others.isdisjoint(named)


def _status_written(document: Document) -> str:
    """When the operator wrote the status last; empty: never. Such times sort as texts."""
    entries: list[Document] = member(document, "metadata").get("managedFields") or []
    return max(
        (
            str(each.get("time") or "")
            for each in entries
            if each.get("manager") == MANAGER and each.get("subresource") == "status"
        ),
        default="",
    )
