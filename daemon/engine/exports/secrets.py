"""Reads the secrets for a resource's expressions: by calls to its vendor, or from the Secret that it wrote.

Nothing is kept: each run asks anew, and only for what the expressions use.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import NamedTuple

from syncret.config.meta import Document, GroupKind, ObjectRef
from syncret.config.resources.kinds import SECRET
from syncret.daemon.core.exports.owner import Owner
from syncret.daemon.core.exports.plan import ALL
from syncret.daemon.core.exports.written import values_of, written_names
from syncret.daemon.core.secret import secret_data
from syncret.daemon.engine.queue.fair_queue import resources_lane
from syncret.daemon.engine.queue.waiting import current_run, waiting_for
from syncret.daemon.homes.contract import ObjectReader
from syncret.providers.errors import Malformed, Unavailable
from syncret.providers.secret_apis import (
    CallIdentity,
    SecretApis,
    SecretApisContext,
    SecretCall,
    SecretReader,
)
from syncret.providers.values import SecretBytes, SecretMap


class Secrets(NamedTuple):
    """The values for one evaluation, and the APIs that were called for them."""

    values: Mapping[str, str]
    apis: Sequence[str]


class SecretSource:
    """Reads the secrets of resources, with one reader for each vendor, opened when it is first needed."""

    def __init__(
        self,
        home: ObjectReader,
        find: Callable[[str], SecretApis | None],
        context: SecretApisContext,
    ) -> None:
        """`find` gives the secret APIs for resources of an API group."""
        self._home = home
        self._find = find
        self._context = context
        self._stack = AsyncExitStack()
        self._readers: dict[int, SecretReader] = {}
        self._opening = asyncio.Lock()
        self.calls: Counter[tuple[str, str]] = Counter()
        """By kind of resource and API, for metrics."""

    async def close(self) -> None:
        """Close all readers."""
        await self._stack.aclose()

    def named(self, resource: Document, ref: ObjectRef) -> list[ObjectRef]:
        """The Secrets on which a resource's secrets depend: its credentials, and those that it wrote."""
        apis = self._find(ref.group)
        names = [] if apis is None else [each.name for each in apis.credentials(resource)]
        return [SECRET.ref(ref.namespace, name) for name in dict.fromkeys([*names, *written_names(resource)])]

    async def read(self, owner: Owner, resource: Document, hints: Sequence[str]) -> Secrets:
        """The values for these hints, which are not empty. Raises SyncError."""
        apis, names = self._find(owner.ref.group), None if ALL in hints else frozenset(hints)
        planned = None if apis is None else apis.plan(_kind(owner.ref), resource, names)
        if apis is None or planned is None:
            return Secrets(_used(await self._written(owner, resource), names), ())
        values = dict(planned.known)
        identity = await self._identity(apis, owner.ref, resource) if planned.calls else None
        for call in planned.calls:
            if identity is not None:
                values |= await self._call(apis, call, identity)
        return Secrets(_used(values, names), [call.api for call in planned.calls])

    async def _call(self, apis: SecretApis, call: SecretCall, identity: CallIdentity) -> dict[str, str]:
        async with self._opening:  # one for all runs: its limits and logins are shared
            reader = self._readers.get(id(apis))
            if reader is None:
                reader = await self._stack.enter_async_context(apis.open(self._context))
                self._readers[id(apis)] = reader
        self.calls[identity.resource.kind, call.api] += 1
        found = await _waited_for(resources_lane(identity.resource.namespace), reader.read(call, identity))
        return {name: _text(name, value) for name, value in found.items()}

    async def _identity(self, apis: SecretApis, ref: ObjectRef, resource: Document) -> CallIdentity:
        """The first of its credentials that exists; only if none does, the daemon's own identity is left."""
        for each in apis.credentials(resource):
            secret = SECRET.ref(ref.namespace, each.name)
            found = await self._home.get(secret)
            if found is not None:
                data = {key: SecretBytes(value) for key, value in secret_data(found.document).items()}
                return CallIdentity(resource=ref, secret=secret, version=found.resource_version, data=data)
            if each.required:
                raise Malformed(
                    f"there is no Secret {each.name} with its credentials",
                    hint="create it in the resource's namespace, or correct the annotation",
                )
        return CallIdentity(resource=ref)

    async def _written(self, owner: Owner, resource: Document) -> dict[str, str]:
        """The values of the Secrets that the resource, or its own operator for it, has written."""
        values: dict[str, str] = {}
        for name, names in written_names(resource).items():
            found = await self._home.get(SECRET.ref(owner.ref.namespace, name))
            if found is None:
                continue
            document = found.document
            if not owner.owns(document):
                raise Malformed(
                    f"the Secret {name} is not this resource's: it has no owner reference to it",
                    hint="name the Secret that the resource's own operator writes",
                )
            values |= values_of(document, names)
        return values


async def _waited_for(lane: str, read: Awaitable[SecretMap]) -> SecretMap:
    """The result of a call; while it waits, for its vendor's limit too, another run gets the worker."""
    run = current_run.get()
    async with waiting_for(lane):
        try:
            return await read
        except Unavailable:
            run = None  # the wait ended without an answer
            raise
        finally:
            if run is not None:
                run.queue.answered(lane)


def _kind(ref: ObjectRef) -> GroupKind:
    return ref.group_kind


def _used(values: Mapping[str, str], names: frozenset[str] | None) -> dict[str, str]:
    """The values that the hints name; empty ones are left out."""
    return {name: text for name, text in values.items() if text and (names is None or name in names)}


def _text(name: str, value: SecretBytes) -> str:
    try:
        return value.raw.decode()
    except UnicodeDecodeError:
        raise Malformed(f"the secret {name} is no text", hint="an expression takes texts alone") from None
