"""A manager that refuses the login of a store or generator: tried in the doubling delay, and told."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from syncret.config.catalog import SpecType
from syncret.config.fields import Model, SecretKeySelector
from syncret.config.meta import Document
from syncret.daemon.engine.clock import Clock
from syncret.providers.contract import Generated, Generator, OpenContext
from syncret.providers.errors import Denied
from syncret.providers.values import SecretBytes
from tests.unit.daemon.engine.life import (
    STORE,
    Life,
    manifest,
    secret,
    store,
    wanting,
)
from tests.unit.daemon.engine.support import ref

OBJECTS = 20
TOKEN: Document = {"provider": {"manager": {"token": {"name": "login", "key": "token"}}}}
GENERATOR = "Grafana"
"""A kind that an ExternalSecret may name; the generator of the test answers to it."""


class TokenSpec(Model):
    """The spec of the test's generator."""

    auth: SecretKeySelector


class Issuer:
    """A server that hands out tokens to those who are logged in."""

    def __init__(self) -> None:
        self.refuses = True
        self.logins: list[float] = []

    async def generate(self, spec: TokenSpec, context: OpenContext) -> Generated:
        await context.credentials.secret_key(spec.auth.name, spec.auth.key)
        return Generated({"token": SecretBytes(await context.log_in(self._log_in))})

    async def _log_in(self) -> bytes:
        self.logins.append(asyncio.get_running_loop().time())
        if self.refuses:
            raise Denied("the login is refused")
        return b"token"

    def generator(self) -> Generator[TokenSpec]:
        return Generator(SpecType(GENERATOR, TokenSpec), self.generate)


@pytest.fixture
async def issuer() -> Issuer:
    return Issuer()


@pytest.fixture
async def life(clock: Clock, issuer: Issuer) -> AsyncIterator[Life]:
    """Many objects of two seconds each, synced once; then all tokens end, and no login is accepted."""
    life = Life(clock, generators=[issuer.generator()])
    life.manager.wants_login = True
    async with life.running():
        await life.apply(secret("login", {"token": "t"}), store(**TOKEN))
        await life.apply(*(wanting(f"x{n}", key="k", refreshInterval="2s") for n in range(OBJECTS)))
        assert len(life.manager.logins) == 1
        life.manager.logins.clear()
        life.manager.revoke()
        life.manager.refuses_logins = True
        yield life
        assert not life.bugs


def since_first(times: list[float]) -> list[float]:
    return [round(time - times[0], 1) for time in times]


async def test_a_refused_login_is_tried_in_the_doubling_delay_and_told(life: Life) -> None:
    await life.wait(5)
    assert (await life.ready(STORE))[0] == "False"
    assert "the login is refused" in life.last_error(STORE)
    assert (await life.ready(ref("x7")))[0] == "False"
    await life.wait(35)
    # The first; once more after a second, as it may be refused in passing; then as for all that is denied.
    assert len(life.manager.logins) <= 3
    await life.wait(260)
    assert len(life.manager.logins) <= 5


async def test_a_login_that_is_refused_in_passing_leaves_the_store_ready(life: Life) -> None:
    while not life.manager.logins:
        await life.wait(0.1)
    life.manager.refuses_logins = False
    await life.wait(4)
    assert (await life.ready(STORE))[0] == "True"
    assert (await life.ready(ref("x7")))[0] == "True"
    assert since_first(life.manager.logins) == [0, 1]
    await life.wait(60)
    assert len(life.manager.logins) == 2


async def test_a_mended_credential_is_used_at_once(life: Life) -> None:
    await life.wait(50)
    tried = len(life.manager.logins)
    life.manager.refuses_logins = False
    life.manager.values["k"] = "new"
    await life.apply(secret("login", {"token": "mended"}))
    assert len(life.manager.logins) == tried + 1
    assert life.manager.tokens[-1] == b"mended"
    assert (await life.ready(STORE))[0] == "True"
    await life.wait(0.1)
    assert await life.data("x7") == {"a": "new"}


async def test_a_changed_store_is_used_at_once(life: Life) -> None:
    await life.wait(50)
    tried = len(life.manager.logins)
    life.manager.refuses_logins = False
    await life.patch(STORE, spec={"refreshInterval": 60})
    assert len(life.manager.logins) == tried + 1
    assert (await life.ready(STORE))[0] == "True"


@pytest.mark.parametrize(
    "asked", [pytest.param(STORE, id="the store"), pytest.param(ref("x7"), id="one of its objects")]
)
async def test_a_forced_sync_tries_the_login_at_once_and_once(life: Life, asked: object) -> None:
    await life.wait(50)
    tried = len(life.manager.logins)
    target = STORE if asked == STORE else ref("x7")
    await life.patch(target, metadata={"annotations": {"force-sync": "1"}})
    assert len(life.manager.logins) == tried + 1
    await life.wait(3)
    assert len(life.manager.logins) == tried + 1
    life.manager.refuses_logins = False
    await life.patch(target, metadata={"annotations": {"force-sync": "2"}})
    await life.wait(0.1)
    assert len(life.manager.logins) == tried + 2
    assert (await life.ready(ref("x7")))[0] == "True"


async def test_many_forced_syncs_are_one_or_two_logins(life: Life) -> None:
    await life.wait(50)
    tried = len(life.manager.logins)
    for number in range(OBJECTS):
        await life.cluster.patch(ref(f"x{number}"), {"metadata": {"annotations": {"force-sync": "1"}}})
    await life.wait(1)
    assert len(life.manager.logins) - tried in {1, 2}


async def test_pushes_that_do_not_ask_whether_the_store_is_ready_wait_too(life: Life) -> None:
    for number in range(OBJECTS):
        spec: Document = {
            "refreshInterval": "2s",
            "secretStoreRefs": [{"name": "s"}],
            "selector": {"secret": {"name": "login"}},
            "data": [{"match": {"secretKey": "token", "remoteRef": {"remoteKey": f"r{number}"}}}],
        }
        await life.apply(manifest("PushSecret", f"p{number}", spec))
    asked = len(life.manager.logins)
    assert asked <= OBJECTS, "what is made new asks for it"
    await life.wait(250)
    # 1 + 2 + 4 + 8 + 16 + 32 + 64 + 128 seconds
    assert len(life.manager.logins) - asked <= 8


async def test_a_generator_is_not_asked_by_everybody_either(life: Life, issuer: Issuer) -> None:
    await life.apply(
        {
            "apiVersion": "generators.external-secrets.io/v1alpha1",
            "kind": GENERATOR,
            "metadata": {"name": "g", "namespace": "default"},
            "spec": {"auth": {"name": "issuer", "key": "password"}},
        },
        secret("issuer", {"password": "wrong"}),
    )
    draws = [{"sourceRef": {"generatorRef": {"kind": GENERATOR, "name": "g"}}}]
    for number in range(OBJECTS):
        await life.apply(
            manifest("ExternalSecret", f"g{number}", {"dataFrom": draws, "refreshInterval": "2s"})
        )
    asked = len(issuer.logins)
    await life.wait(40)
    assert len(issuer.logins) - asked <= 6
    tried = len(issuer.logins)
    issuer.refuses = False
    await life.apply(secret("issuer", {"password": "right"}))
    await life.wait(2.5)
    assert len(issuer.logins) > tried
    assert await life.data("g7") == {"token": "token"}
