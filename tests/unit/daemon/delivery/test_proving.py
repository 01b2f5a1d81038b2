"""What has to agree with a set, and what proves that it is in use: also the certificate that is served."""

import asyncio
import ssl
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from syncret.config.resources.delivery.steps import DeliveryCheck, DeliveryHealth
from syncret.daemon.core.delivery.phases import Outcome
from syncret.daemon.delivery import proving
from syncret.daemon.delivery.paths import Refused
from syncret.daemon.delivery.proving import Prover, check
from syncret.daemon.delivery.units import Action, ActionResult, UnitState
from tests.support.tls import Authority, Pair
from tests.unit.daemon.delivery.world import FakeUnits

AUTHORITY = Authority()
OLD, NEW = AUTHORITY.pair(), AUTHORITY.pair()
POSTGRES_REQUEST = bytes.fromhex("0000000804d2162f")


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proving, "EVERY", 0.0)


def no_time(text: str) -> float:
    """The first probe decides."""
    del text
    return 0.0


def context(pair: Pair, folder: Path) -> ssl.SSLContext:
    certificate, key = folder / "server.pem", folder / "server.key"
    certificate.write_bytes(pair.certificate)
    key.write_bytes(pair.key)
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(certificate, key)
    return made


@asynccontextmanager
async def serving(pair: Pair, folder: Path, *, postgres: bool = False) -> AsyncGenerator[str, None]:
    """A TLS server; its address."""
    tls = context(pair, folder)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if postgres:
            assert await reader.readexactly(8) == POSTGRES_REQUEST
            writer.write(b"S")
            await writer.drain()
            await writer.start_tls(tls)
        await reader.read()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=None if postgres else tls)
    async with server:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def prove(
    units: FakeUnits | None = None,
    reload: tuple[Action, UnitState | None] = ("reload", None),
    **step: Any,  # noqa: ANN401  # any field
) -> ActionResult:
    health = msgspec.convert({"within": "1s", "stableFor": "0s", **step}, DeliveryHealth)
    files = {"server.pem": NEW.certificate, "other": b"no certificate"}
    return await Prover(health, units or FakeUnits(), files=files, variables={}, reload=reload).prove()


@pytest.mark.parametrize("postgres", [False, True], ids=["tls", "postgres"])
async def test_the_new_certificate_is_served(tmp_path: Path, *, postgres: bool) -> None:
    how = {"startTLS": "postgres"} if postgres else {}
    async with serving(NEW, tmp_path, postgres=postgres) as address:
        result = await prove(tls={"address": address, "certificate": "server.pem", **how})
    assert result.outcome is Outcome.DONE


@pytest.mark.parametrize(
    ("file", "problem"),
    [
        pytest.param("server.pem", "serves another certificate than the new one", id="old"),
        pytest.param("other", "the file holds no certificate", id="no certificate"),
    ],
)
async def test_a_server_that_has_not_read_it_is_found_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, problem: str
) -> None:
    monkeypatch.setattr(proving, "parse_duration", no_time)  # the first probe decides
    async with serving(OLD, tmp_path) as address:
        result = await prove(tls={"address": address, "certificate": file})
    assert result.outcome is Outcome.FAILED
    assert result.message.endswith(problem)


async def test_a_unit_must_run_as_before() -> None:
    units = FakeUnits()
    before = units.state
    assert (await prove(units, ("reload", before), unit="a.service")).outcome is Outcome.DONE
    units.state = replace(before, invocation="2")
    assert (await prove(units, ("restart", before), unit="a.service")).outcome is Outcome.DONE


@pytest.mark.parametrize(
    ("action", "changes"),
    [
        pytest.param("reload", {"invocation": "2"}, id="restarted by a reload"),
        pytest.param("restart", {}, id="not restarted"),
        pytest.param("reload", {"restarts": 1}, id="restarted by itself"),
        pytest.param("reload", {"active": "failed", "sub": "failed"}, id="failed"),
        pytest.param("reload", {"reload_result": "exit-code"}, id="reload failed"),
    ],
)
async def test_a_unit_that_does_not_is_unhealthy(
    monkeypatch: pytest.MonkeyPatch, action: Action, changes: dict[str, Any]
) -> None:
    monkeypatch.setattr(proving, "parse_duration", no_time)
    units = FakeUnits()
    before = units.state
    units.state = replace(before, **changes)
    result = await prove(units, (action, before), unit="a.service")
    assert (result.outcome, result.message[:10]) == (Outcome.FAILED, "a.service ")


async def test_it_must_hold_for_as_long_as_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    states = iter(["failed", "active", "failed"] + ["active"] * 100_000)
    units = FakeUnits()
    asked = 0

    async def show(unit: str) -> UnitState:
        nonlocal asked
        asked += 1
        return replace(units.state, active=next(states))

    monkeypatch.setattr(units, "show", show)
    result = await prove(units, ("reload", units.state), unit="a.service", stableFor="10ms", within="1m")
    assert result.outcome is Outcome.DONE
    assert asked > 4


async def test_a_check_by_a_unit_agrees_or_not() -> None:
    units = FakeUnits()
    step = msgspec.convert({"unit": "check.service"}, DeliveryCheck)
    assert (await check(step, units, views=[], variables={}, values=())).outcome is Outcome.DONE
    units.check = Outcome.FAILED
    assert (await check(step, units, views=[], variables={}, values=())).outcome is Outcome.FAILED


@pytest.mark.slow
async def test_a_program_as_check_gets_the_staged_set(tmp_path: Path) -> None:
    staged = tmp_path / "staged"
    staged.mkdir()
    step = msgspec.convert({"exec": ["/usr/bin/test", "-d", "{staged:1}"]}, DeliveryCheck)
    assert (
        await check(step, FakeUnits(), views=[(str(staged), "/srv/live")], variables={}, values=())
    ).outcome is Outcome.DONE
    staged.rmdir()
    assert (
        await check(step, FakeUnits(), views=[(str(staged), "/srv/live")], variables={}, values=())
    ).outcome is Outcome.FAILED


async def test_a_check_that_others_can_write_is_refused(tmp_path: Path) -> None:
    script = tmp_path / "check"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o757)
    step = msgspec.convert({"exec": [str(script)]}, DeliveryCheck)
    with pytest.raises(Refused, match="is writable by everybody"):
        await check(step, FakeUnits(), views=[("/srv/staged", "/srv/live")], variables={}, values=())
