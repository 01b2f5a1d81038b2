"""Requests by which an installer keeps objects that others write to as well: server-side apply, and patches.

The API server's answers contain `managedFields`, which show who wrote what.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any, Final, TypeVar

import msgspec

from syncret.config.meta import Document, GroupKind, ObjectRef, member, ref_of
from syncret.daemon.homes.contract import (
    Conflict,
    HomeError,
    Invalid,
    NotFound,
    OutcomeUnknown,
    StorageUnavailable,
    StoredObject,
    TooManyRequests,
)
from syncret.daemon.homes.kubernetes.api import JSON, METADATA_ONLY, NotAllowed
from syncret.daemon.homes.kubernetes.bodies import patch_body
from syncret.daemon.homes.kubernetes.home import KubernetesHome
from syncret.daemon.homes.kubernetes.objects import METADATA_ALONE, stored_of
from syncret.daemon.homes.kubernetes.resources import Resource
from syncret.providers.kit.http import Answer, Body
from syncret.providers.kit.retry import Doubling

T = TypeVar("T")

APPLY: Final = "application/apply-patch+yaml"
JSON_PATCH: Final = "application/json-patch+json"

MOST_TRIES: Final = 6
_PAUSES: Final = Doubling(0.1, 2.0)
"""Between the tries of one request: an installation takes dozens, and begins with none of them anew."""

_CRD: Final = GroupKind("apiextensions.k8s.io", "CustomResourceDefinition")
"""CRDs have a hundred kilobytes each, so only their metadata is requested."""

_NOT_TYPED: Final = "failed to create typed patch object"
"""In the words of the 500 by which an apply with a wrong type or a doubled key is refused."""


class Applier:
    """Applies objects as one field manager. Methods raise HomeError; of Secrets no value travels.

    A request that was not answered, or answered by a failure that may pass, is repeated a few times.
    """

    def __init__(self, home: KubernetesHome, *, manager: str) -> None:
        self._home = home
        self._api, self._resources = home.requests
        self._manager = manager

    async def serves(self, kind: GroupKind) -> bool:
        """Whether the API server has the kind."""
        try:
            return await self._resources.find(kind) is not None
        except NotFound:  # not even the group
            return False

    def retry_unknown(self, kinds: Collection[GroupKind]) -> None:
        """Ask at once for kinds that could not be watched, without cached answers."""
        for kind in kinds:
            self._resources.forget(kind)
        self._home.retry_unknown(kinds)

    async def look(self, ref: ObjectRef) -> StoredObject | None:
        """The object as it is now; of Secrets and ConfigMaps the metadata."""
        resource = await self._resources.find(ref.group_kind)
        if resource is None:
            return None
        path, accept = resource.path_to(ref), _accepted(resource)
        answer = await self._repeated(
            ref, lambda: self._api.read(path, doing=f"reading {ref}", accept=accept), StorageUnavailable
        )
        return None if answer is None else stored_of(resource, answer.decode(Document), whole=True)

    async def data_of(self, ref: ObjectRef) -> Mapping[str, str]:
        """The encoded data of a Secret; empty if there is none. It is not kept."""
        stored = await self._home.get(ref)
        return {} if stored is None else member(stored.document, "data")

    async def apply(self, document: Document, *, dry_run: bool = False) -> StoredObject:
        """Apply it, and take over fields of other managers; with `dry_run`, what the server would store.

        Raises Invalid if the document itself is wrong.
        """
        body = Body(msgspec.json.encode(document), APPLY)
        ref, api_version = ref_of(document), str(document["apiVersion"])
        return await self._patch(ref, body, api_version, applies=True, dry_run=dry_run)

    async def edit(self, seen: StoredObject, operations: Sequence[Document]) -> StoredObject:
        """A JSON patch of this version. Raises Conflict where there is a newer one."""
        test = {"op": "test", "path": "/metadata/resourceVersion", "value": seen.resource_version}
        body = Body(msgspec.json.encode([test, *operations]), JSON_PATCH)
        return await self._patch(seen.ref, body)

    async def merge(self, seen: StoredObject, metadata: Mapping[str, Any]) -> StoredObject:
        """A merge patch of the metadata of this version. Raises Conflict where there is a newer one."""
        patch = {"metadata": {**metadata, "resourceVersion": seen.resource_version}}
        return await self._patch(seen.ref, patch_body(patch))

    async def _patch(
        self,
        ref: ObjectRef,
        body: Body,
        api_version: str = "",
        *,
        applies: bool = False,
        dry_run: bool = False,
    ) -> StoredObject:
        resource = await self._resources.find(ref.group_kind, api_version.rpartition("/")[2])
        if resource is None:
            raise StorageUnavailable(
                f"{ref}: the API server does not serve this kind", hint="install its CRD"
            )
        params = {"fieldManager": self._manager}
        passing: list[type[HomeError]] = [StorageUnavailable, OutcomeUnknown]
        if applies:  # an apply may be repeated, whatever the first attempt did
            params["force"] = "true"
            passing.append(Conflict)
        if dry_run:
            params["dryRun"] = "All"
            passing.append(TooManyRequests)  # of writes, the gate holds back all

        async def ask() -> Answer:
            try:
                return await self._api.write(
                    "PATCH",
                    resource.path_to(ref),
                    body,
                    doing=f"{'trying' if dry_run else 'writing'} {ref}",
                    params=params,
                    accept=_accepted(resource),
                )
            except OutcomeUnknown as error:
                if _NOT_TYPED in str(error):
                    raise Invalid(str(error)) from None
                raise

        answer = await self._repeated(ref, ask, *passing)
        return stored_of(resource, answer.decode(Document), whole=True)

    async def _repeated(
        self, ref: ObjectRef, ask: Callable[[], Awaitable[T]], *passing: type[HomeError]
    ) -> T:
        """The answer, after retries of failures that may pass; raises the last failure."""
        for failures in range(1, MOST_TRIES):
            pause = _PAUSES.pause(failures)
            try:
                return await ask()
            except passing as error:
                if isinstance(error, NotAllowed) or not self._home.owns(ref):
                    raise
                if isinstance(error, TooManyRequests) and error.retry_after is not None:
                    pause = error.retry_after
            await asyncio.sleep(pause)
        return await ask()


def _accepted(resource: Resource) -> str:
    is_short = resource.group_kind in METADATA_ALONE or resource.group_kind == _CRD
    return f"{METADATA_ONLY},{JSON}" if is_short else JSON
