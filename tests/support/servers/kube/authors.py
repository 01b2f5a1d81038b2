"""What people, the garbage collector and the namespace controller do to the objects of a real API server.

A test server has no controller manager: nobody deletes what an owner leaves behind, or empties a namespace.
The test does both itself, by `collect` and `end_namespace`.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from typing import Any, Final, NamedTuple, TypeVar

from syncret.config.meta import Document, GroupKind, ObjectRef, ref_of
from syncret.config.resources.kinds import NAMESPACE
from syncret.daemon.homes.contract import Conflict, NotFound, StoredObject
from syncret.daemon.homes.kubernetes.home import KubernetesHome
from syncret.daemon.homes.memory.requests import for_apply, merged
from tests.support.servers.kube.running import KubeApi

T = TypeVar("T")

_ATTEMPTS: Final = 20
"""Others write the same objects: a command is made again from the version that they left."""


class Written(NamedTuple):
    """What a command left on the server."""

    ref: ObjectRef
    uid: str
    version: str
    """Empty: the object is gone."""


class Author:
    """Makes commands as `kubectl` does.

    `home` must be another than that of the engine, which would know these writes as its own.
    """

    def __init__(self, home: KubernetesHome, api: KubeApi) -> None:
        self._home = home
        self._api = api
        self._seen: set[str] = set()

    async def apply(self, document: Document) -> Written:
        """Create the object, or replace it; its namespace comes into being with it."""

        async def act() -> Written:
            standing = await self._home.get(ref_of(document))
            if standing is None:
                return _written(await self._create(document))
            wanted = _with_version(for_apply(document, standing.document), standing)
            return _written(await self._home.update(wanted))

        return await _persistently(act)

    async def patch(self, ref: ObjectRef, merge: Document) -> Written:
        """Lay a JSON merge patch over the object."""

        async def act() -> Written:
            standing = await self._found(ref)
            return _written(await self._home.update(merged(standing.document, merge)))

        return await _persistently(act)

    async def remove(self, ref: ObjectRef) -> Written:
        """Delete the object in any version."""

        async def act() -> Written:
            standing = await self._found(ref)
            left = await self._home.delete(standing)
            return Written(ref, standing.uid, "") if left is None else _written(left)

        return await _persistently(act)

    async def has(self, ref: ObjectRef) -> bool:
        """Whether there is such an object."""
        return await self._home.get(ref) is not None

    async def list(
        self, kinds: Iterable[GroupKind], namespaces: Collection[str] | None = None
    ) -> Sequence[StoredObject]:
        """The objects of these kinds: all, or those that are in these namespaces, or in none."""
        lists = await asyncio.gather(*(self._home.list(kind) for kind in sorted(kinds)))
        return [
            stored
            for listed in lists
            for stored in listed
            if namespaces is None or not stored.ref.namespace or stored.ref.namespace in namespaces
        ]

    async def collect(self, objects: Sequence[StoredObject]) -> Sequence[Written]:
        """Delete those whose owners are all gone, as the garbage collector does; what was deleted.

        An owner that never was among the objects is taken for one of a kind that nobody here lists.
        """
        uids = {stored.uid for stored in objects}
        self._seen |= uids
        gone = self._seen - uids
        orphans = [
            stored
            for stored in objects
            if (owners := _owners(stored)) and owners <= gone and not _is_ending(stored)
        ]
        return [await self.remove(stored.ref) for stored in orphans]

    async def release(self, ref: ObjectRef) -> None:
        """Strike out all finalizers: nobody is left who would act on them."""

        async def act() -> None:
            standing = await self._home.get(ref)
            if standing is not None:
                await self._home.set_finalizers(standing, [])

        await _persistently(act)

    def end_namespace(self, name: str) -> None:
        """Let an emptied namespace go, as the namespace controller does."""
        path = f"/api/v1/namespaces/{name}"
        found = self._api.get(path)
        if found is not None:
            self._api.request("DELETE", path)
            found["spec"]["finalizers"] = []
            found["metadata"].pop("resourceVersion")
            self._api.request("PUT", f"{path}/finalize", found)

    async def _create(self, document: Document) -> StoredObject:
        try:
            return await self._home.create(document)
        except NotFound:
            namespace = document["metadata"].get("namespace")
            if not namespace or await self._home.get(NAMESPACE.ref("", namespace)) is not None:
                raise
            await self._home.create(
                {
                    "apiVersion": NAMESPACE.api_version,
                    "kind": NAMESPACE.kind,
                    "metadata": {"name": namespace},
                }
            )
            return await self._home.create(document)

    async def _found(self, ref: ObjectRef) -> StoredObject:
        standing = await self._home.get(ref)
        if standing is None:
            raise NotFound(f"{ref} not found")
        return standing


async def _persistently(act: Callable[[], Awaitable[T]]) -> T:
    for _ in range(_ATTEMPTS):
        try:
            return await act()
        except Conflict:
            continue
    return await act()


def _written(stored: StoredObject) -> Written:
    return Written(stored.ref, stored.uid, stored.resource_version)


def _with_version(document: Document, standing: StoredObject) -> Document:
    return {**document, "metadata": {**document["metadata"], "resourceVersion": standing.resource_version}}


def _metadata(stored: StoredObject) -> Any:  # noqa: ANN401  # JSON
    return stored.document["metadata"]


def _owners(stored: StoredObject) -> set[str]:
    return {owner["uid"] for owner in _metadata(stored).get("ownerReferences", ())}


def _is_ending(stored: StoredObject) -> bool:
    return "deletionTimestamp" in _metadata(stored)
