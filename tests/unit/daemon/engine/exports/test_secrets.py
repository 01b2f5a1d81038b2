"""Secrets of resources: while a vendor's API is waited for, the worker is free, and only there."""

import asyncio
from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import cast

import pytest

from syncret.config.meta import Document, GroupKind, ObjectRef
from syncret.daemon.core.exports.owner import Owner
from syncret.daemon.engine.exports.secrets import SecretSource
from syncret.daemon.engine.queue.fair_queue import lanes_of
from syncret.daemon.engine.queue.waiting import CurrentRun, current_run
from syncret.daemon.homes.contract import ObjectReader, StoredObject
from syncret.providers.errors import Denied, SyncError, Throttled, Unavailable
from syncret.providers.secret_apis import (
    CallIdentity,
    CredentialName,
    SecretApisContext,
    SecretCall,
    SecretCalls,
)
from syncret.providers.testing.opened import NETWORK, NOW, compute_at_once, log_in, no_identity
from syncret.providers.values import SecretBytes, SecretMap

REF = ObjectRef("storage.example.com", "StorageAccount", "shop", "acct")
LANE = "resources in shop"


class Queue:
    """Notes what a run tells of its waits."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def suspend(self, ref: ObjectRef, store: str) -> None:
        assert ref == REF
        self.told.append(f"waits for {store}")

    async def resume(self, ref: ObjectRef, store: str, *, ends: bool = False) -> None:
        assert (ref, ends) == (REF, False)
        self.told.append(f"goes on after {store}")

    def answered(self, store: str) -> None:
        self.told.append(f"answered: {store}")


class Apis:
    """One API, which answers when the test lets it."""

    def __init__(self, error: SyncError | None = None) -> None:
        self.error = error
        self.asked = asyncio.Event()
        self.go_on = asyncio.Event()

    def plan(self, kind: GroupKind, resource: Document, names: Collection[str] | None) -> SecretCalls:
        del kind, resource, names
        return SecretCalls({}, [SecretCall("listKeys", frozenset({"key1"}), ())])

    def credentials(self, resource: Document) -> Sequence[CredentialName]:
        del resource
        return ()

    @asynccontextmanager
    async def open(self, context: SecretApisContext) -> AsyncGenerator["Apis"]:
        del context
        yield self

    async def read(self, call: SecretCall, identity: CallIdentity) -> SecretMap:
        del call, identity
        self.asked.set()
        await self.go_on.wait()
        if self.error is not None:
            raise self.error
        return {"key1": SecretBytes(b"value")}


class NoObjects:
    """A home without any object."""

    async def get(self, ref: ObjectRef) -> StoredObject | None:
        del ref
        return None


def source(apis: Apis) -> SecretSource:
    context = SecretApisContext(
        now=lambda: NOW,
        compute=compute_at_once,
        network=NETWORK,
        ambient=lambda _: partial(no_identity),
        new_login=lambda: log_in,
        timeout=1.0,
    )
    return SecretSource(cast("ObjectReader", NoObjects()), lambda _: apis, context)


@pytest.mark.parametrize(
    ("error", "answered"),
    [
        pytest.param(None, True, id="a-value"),
        pytest.param(Denied("no"), True, id="denied"),
        pytest.param(Throttled("later"), True, id="throttled"),
        pytest.param(Unavailable("nobody"), False, id="no-answer"),
    ],
)
async def test_a_run_that_waits_for_an_api_has_no_worker(error: SyncError | None, *, answered: bool) -> None:
    apis, queue = Apis(error), Queue()
    secrets = source(apis)

    async def run() -> None:
        current_run.set(CurrentRun(queue, REF, 0.0))
        await secrets.read(Owner(REF, "storage.example.com/v1", "u"), {}, ["key1"])

    task = asyncio.create_task(run())
    await apis.asked.wait()
    await asyncio.sleep(0)
    assert queue.told == [f"waits for {LANE}"]
    apis.go_on.set()
    (came,) = await asyncio.gather(task, return_exceptions=True)
    assert came is error
    told = [f"answered: {LANE}"] if answered else []
    assert queue.told[1:] == [*told, f"goes on after {LANE}"]
    await secrets.close()


def test_the_resources_of_a_namespace_have_their_own_turns() -> None:
    assert lanes_of(REF, [ObjectRef("", "Secret", "shop", "aso-credential")]) == (LANE,)
