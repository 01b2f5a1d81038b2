"""Signs of another operator: who renews its Lease, who writes statuses; for how long they count."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from uuid import UUID

import pytest

from syncret.config.fields import Json
from syncret.config.meta import Document, GroupKind
from syncret.config.resources.kinds import CLUSTER_SECRET_STORE, EXTERNAL_SECRET, SECRET_STORE
from syncret.daemon.homes.contract import Conflict
from syncret.daemon.homes.kubernetes.election import Election, Held
from syncret.daemon.homes.kubernetes.other_operator.foreign import (
    AFTER_LEASE,
    LEASE,
    STATUS,
    ForeignWriters,
    SeenLease,
)
from syncret.daemon.homes.kubernetes.other_operator.statuses import ForeignStatuses

pytestmark = pytest.mark.time("virtual")

THEIRS = f"external-secrets-7c5ddf-x2k_{UUID(int=7)}"
"""As client-go makes its identities up."""
OURS = f"syncret-0_{UUID(int=9)}"


def now() -> float:
    return asyncio.get_running_loop().time()


class Server:
    """The one Lease."""

    def __init__(self) -> None:
        self.lease: Held | None = None
        self.number = 0

    async def get(self) -> Held | None:
        return self.lease

    async def put(self, lease: Held, *, acquired: bool) -> Held:
        del acquired
        if lease.version != ("" if self.lease is None else self.lease.version):
            raise Conflict("changed")
        return self.write(lease.holder, lease.seconds)

    def write(self, holder: str, seconds: float = 15) -> Held:
        self.number += 1
        self.lease = Held(str(self.number), holder, seconds)
        return self.lease


@asynccontextmanager
async def looking(server: Server) -> AsyncGenerator[tuple[ForeignWriters, Election, list[str]]]:
    """One replica that holds the Lease if it can."""
    begun: list[str] = []
    foreign = ForeignWriters(now, on_begin=begun.append)
    election = Election(SeenLease(server, "the Lease a/b", foreign, now), identity=OURS, clock=now)
    tasks = [asyncio.create_task(foreign.run()), asyncio.create_task(election.run())]
    try:
        await asyncio.sleep(0.01)
        yield foreign, election, begun
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def refused(foreign: ForeignWriters) -> bool:
    return bool(foreign.reason)


@asynccontextmanager
async def renewing(server: Server) -> AsyncGenerator[None]:
    """An operator that holds the Lease, and renews it as client-go does."""

    async def renew() -> None:
        while True:
            server.write(THEIRS)
            await asyncio.sleep(2)

    task = asyncio.create_task(renew())
    await asyncio.sleep(0)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_a_free_lease_is_ours_and_the_operator_waits() -> None:
    server = Server()
    async with looking(server) as (foreign, election, _):
        assert foreign.reason == ""
        assert election.is_active
        await asyncio.sleep(120)
        assert server.lease is not None
        assert server.lease.holder.startswith(OURS)
        assert server.number > 50, "it is renewed"


async def test_who_renews_it_is_at_work_until_a_minute_after_the_last_time() -> None:
    server = Server()
    async with renewing(server), looking(server) as (foreign, election, begun):
        assert "may be another operator" in foreign.reason, "from the first look on"
        await asyncio.sleep(10)
        assert THEIRS in foreign.signs[LEASE]
        assert "is renewed by another operator" in foreign.reason
        await asyncio.sleep(600)
        assert refused(foreign)
        assert not election.is_active
        assert len(begun) == 1
    async with looking(server) as (foreign, election, _):
        await asyncio.sleep(14)
        assert refused(foreign), "it may still count"
        await asyncio.sleep(4)
        assert not refused(foreign)
        assert election.is_active, "nobody has renewed it"


async def test_it_ends_and_that_is_told() -> None:
    server = Server()
    async with looking(server) as (foreign, _, _):
        async with renewing(server):
            await asyncio.sleep(30)
            assert refused(foreign)
        await foreign.changed()
        ended = now()
        waiter = asyncio.create_task(foreign.changed())
        await asyncio.sleep(AFTER_LEASE - 4)
        assert not waiter.done()
        await waiter
        assert AFTER_LEASE - 4 <= now() - ended <= AFTER_LEASE + 1
        assert not refused(foreign)


async def test_another_replica_of_ours_is_no_other_operator() -> None:
    server = Server()
    server.write(f"syncret-1_{UUID(int=5)}_3", 10)
    async with looking(server) as (foreign, election, _):
        assert not refused(foreign)
        await asyncio.sleep(12)
        assert election.is_active


async def test_a_lease_that_was_given_back_is_no_sign() -> None:
    server = Server()
    server.write("")
    async with looking(server) as (foreign, election, _):
        assert not refused(foreign)
        assert election.is_active


def store(name: str, namespace: str = "", controller: str = "") -> tuple[GroupKind, Document]:
    kind = SECRET_STORE if namespace else CLUSTER_SECRET_STORE
    metadata = {"name": name, "namespace": namespace} if namespace else {"name": name}
    spec: Document = {"provider": {}, **({"controller": controller} if controller else {})}
    return kind.group_kind, {"metadata": metadata, "spec": spec}


def secret(
    at: str, *, by: str = "external-secrets", part: str = "status", store: str = "s", **spec: Json
) -> tuple[GroupKind, Document]:
    entry = {"manager": by, "operation": "Update", "time": at, **({"subresource": part} if part else {})}
    return EXTERNAL_SECRET.group_kind, {
        "apiVersion": "external-secrets.io/v1",
        "kind": "ExternalSecret",
        "metadata": {"name": "x", "namespace": "a", "managedFields": [{"manager": "kubectl"}, entry]},
        "spec": {"secretStoreRef": {"name": store}, "refreshInterval": "10m", **spec},
    }


Looking = tuple[ForeignWriters, ForeignStatuses]


def statuses(handles: Callable[[str], bool] = lambda controller: controller in {"", "default"}) -> Looking:
    """After a list in which the operator had written at 10:00:05 last."""
    foreign = ForeignWriters(now)
    looks = ForeignStatuses(foreign, handles)
    for each in ("2026-01-01T10:00:05Z", "2026-01-01T10:00:01Z"):
        looks.saw(*secret(each))
    looks.listed(SECRET_STORE.group_kind)
    looks.listed(EXTERNAL_SECRET.group_kind)
    return foreign, looks


async def test_a_status_that_the_operator_writes_after_the_list_is_a_sign_for_two_intervals() -> None:
    foreign, looks = statuses()
    assert not refused(foreign)
    looks.saw(*secret("2026-01-01T10:00:06Z"))
    assert "ExternalSecret a/x" in foreign.signs[STATUS]
    await asyncio.sleep(1190)
    assert refused(foreign)
    await asyncio.sleep(11)
    assert not refused(foreign)


@pytest.mark.parametrize(
    "version",
    [
        pytest.param(secret("2026-01-01T10:00:05Z"), id="a write of before, told again"),
        pytest.param(secret("2026-01-01T10:00:03Z"), id="another object whose status was written before"),
        pytest.param(secret("2026-01-01T10:00:09Z", by="syncret"), id="ours"),
        pytest.param(secret("2026-01-01T10:00:09Z", part=""), id="a finalizer, which it puts on any object"),
        pytest.param(secret("2026-01-01T10:00:09Z", store="other"), id="a store of another class"),
    ],
)
async def test_what_is_no_sign(version: tuple[GroupKind, Document]) -> None:
    foreign, looks = statuses()
    looks.saw(*store("other", "a", controller="edge"))
    looks.saw(*version)
    assert not refused(foreign)


async def test_a_store_that_comes_to_our_class_makes_it_one() -> None:
    foreign, looks = statuses()
    looks.saw(*store("other", "a", controller="edge"))
    looks.saw(*secret("2026-01-01T10:00:09Z", store="other"))
    looks.saw(*store("other", "a"))
    looks.saw(*secret("2026-01-01T10:00:19Z", store="other"))
    assert refused(foreign)


async def test_an_object_without_an_interval_counts_for_longer() -> None:
    foreign, looks = statuses()
    looks.saw(*secret("2026-01-01T10:00:09Z", refreshInterval="0"))
    await asyncio.sleep(7100)
    assert refused(foreign)
    await asyncio.sleep(200)
    assert not refused(foreign)


async def test_a_status_of_who_holds_the_lease_ends_with_that() -> None:
    foreign, looks = statuses()
    foreign.seen(LEASE, "it is renewed", AFTER_LEASE)
    looks.saw(*secret("2026-01-01T10:00:09Z"))
    await asyncio.sleep(AFTER_LEASE + 1)
    assert not refused(foreign)
