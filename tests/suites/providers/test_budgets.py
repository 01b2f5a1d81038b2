"""What providers compute with answers and values is paid by the sync that asks, whatever the provider."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import pytest
from aiohttp import web

import syncret.providers
from syncret.config.fields import Json
from syncret.daemon.engine.clock import Clock
from syncret.daemon.engine.sessions.pool import SessionPool
from syncret.daemon.engine.sessions.session import Session
from syncret.daemon.homes.contract import StoredObject
from syncret.daemon.homes.memory.cluster import MemoryCluster
from syncret.providers.errors import OverBudget
from syncret.providers.pushes import PushItem, RemoteTarget
from syncret.providers.registry import Registry
from syncret.providers.values import RemoteRef, SecretBytes
from tests.support.served import served
from tests.unit.daemon.engine.support import START, manifest, settings, stored

MEMORY: Final = 100_000
LARGE: Final = {f"k{number}": "v" for number in range(2000)}

UNPAID: Final = {
    "aws/parameter_store.py": "at most 50 tags, whose length AWS limits",
    "aws/secrets_manager.py": "the same",
    "kit/ambient/google.py": "a key of the daemon itself, which no manifest names",
    "kit/auth/jwt.py": "claims that the provider makes",
    "kit/google/external.py": "a login, for all that use the store",
    "kit/golang/gjson/faults.py": "only to say what is wrong with a path that did not parse",
    "vault/auth/aws.py": "headers that the provider makes",
    "vault/auth/gcp.py": "claims that the provider makes",
}
"""Where a provider has a budget of its own for what it computes, and why."""


def test_no_provider_computes_without_the_budget_of_who_asks() -> None:
    folder = Path(syncret.providers.__file__).parent
    own = {
        str(path.relative_to(folder))
        for path in folder.rglob("*.py")
        if "testing" not in path.parts and "Work()" in path.read_text()
    }
    assert own == set(UNPAID)


@pytest.fixture
async def sessions() -> AsyncIterator[SessionPool]:
    home = MemoryCluster(now=lambda: START)
    limits = settings(work_memory=MEMORY)
    async with SessionPool(Registry(), home, limits, clock=Clock()) as sessions:
        yield sessions


@pytest.fixture
async def vault() -> AsyncIterator[str]:
    """The URL of a server that has a large and a small entry."""

    async def answer(request: web.Request) -> web.Response:
        data = LARGE if request.path.endswith("large") else {"k": "v"}
        return web.json_response({"data": {"data": data, "metadata": {"version": 1}}})

    app = web.Application()
    app.router.add_get("/{path:.*}", answer)
    async with served(app) as url:
        yield url


def store(provider: str, spec: Json) -> StoredObject:
    return stored(manifest("SecretStore", "s", spec={"provider": {provider: spec}}))


async def test_a_large_answer_is_paid_for_before_it_is_read(vault: str, sessions: SessionPool) -> None:
    session = sessions.session(store("vault", {"server": vault, "path": "kv", "version": "v2"}), "default")
    small, large = RemoteRef("small"), RemoteRef("large")
    assert (await session.read([small]))[small] == SecretBytes(b'{"k":"v"}')
    answer = (await session.read([large]))[large]
    assert isinstance(answer, OverBudget)
    assert "workMemory" in answer.message


async def pushed(session: Session, value: bytes, name: str = "") -> None:
    await session.push(PushItem(remote_key="key", property=name, value=SecretBytes(value)))


async def test_a_property_is_paid_for_by_the_sync_that_pushes_it(sessions: SessionPool) -> None:
    fake = store("fake", {"data": []})
    await pushed(sessions.session(fake, "default"), b"{}")
    await pushed(sessions.session(fake, "default"), b"v", "one")
    await pushed(sessions.session(fake, "default"), json.dumps(LARGE).encode())
    with pytest.raises(OverBudget, match="workMemory"):
        await pushed(sessions.session(fake, "default"), b"v", "two")
    with pytest.raises(OverBudget, match="workMemory"):
        await sessions.session(fake, "default").exists(RemoteTarget("key", "k1"))
    with pytest.raises(OverBudget, match="workMemory"):
        await sessions.session(fake, "default").delete(RemoteTarget("key", "k1"))
    assert await sessions.session(fake, "default").exists(RemoteTarget("key"))
