"""The session of a store for a reconciler: reads, searches, writes and probes on behalf of one namespace."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final, Literal, TypeAlias, TypeVar, cast

from syncret.daemon.core import conversion
from syncret.daemon.engine.queue.waiting import current_run, waiting_for
from syncret.daemon.engine.sessions.calls import CallRequest
from syncret.daemon.engine.sessions.store_client import StoreClient
from syncret.daemon.engine.work import SyncWork
from syncret.providers.answer_memory import SMALL_VALUES
from syncret.providers.contract import Client, Finder, Prober, Reader, Readiness, Writer
from syncret.providers.errors import Malformed, SyncError, bare
from syncret.providers.pushes import PushItem, RemoteTarget
from syncret.providers.values import FindQuery, RemoteKey, RemoteRef, SecretBytes, SecretMap
from syncret.providers.work import Work

T = TypeVar("T")

_Missing: TypeAlias = SyncError | None
"""Why there is no answer, or that there is nothing."""

_Payloads: TypeAlias = Mapping[RemoteKey, object | None]
"""An alias, since Python makes such a type anew at every `def` within a function."""

_Take: TypeAlias = Callable[[Reader, object, RemoteRef, Work], T | None]

_MEMBER_SIZE: Final = 250
"""Bytes that a member of a map takes beside its name and its value."""

Capabilities: TypeAlias = Literal["", "ReadOnly", "WriteOnly", "ReadWrite"]
"""As a store's status has it; empty if it is not known."""


class Session:
    """A store for one sync in a namespace. It is cheap to make: its client is opened at the first use."""

    def __init__(self, channel: StoreClient | SyncError, namespace: str, work: SyncWork) -> None:
        self._channel = channel
        self._namespace = namespace
        self._work = work

    @property
    def is_maintained(self) -> bool:
        """Whether the store's provider is maintained upstream."""
        return isinstance(self._channel, SyncError) or self._channel.plan.provider.spec.maintained

    async def read(self, refs: Iterable[RemoteRef]) -> Mapping[RemoteRef, SecretBytes | SyncError | None]:
        """The value for each: None where it does not exist, an error where it could not be read.

        Raises no SyncError: if the whole call fails, each has its error.
        """
        return await self._fetch(refs, lambda reader, payload, ref, work: reader.value(payload, ref, work))

    async def extract(self, refs: Iterable[RemoteRef]) -> Mapping[RemoteRef, SecretMap | SyncError | None]:
        """The value of each as a map of keys; like `read` otherwise, and sharing its calls."""
        return await self._fetch(refs, lambda reader, payload, ref, work: reader.fields(payload, ref, work))

    async def find(self, query: FindQuery) -> SecretMap | None:
        """All entries that match, their names converted where the provider wants that.

        None where the path that is searched does not exist.
        """
        channel = self._usable()
        line = channel.connection()
        async with waiting_for(channel.name), line.client as client:
            if not isinstance(client, Finder):
                raise self._cannot(channel, "find")
            found = await line.find(client, query, self._namespace, self._work)
            if found is None or not client.converts_keys:
                return found
            return await self._work.run(lambda work: conversion.convert_keys(query.conversion, found, work))

    async def push(self, item: PushItem) -> None:
        """Store a value."""
        channel = self._usable()
        lock = channel.write_lock(item.remote_key)
        async with waiting_for(channel.name), lock, channel.connection().client as client:
            writer = self._writer(channel, client)
            request = CallRequest("push", item, self._namespace, payers=(self._work,))
            await channel.calls.call(request, lambda: writer.push(item))

    async def delete(self, target: RemoteTarget) -> None:
        """Remove an entry or a property of it."""
        channel = self._usable()
        lock = channel.write_lock(target.remote_key)
        async with waiting_for(channel.name), lock, channel.connection().client as client:
            writer = self._writer(channel, client)
            request = CallRequest("delete", target, self._namespace, payers=(self._work,))
            await channel.calls.call(request, lambda: writer.delete(target))

    async def exists(self, target: RemoteTarget) -> bool:
        """Whether the entry (or its property) is there."""
        channel = self._usable()
        async with waiting_for(channel.name), channel.connection().client as client:
            writer = self._writer(channel, client)
            request = CallRequest("exists", target, self._namespace, payers=(self._work,))
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
            request = CallRequest("probe", None, self._namespace, payers=(self._work,))
            return await channel.calls.call(request, client.probe)

    async def capabilities(self) -> Capabilities:
        """The capabilities of the store's client. Raises SyncError if none can be opened."""
        channel = self._usable()
        if channel.plan.referent and not self._namespace:
            return ""
        async with waiting_for(channel.name), channel.connection().client as client:
            if not isinstance(client, Writer):
                return "ReadOnly"
            return "ReadWrite" if isinstance(client, Reader | Finder) else "WriteOnly"

    async def _fetch(self, refs: Iterable[RemoteRef], take: _Take[T]) -> Mapping[RemoteRef, T | _Missing]:
        wanted = list(dict.fromkeys(refs))
        answers: dict[RemoteRef, T | _Missing] = dict.fromkeys(wanted)
        try:
            channel = self._usable()
            line = channel.connection()
            async with waiting_for(channel.name), line.client as client:
                reader = line.reader(client)
                refs_of: dict[RemoteKey, list[RemoteRef]] = {}
                for ref in wanted:
                    refs_of.setdefault(line.key_of(ref), []).append(ref)

                async def take_values(payloads: _Payloads) -> None:
                    found = {ref: payload for key, payload in payloads.items() for ref in refs_of[key]}
                    taken = await self._work.run(lambda work: _answers(reader, found, take, work))
                    answers.update(_counted(taken, channel))

                await line.reads.get(
                    refs_of, self._namespace, take_values, payer=self._work, on_shared=channel.calls.shared
                )
        except SyncError as error:
            return dict.fromkeys(wanted, bare(error))
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


def _answers(
    reader: Reader, payloads: Mapping[RemoteRef, object], take: _Take[T], work: Work
) -> dict[RemoteRef, T | _Missing]:
    """The result for each ref. The payloads are released as soon as it is taken from them."""
    answers: dict[RemoteRef, T | _Missing] = {}
    for ref, payload in payloads.items():
        memory = work.memory
        answer = answers[ref] = _answer(reader, payload, ref, take, work)
        if not work.spent:
            work.memory = memory - _size_of(answer)
    return answers


def _answer(reader: Reader, payload: object, ref: RemoteRef, take: _Take[T], work: Work) -> T | _Missing:
    if payload is None:
        return None
    if isinstance(payload, SyncError):
        return payload
    try:
        return take(reader, payload, ref, work)
    except SyncError as error:
        return bare(error)


def _counted(answers: dict[RemoteRef, T | _Missing], channel: StoreClient) -> dict[RemoteRef, T | _Missing]:
    """Count the answers to the memory of the run until it ends; errors replace those that exceed it."""
    run = current_run.get()
    if run is None:
        return answers
    run.answers.read += sum(map(_size_of, answers.values()))
    if run.answers.read > SMALL_VALUES:
        try:
            run.answers.hold_values(channel.calls.around.network.answers, channel.name)
        except SyncError as error:
            return dict.fromkeys(answers, bare(error))
    return answers


def _size_of(answer: object) -> int:
    if isinstance(answer, SecretBytes):
        return len(answer)
    if isinstance(answer, Mapping):
        members = cast("SecretMap", answer)
        return sum(len(key) + len(value) + _MEMBER_SIZE for key, value in members.items())
    return 0
