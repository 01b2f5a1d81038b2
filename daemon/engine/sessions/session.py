"""What a reconciler holds of a store: reads, searches, writes and probes, on behalf of one namespace."""

from collections.abc import Callable, Iterable, Mapping
from typing import Literal, TypeAlias, TypeVar

from syncret.daemon.core import conversion
from syncret.daemon.engine.queue.waiting import waiting_for
from syncret.daemon.engine.sessions.calls import CallRequest
from syncret.daemon.engine.sessions.store_client import StoreClient
from syncret.providers.contract import (
    Client,
    Finder,
    FindQuery,
    Prober,
    PushItem,
    Reader,
    Readiness,
    RemoteRef,
    RemoteTarget,
    SecretBytes,
    SecretMap,
    Writer,
)
from syncret.providers.errors import Malformed, SyncError

T = TypeVar("T")

Capabilities: TypeAlias = Literal["", "ReadOnly", "WriteOnly", "ReadWrite"]
"""As a store's status has it; empty if it is not known."""


class Session:
    """A store as one namespace sees it. Cheap to make; what it needs is opened when it is first used."""

    def __init__(self, channel: StoreClient | SyncError, namespace: str) -> None:
        self._channel = channel
        self._namespace = namespace

    async def read(self, refs: Iterable[RemoteRef]) -> Mapping[RemoteRef, SecretBytes | SyncError | None]:
        """The value for each: None where it does not exist, an error where it could not be had.

        Raises no SyncError: a failure of the whole call stands in the place of each.
        """
        return await self._fetch(refs, lambda reader, payload, ref: reader.value(payload, ref))

    async def extract(self, refs: Iterable[RemoteRef]) -> Mapping[RemoteRef, SecretMap | SyncError | None]:
        """The value of each as a map of keys; like `read` otherwise, and sharing its calls."""
        return await self._fetch(refs, lambda reader, payload, ref: reader.fields(payload, ref))

    async def find(self, query: FindQuery) -> SecretMap | None:
        """All entries that match, their names converted where the provider wants that.

        None where the path that is searched does not exist.
        """
        channel = self._usable()
        line = channel.connection()
        async with waiting_for(channel.name), line.client as client:
            if not isinstance(client, Finder):
                raise self._cannot(channel, "find")
            found = await line.find(client, query, self._namespace)
            if found is None or not client.converts_keys:
                return found
            return conversion.convert_keys(query.conversion, found)

    async def push(self, item: PushItem) -> None:
        """Store a value."""
        channel = self._usable()
        lock = channel.write_lock(item.remote_key)
        async with waiting_for(channel.name), lock, channel.connection().client as client:
            writer = self._writer(channel, client)
            request = CallRequest("push", item, self._namespace)
            await channel.calls.call(request, lambda: writer.push(item))

    async def delete(self, target: RemoteTarget) -> None:
        """Remove an entry or a property of it."""
        channel = self._usable()
        lock = channel.write_lock(target.remote_key)
        async with waiting_for(channel.name), lock, channel.connection().client as client:
            writer = self._writer(channel, client)
            request = CallRequest("delete", target, self._namespace)
            await channel.calls.call(request, lambda: writer.delete(target))

    async def exists(self, target: RemoteTarget) -> bool:
        """Whether the entry (or its property) is there."""
        channel = self._usable()
        async with waiting_for(channel.name), channel.connection().client as client:
            writer = self._writer(channel, client)
            request = CallRequest("exists", target, self._namespace)
            return await channel.calls.call(request, lambda: writer.exists(target))

    async def probe(self) -> Readiness:
        """Whether the store can be used; raises SyncError where it cannot.

        `unknown` too where the store takes its credentials from the caller's namespace, and there is no
        caller.
        """
        channel = self._usable()
        if channel.plan.referent and not self._namespace:
            return "unknown"
        async with waiting_for(channel.name), channel.connection().client as client:
            if not isinstance(client, Prober):
                return "ready"
            return await channel.calls.call(CallRequest("probe", None, self._namespace), client.probe)

    async def capabilities(self) -> Capabilities:
        """What the store's client can do. Raises SyncError where none can be opened."""
        channel = self._usable()
        if channel.plan.referent and not self._namespace:
            return ""
        async with waiting_for(channel.name), channel.connection().client as client:
            if not isinstance(client, Writer):
                return "ReadOnly"
            return "ReadWrite" if isinstance(client, Reader | Finder) else "WriteOnly"

    async def _fetch(
        self, refs: Iterable[RemoteRef], take: Callable[[Reader, object, RemoteRef], T | None]
    ) -> Mapping[RemoteRef, T | SyncError | None]:
        wanted = list(dict.fromkeys(refs))
        answers: dict[RemoteRef, T | SyncError | None] = {}
        try:
            channel = self._usable()
            line = channel.connection()
            async with waiting_for(channel.name), line.client as client:
                reader = line.reader(client)
                keyed = {ref: line.key_of(ref) for ref in wanted}
                payloads = await line.reads.get(
                    keyed.values(), self._namespace, on_shared=channel.calls.shared
                )
                for ref, key in keyed.items():
                    answers[ref] = _answer(reader, payloads.get(key), ref, take)
        except SyncError as error:
            return dict.fromkeys(wanted, error)
        return answers

    def _usable(self) -> StoreClient:
        if isinstance(self._channel, SyncError):
            raise self._channel
        return self._channel

    def _writer(self, channel: StoreClient, client: Client) -> Writer:
        if not isinstance(client, Writer):
            raise self._cannot(channel, "write")
        return client

    def _cannot(self, channel: StoreClient, verb: str) -> Malformed:
        return Malformed(f"provider {channel.plan.provider.name} cannot {verb}")

    def __repr__(self) -> str:
        return f"<Session {self._namespace or '-'} {self._channel!r}>"


def _answer(
    reader: Reader,
    payload: object,
    ref: RemoteRef,
    take: Callable[[Reader, object, RemoteRef], T | None],
) -> T | SyncError | None:
    if payload is None:
        return None
    if isinstance(payload, SyncError):
        return payload
    try:
        return take(reader, payload, ref)
    except SyncError as error:
        return error
