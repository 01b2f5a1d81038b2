"""Deliveries that units ask for: what they are given from which set, and what their status says of it."""

import asyncio
import os
import socket
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from syncret.daemon.core.delivery.credentials import REFUSAL
from syncret.daemon.core.delivery.phases import Outcome
from syncret.daemon.core.explain.explain import ExplainInput, explain
from syncret.daemon.delivery.credentials import server as module
from syncret.daemon.delivery.credentials.offers import Offers
from syncret.daemon.delivery.credentials.server import CredentialServer
from tests.unit.daemon.delivery.credentials.asking import ask
from tests.unit.daemon.delivery.world import NAME, World, delivery, secret

RESTART: dict[str, Any] = {"reload": {"unit": "app.service", "action": "restart"}}


def offered(**spec: Any) -> dict[str, Any]:  # noqa: ANN401  # any field
    to = {"socket": {"units": ["app.service"], "names": {"password": "db-password"}}}
    return delivery("web", **{"to": [to], **spec})


class Host(World):
    """With a socket on which units ask."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.path = folder / "s"
        self.outputs = folder / "outputs"
        self.outputs.mkdir(mode=0o700)
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(str(self.path))
        self.listener.listen()

    @asynccontextmanager
    async def asked(self) -> AsyncGenerator[None, None]:
        """One life of a daemon that answers on the socket."""
        self.offers = Offers()
        server = CredentialServer(self.listener, self.offers, wait=0.1)
        async with self.running(), asyncio.TaskGroup() as group:
            group.create_task(server.serve())
            self.offers.complete()
            try:
                yield
            finally:
                server.stop()

    async def ask(self, unit: str = "app.service") -> bytes:
        """What a unit gets."""
        return await ask(self.path, unit, "db-password")

    async def consumers(self) -> list[tuple[str, int]]:
        """Who was answered from which set, as the status says."""
        await self.settle()
        return [(each["unit"], each["generation"]) for each in self.status().get("consumers", [])]


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Host, None, None]:
    monkeypatch.setattr(module, "ROOT", os.geteuid())
    found = Host(tmp_path)
    yield found
    found.listener.close()


async def test_a_unit_is_given_what_is_live_and_the_status_says_which_set_it_has(host: Host) -> None:
    host.write(secret(password="1"), offered(**RESTART))
    async with host.asked():
        assert await host.ask() == b"1"
        assert await host.consumers() == [("app.service", 1)]
        (target,) = host.status()["targets"]
        assert (target["path"], target["type"], target["live"]) == ("app.service", "socket", True)
        await host.apply(secret(password="2"))
        assert host.status()["live"]["generation"] == 2
        assert await host.consumers() == [("app.service", 1)]
    assert host.units.asked == [("app.service", "restart")] * 2


async def test_a_unit_that_is_restarted_for_a_new_set_is_given_that_set(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("syncret.daemon.delivery.credentials.live_sets.HELD_FOR", 0.0)
    host.write(secret(password="1"), offered(**RESTART))
    async with host.asked():
        started: list[asyncio.Task[bytes]] = []
        host.units.when_asked = lambda: started.append(asyncio.ensure_future(host.ask()))
        await host.apply(secret(password="2"))
        assert await started[0] == b"2"
        assert await host.consumers() == [("app.service", 2)]


async def test_after_a_roll_back_units_are_given_the_old_set(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("syncret.daemon.delivery.credentials.live_sets.HELD_FOR", 0.0)
    host.write(secret(password="1"), offered(**RESTART))
    async with host.asked():
        outcomes = iter([Outcome.FAILED, Outcome.DONE])
        host.units.outcome = lambda: next(outcomes)
        await host.apply(secret(password="2"))
        assert host.ready() == ("False", "RolledBack")
        assert await host.ask() == b"1"
        assert await host.consumers() == [("app.service", 1)]


async def test_a_restart_of_the_daemon_gives_what_was_live(host: Host) -> None:
    """Also if the source has changed meanwhile, and the new set does not pass its check."""
    host.keep_state = True
    host.write(secret(password="1"), offered(check={"unit": "check.service"}))
    async with host.asked():
        assert await host.ask() == b"1"
        await host.settle()
    host.units.check = Outcome.FAILED
    host.write(secret(password="2"))
    async with host.asked():
        assert host.ready() == ("False", "CheckFailed")
        assert await host.ask() == b"1"
        assert await host.consumers() == [("app.service", 1)]


async def test_who_may_not_have_it_is_refused_and_the_delivery_says_so(host: Host) -> None:
    host.write(secret(password="1"), offered())
    async with host.asked():
        assert await host.ask("other.service") == REFUSAL
    assert ("web", "CredentialRefused") in host.events


async def test_a_manifest_that_others_can_write_gives_nothing(host: Host) -> None:
    host.write(secret(password="1"), offered())
    (host.manifests / "Delivery-web.json").chmod(0o666)
    async with host.asked():
        assert host.ready() == ("False", "Refused")
        assert host.message().startswith("spec.to[0].socket: not run:")
        assert await host.ask() == REFUSAL


async def test_without_a_socket_the_remedy_is_told(host: Host) -> None:
    host.write(secret(password="1"), offered())
    async with host.running():
        assert host.message() == (
            "spec.to[0].socket: there is no socket to ask on "
            "(enable syncret-credentials.socket, or set credentialSocket)"
        )


async def test_an_empty_value_keeps_the_set_before(host: Host) -> None:
    host.write(secret(password="1"), offered())
    async with host.asked():
        await host.apply(secret(password=""))
        assert host.ready() == ("False", "Refused")
        assert await host.ask() == b"1"


async def test_what_a_delivery_offered_goes_with_it(host: Host) -> None:
    host.write(secret(password="1"), offered())
    async with host.asked():
        assert await host.ask() == b"1"
        (host.manifests / "Delivery-web.json").unlink()
        await host.home.look()
        await host.settle()
        assert await host.ask() == REFUSAL
        assert not list(host.outputs.rglob("db-password"))


async def test_values_are_for_the_daemon_alone(host: Host) -> None:
    host.write(secret(password="1"), offered())
    async with host.asked():
        (file,) = host.outputs.rglob("db-password")
        assert file.stat().st_mode & 0o777 == 0o400
        assert file.parent.stat().st_mode & 0o777 == 0o700


async def test_what_a_unit_has_is_explained_beside_what_is_live(host: Host) -> None:
    host.write(secret(password="1"), offered())
    async with host.asked():
        await host.ask()
        await host.apply(secret(password="2"))
        stored = host.engine.inventory.get(NAME)
        assert stored is not None
        notes = explain(stored.document, ExplainInput(host.engine.context.clock.now())).notes
        (told,) = [each for each in notes if "db-password" in each]
        assert told.startswith("app.service has db-password of set 1 since ")
        assert told.endswith("; live is 2")


async def test_one_credential_of_a_unit_comes_from_one_delivery(host: Host) -> None:
    other = offered()
    other["metadata"] = {"name": "zoo"}
    host.write(secret(password="1"), offered(), other)
    async with host.asked():
        (refused,) = [ref for ref in (NAME, NAME._replace(name="zoo")) if host.ready(ref)[1] == "Refused"]
        assert "app.service/db-password: also delivered by Delivery/" in host.message(refused)
        assert await host.ask() == b"1"
