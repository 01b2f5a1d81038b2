"""A rehearsal reads as the real client does, and writes nothing."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager

import pytest

from syncret.config.catalog import SpecType
from syncret.config.fields import Json, Model
from syncret.config.meta import ObjectRef
from syncret.daemon.dry_run import dry_run_provider
from syncret.providers.contract import (
    Client,
    Finder,
    Keyed,
    OpenContext,
    Paced,
    Prober,
    Provider,
    Reader,
    Readiness,
    Writer,
)
from syncret.providers.pushes import PushItem, RemoteTarget
from syncret.providers.values import FindQuery, RemoteKey, RemoteRef, SecretBytes, SecretMap
from syncret.providers.work import Work

STORE = ObjectRef("external-secrets.io", "SecretStore", "default", "s")


class EmptySpec(Model):
    """No fields."""


class ReadingClient:
    """Reads, by keys of its own."""

    async def fetch(self, keys: Sequence[RemoteKey]) -> Mapping[RemoteKey, object]:
        return dict.fromkeys(keys, b"v")

    def value(self, payload: Json, ref: RemoteRef, work: Work) -> SecretBytes | None:
        return SecretBytes(payload)

    def fields(self, payload: Json, ref: RemoteRef, work: Work) -> SecretMap | None:
        return {ref.key: SecretBytes(payload)}

    def remote_key(self, ref: RemoteRef) -> RemoteKey:
        return RemoteKey(ref.key, property=ref.property)


class FindingClient:
    """Finds, and can be asked whether it works."""

    converts_keys = True

    async def find(self, query: FindQuery, paced: Paced, work: Work) -> SecretMap | None:
        return {}

    async def probe(self) -> Readiness:
        return "ready"


class WritingClient:
    """Writes, and fails the test if it is let."""

    async def push(self, item: PushItem) -> None:
        raise AssertionError(item)

    async def delete(self, target: RemoteTarget) -> None:
        raise AssertionError(target)

    async def exists(self, target: RemoteTarget) -> bool:
        return target.remote_key == "there"


Write = tuple[str, ObjectRef, RemoteTarget]


async def rehearsed(client: Client, told: list[Write]) -> Client:
    """What a store gets in the place of the client."""

    @asynccontextmanager
    async def opened(_spec: EmptySpec, _context: OpenContext) -> AsyncGenerator[Client]:
        yield client

    def tell(operation: str, store: ObjectRef, target: RemoteTarget) -> None:
        told.append((operation, store, target))

    provider = dry_run_provider(tell)(STORE, Provider(SpecType("test", EmptySpec), open=opened))
    assert provider.open is not None
    async with provider.open(EmptySpec(), None) as held_back:  # type: ignore[arg-type]  # the test's asks nothing of it
        return held_back


@pytest.mark.parametrize(
    ("client", "can"),
    [
        pytest.param(ReadingClient(), {Reader, Keyed}, id="reads"),
        pytest.param(FindingClient(), {Finder, Prober}, id="finds"),
        pytest.param(WritingClient(), {Writer}, id="writes"),
    ],
)
async def test_a_rehearsal_can_what_the_client_can(client: Client, can: set[type]) -> None:
    held_back = await rehearsed(client, [])
    assert {each for each in (Reader, Keyed, Finder, Prober, Writer) if isinstance(held_back, each)} == can


async def test_a_rehearsal_reads_as_the_client_does() -> None:
    reader = await rehearsed(ReadingClient(), [])
    assert isinstance(reader, Reader)
    assert await reader.fetch([RemoteKey("k")]) == {RemoteKey("k"): b"v"}
    finder = await rehearsed(FindingClient(), [])
    assert isinstance(finder, Finder)
    assert finder.converts_keys


async def test_a_rehearsal_tells_of_writes_and_makes_none() -> None:
    told: list[Write] = []
    writer = await rehearsed(WritingClient(), told)
    assert isinstance(writer, Writer)
    await writer.push(PushItem(remote_key="a", property="p", value=SecretBytes(b"v")))
    await writer.delete(RemoteTarget("b"))
    assert told == [("push", STORE, RemoteTarget("a", "p")), ("delete", STORE, RemoteTarget("b"))]
    assert await writer.exists(RemoteTarget("there"))
