"""Stores that use the daemon's own identity, as the pool hands it out."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from syncret.config.catalog import SpecType
from syncret.config.meta import ObjectRef
from syncret.config.settings import OwnIdentity, Settings
from syncret.daemon.engine.clock import Clock
from syncret.daemon.engine.observer import NullObserver
from syncret.daemon.engine.sessions.pool import SessionPool
from syncret.daemon.homes.memory.cluster import MemoryCluster
from syncret.providers.contract import OpenContext, Provider, Receiver
from syncret.providers.errors import Denied
from syncret.providers.kit.ambient.rules import Verdict
from tests.unit.daemon.engine.sessions.support import read_one
from tests.unit.daemon.engine.support import Manager, ManagerClient, ManagerSpec, OneProvider, ref, store

RECEIVER = Receiver("manager", "https://manager.example", "a token")


class Listener(NullObserver):
    def __init__(self) -> None:
        self.sent: list[tuple[ObjectRef, Verdict]] = []

    def sends_own_identity(self, store: ObjectRef, verdict: Verdict) -> None:
        self.sent.append((store, verdict))


@pytest.fixture
def provider(manager: Manager) -> Provider[ManagerSpec]:
    """Each client is opened with the daemon's own identity."""

    @asynccontextmanager
    async def opening(_spec: ManagerSpec, context: OpenContext) -> AsyncGenerator[ManagerClient, None]:
        assert context.ambient([RECEIVER]).environment
        yield ManagerClient(manager, context)

    return Provider(SpecType("manager", ManagerSpec), opening, receivers=lambda _spec: [RECEIVER])


def pool(
    provider: Provider[ManagerSpec], home: MemoryCluster, clock: Clock, own: OwnIdentity, listener: Listener
) -> SessionPool:
    return SessionPool(
        OneProvider(provider), home, Settings(own_identity=own), clock=clock, observer=listener
    )


async def test_with_one_author_it_goes_and_is_reported_once(
    provider: Provider[ManagerSpec], home: MemoryCluster, clock: Clock
) -> None:
    listener = Listener()
    async with pool(provider, home, clock, OwnIdentity(), listener) as sessions:
        for generation in (1, 2):
            assert await read_one(sessions.session(store("s", generation=generation), "default"), "a") == b"1"
    assert [(store.name, verdict.server) for store, verdict in listener.sent] == [("s", RECEIVER.url)]


async def test_strict_rules_refuse_the_store(
    provider: Provider[ManagerSpec], home: MemoryCluster, clock: Clock
) -> None:
    listener = Listener()
    async with pool(provider, home, clock, OwnIdentity(mode="strict"), listener) as sessions:
        answer = await read_one(sessions.session(store("s"), "default"), "a")
    assert isinstance(answer, Denied)
    assert answer.message == "a token must not be sent to https://manager.example"
    assert listener.sent == []


async def test_a_generator_counts_as_the_object_that_was_named(
    provider: Provider[ManagerSpec], home: MemoryCluster, clock: Clock
) -> None:
    """A ClusterGenerator makes values for a namespace, and is its operator's all the same."""
    own = OwnIdentity(mode="strict", receivers={"manager": (RECEIVER.url,)})
    generator = ref("g", kind="Manager")
    cluster_wide = ObjectRef(generator.group, "ClusterGenerator", "", "g")
    async with pool(provider, home, clock, own, Listener()) as sessions:
        assert sessions.context(generator, cluster_wide, "default").ambient([RECEIVER]).server_id == ""
        with pytest.raises(Denied, match="only cluster-scoped stores"):
            sessions.context(generator, generator, "default").ambient([RECEIVER])
