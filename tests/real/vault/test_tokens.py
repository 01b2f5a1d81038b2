"""The token of a store: one login for everybody, renewed, replaced when it is gone, revoked at the end."""

import asyncio
import time
from base64 import b64encode
from collections.abc import AsyncIterator

import pytest
from aiohttp import web

from syncret.config.fields import SecretKeySelector
from syncret.config.settings import Settings
from syncret.daemon.engine.clock import Clock
from syncret.daemon.engine.sessions.pool import SessionPool
from syncret.daemon.homes.contract import WatchEventType
from syncret.daemon.homes.memory.cluster import MemoryCluster
from syncret.daemon.homes.memory.watch import event_of
from syncret.providers.errors import Denied
from syncret.providers.registry import Registry
from syncret.providers.values import RemoteKey, RemoteRef, SecretBytes
from syncret.providers.vault.auth_spec import VaultAuth
from syncret.providers.vault.spec import VaultSpec
from tests.real.vault.support import Mount, opened, read
from tests.support.opened import NOW, Given, context
from tests.support.servers.gate import Gate, gate
from tests.support.servers.vault.running import vault

pytestmark = pytest.mark.slow


@pytest.fixture
def mount() -> Mount:
    return Mount(vault())


@pytest.fixture
async def between() -> AsyncIterator[Gate]:
    async with gate(vault().url) as made:
        yield made


def calls(between: Gate, what: str) -> int:
    return sum(each.path.endswith(what) for each in between.passed)


class HandClock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> float:
        return self.now


async def test_many_callers_share_one_login(mount: Mount, between: Gate) -> None:
    auth, given = mount.app_role()
    async with opened(mount.spec(auth, url=between.url), context(given)) as client:
        await asyncio.gather(*(client.fetch([RemoteKey("db")]) for _ in range(50)))

    assert (calls(between, "/login"), calls(between, "/data/db")) == (1, 50)


async def test_a_token_is_renewed_before_it_ends(mount: Mount, between: Gate) -> None:
    auth, given = mount.app_role()
    clock = HandClock()
    async with opened(mount.spec(auth, url=between.url), context(given, now=clock)) as client:
        for _ in range(3):
            clock.now += 19.5 * 60
            assert await read(client, "db", "user") == b"ada"

    assert (calls(between, "/login"), calls(between, "/renew-self")) == (1, 3)


async def test_near_the_end_of_all_renewals_there_is_another_login(mount: Mount, between: Gate) -> None:
    auth, given = mount.app_role(token_ttl="20m", token_max_ttl="20m")
    clock = HandClock()
    async with opened(mount.spec(auth, url=between.url), context(given, now=clock)) as client:
        clock.now += 19.5 * 60
        await read(client, "db")
        clock.now += 60 * 60
        await read(client, "db")

    assert calls(between, "/login") == 2


async def test_a_token_that_was_revoked_is_replaced(mount: Mount, between: Gate) -> None:
    auth, given = mount.app_role()
    async with opened(mount.spec(auth, url=between.url), context(given)) as client:
        await read(client, "db")
        assert auth.app_role is not None
        vault().write(f"sys/leases/revoke-prefix/auth/{auth.app_role.path}/login")
        answers = await asyncio.gather(*(read(client, "db", "user") for _ in range(20)))

    assert set(answers) == {b"ada"}
    assert (calls(between, "/login"), calls(between, "/lookup-self")) == (2, 1)


async def test_closing_revokes_the_token(mount: Mount) -> None:
    auth, given = mount.app_role()
    before = accessors()
    async with opened(mount.spec(auth), context(given)) as client:
        await read(client, "db")
        [ours] = accessors() - before

    assert ours not in accessors()


async def test_a_token_that_owns_a_lease_outlives_the_client() -> None:
    engine = vault().mount("leased-kv")
    vault().write(f"{engine}/db", user="ada", ttl="60s")
    mount = Mount(vault())
    mount.path, mount.policy = engine, vault().policy(**{f"{engine}/*": "read"})
    auth, given = mount.app_role()
    before = accessors()
    spec = VaultSpec(server=vault().url, path=engine, version="v1", auth=auth)
    async with opened(spec, context(given)) as client:
        assert await read(client, "db", "user") == b"ada"
        [ours] = accessors() - before

    assert ours in accessors(), "what was delivered would have died with it"


async def test_somebody_elses_token_is_left_alone(mount: Mount) -> None:
    token = vault().token(mount.policy)
    given = Given(secrets={"t": {"token": f"{token}\n".encode()}})
    auth = VaultAuth(token_secret_ref=SecretKeySelector(name="t", key="token"))
    async with opened(mount.spec(auth), context(given)) as client:
        assert await read(client, "db", "user") == b"ada"

    assert vault().request("GET", "auth/token/lookup-self", token=token)[0] == 200


async def test_a_token_that_ended_is_told_from_a_policy_that_forbids(mount: Mount) -> None:
    token = vault().token(mount.policy)
    given = Given(secrets={"t": {"token": token.encode()}})
    auth = VaultAuth(token_secret_ref=SecretKeySelector(name="t", key="token"))
    spec = mount.spec(auth)
    elsewhere = type(spec)(server=spec.server, path="secret", auth=auth)
    async with opened(spec, context(given)) as client, opened(elsewhere, context(given)) as other:
        with pytest.raises(Denied, match="permission denied") as forbidden:
            await read(other, "db")
        vault().write("auth/token/revoke", token=token)
        with pytest.raises(Denied, match="not valid") as ended:
            await read(client, "db")

    assert "policy" in forbidden.value.hint
    assert "new token" in ended.value.hint
    assert token not in f"{forbidden.value!r} {ended.value!r} {vars(ended.value)}"


async def test_a_policy_that_forbids_costs_no_logins(mount: Mount, between: Gate) -> None:
    auth, given = mount.app_role()
    auth_blind, given_blind = mount.app_role(token_no_default_policy=True)
    clock = HandClock()
    for each, secrets in ((auth, given), (auth_blind, given_blind)):
        spec = mount.spec(each, url=between.url)
        elsewhere = type(spec)(server=spec.server, path="secret", auth=each)
        async with opened(elsewhere, context(secrets, now=clock)) as client:
            for _ in range(5):
                clock.now += 30
                with pytest.raises(Denied, match="permission denied"):
                    await read(client, "db")

    assert calls(between, "/login") <= 1 + 2, "one that cannot look itself up tries another token once"


async def test_batch_tokens_are_neither_renewed_nor_revoked(mount: Mount, between: Gate) -> None:
    auth, given = mount.app_role(token_type="batch")
    clock = HandClock()
    async with opened(mount.spec(auth, url=between.url), context(given, now=clock)) as client:
        await read(client, "db")
        clock.now += 19.5 * 60
        await read(client, "db")

    assert (calls(between, "/login"), calls(between, "-self")) == (2, 0)


def accessors() -> set[str]:
    """Of all tokens that there are."""
    _, answer = vault().request("LIST", "auth/token/accessors")
    return set(answer["data"]["keys"])


async def test_leases_of_what_was_read_are_renewed_while_the_store_is_in_use(between: Gate) -> None:
    engine = vault().mount("leased-kv")
    vault().write(f"{engine}/db", user="ada", ttl="1s")
    mount = Mount(vault())
    mount.policy = vault().policy(**{f"{engine}/*": "read"})
    auth, given = mount.app_role()
    spec = VaultSpec(server=between.url, version="v1", auth=auth)
    renewed = asyncio.Event()

    def watch(request: web.Request) -> None:
        if request.path.endswith("/sys/leases/renew"):
            renewed.set()

    async with opened(spec, context(given)) as client:
        with between.failing(watch):
            await read(client, f"{engine}/db")
            await asyncio.wait_for(renewed.wait(), 60)


async def test_a_new_token_in_the_secret_is_taken_up_by_the_session(mount: Mount) -> None:
    first, second = vault().token(mount.policy), vault().token(mount.policy)
    cluster = MemoryCluster(now=time.time)
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "t", "namespace": "default"},
        "stringData": {"token": first},
    }
    ref = (await cluster.create(secret)).ref
    auth = {"tokenSecretRef": {"name": "t", "key": "token"}}
    stored = await cluster.create(
        {
            "apiVersion": "external-secrets.io/v1",
            "kind": "SecretStore",
            "metadata": {"name": "s", "namespace": "default"},
            "spec": {"provider": {"vault": {"server": vault().url, "path": mount.path, "auth": auth}}},
        }
    )
    wanted = RemoteRef("db", "user")
    async with SessionPool(Registry(), cluster, Settings(), clock=Clock(time.time())) as sessions:
        before = await sessions.session(stored, "default").read([wanted])
        vault().write("auth/token/revoke", token=first)
        found = await cluster.get(ref)
        assert found is not None
        document = found.document
        document["data"]["token"] = b64encode(second.encode()).decode()
        changed = await cluster.update(document)
        sessions.notice(event_of(WatchEventType.MODIFIED, changed))
        after = await sessions.session(stored, "default").read([wanted])

    assert before == after == {wanted: SecretBytes(b"ada")}
