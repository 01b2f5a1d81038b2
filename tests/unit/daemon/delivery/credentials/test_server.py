"""The socket for credentials: what a unit gets, what it is refused and how, and for what it waits."""

import asyncio
import os
import socket
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from syncret.config.meta import ObjectRef
from syncret.config.resources.kinds import DELIVERY
from syncret.daemon.core.delivery.credentials import REFUSAL, Asked
from syncret.daemon.delivery.credentials import server as module
from syncret.daemon.delivery.credentials.offers import Offer, Offers
from syncret.daemon.delivery.credentials.server import CredentialServer, Request, refuse_all
from tests.unit.daemon.delivery.credentials.asking import ask, asking

DB = DELIVERY.ref("default", "db")
LONG = 3600.0


class Host:
    """A socket, the set behind it, and what was told."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "s"
        self.set = folder / "set"
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(str(self.path))
        self.listener.listen()
        self.offers = Offers()
        self.offers.listener = self
        self.seen: list[tuple[ObjectRef, Asked, int]] = []
        self.refusals: list[str] = []
        self.kept: dict[str, socket.socket] = {}
        self.waits = asyncio.Event()
        """Set when a request has begun to wait."""
        self.server: CredentialServer

    def answered(self, ref: ObjectRef, asked: Asked, generation: int) -> None:
        self.seen.append((ref, asked, generation))

    def refused(self, ref: ObjectRef, message: str) -> None:
        assert ref == DB
        self.refusals.append(message)

    def keep(self, name: str, fd: int) -> None:
        self.kept[name] = socket.fromfd(fd, socket.AF_UNIX, socket.SOCK_STREAM)
        self.waits.set()

    def forget(self, name: str) -> None:
        found = self.kept.pop(name, None)
        if found is not None:
            found.close()

    def put(self, **values: str) -> None:
        """Make a set live, as a swap does."""
        new = self.set.with_name("new")
        new.mkdir(mode=0o700)
        for name, value in values.items():
            (new / name).write_text(value)
        if self.set.exists():
            self.set.rename(self.set.with_name(f"old-{len(list(self.set.parent.iterdir()))}"))
        new.rename(self.set)

    def offer(self, *units: str, generation: int = 1, coming: tuple[int, int] | None = None) -> None:
        offered = Offer(
            units=units or ("app.service",),
            names=frozenset({"password", "user"}),
            folder=str(self.set),
            generation=generation,
            coming=coming,
        )
        self.offers.publish(DB, [offered])

    @asynccontextmanager
    async def serving(
        self, *, wait: float = LONG, left: list[Request] | None = None
    ) -> AsyncGenerator[None, None]:
        self.server = CredentialServer(self.listener, self.offers, wait=wait, left=left or [], keeper=self)
        async with asyncio.TaskGroup() as group:
            group.create_task(self.server.serve())
            try:
                yield
            finally:
                self.server.stop()


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Host, None, None]:
    monkeypatch.setattr(module, "ROOT", os.geteuid())
    found = Host(tmp_path)
    yield found
    found.listener.close()
    for copy in found.kept.values():
        copy.close()


async def test_a_unit_gets_what_is_live_and_its_delivery_hears_of_it(host: Host) -> None:
    host.put(password="secret", user="app")
    host.offer("app.service", "worker@*.service", generation=7)
    async with host.serving():
        assert await ask(host.path, "app.service", "password") == b"secret"
        assert await ask(host.path, "worker@3.service", "user") == b"app"
    assert host.seen == [
        (DB, Asked("app.service", "password"), 7),
        (DB, Asked("worker@3.service", "user"), 7),
    ]
    assert host.offers.results == {"answered": 2}


@pytest.mark.parametrize(
    ("unit", "credential", "told"),
    [
        pytest.param("other.service", "password", True, id="a unit that is not named"),
        pytest.param("app.service", "root-password", True, id="a credential that is not named"),
        pytest.param("other.service", "other", False, id="nothing of it"),
    ],
)
async def test_what_nobody_offers_is_refused_at_once(
    host: Host, unit: str, credential: str, *, told: bool
) -> None:
    host.put(password="secret")
    host.offer()
    host.offers.complete()
    async with host.serving():
        assert await ask(host.path, unit, credential) == REFUSAL
    wanted = [f"{unit} asked for {credential}: no Delivery gives it this credential"] if told else []
    assert (host.refusals, host.seen) == (wanted, [])
    assert host.offers.results == {"refused": 1}


async def test_who_is_no_unit_is_refused(host: Host) -> None:
    host.put(password="secret")
    host.offer()
    name = f"\0{os.getpid():x}/session/app.service/password"
    async with host.serving():
        assert await ask(host.path, "", "", name=name) == REFUSAL


async def test_who_is_not_root_is_refused(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    host.put(password="secret")
    host.offer()
    monkeypatch.setattr(module, "ROOT", os.geteuid() + 1)
    async with host.serving():
        assert await ask(host.path, "app.service", "password") == REFUSAL


async def test_an_empty_value_is_never_an_answer(host: Host) -> None:
    host.put(password="")
    host.offer()
    async with host.serving(wait=0.05):
        assert await ask(host.path, "app.service", "password") == REFUSAL
    assert host.offers.results == {"timeout": 1}


async def test_a_unit_waits_for_the_first_set_and_no_longer_than_it_may(host: Host) -> None:
    host.offer(generation=0)
    async with host.serving():
        waiting = asyncio.ensure_future(ask(host.path, "app.service", "password"))
        await host.waits.wait()
        assert not waiting.done()
        host.put(password="late")
        host.offer()
        assert await waiting == b"late"
    host.set.rename(host.set.with_name("gone"))
    async with host.serving(wait=0.05):
        assert await ask(host.path, "app.service", "password") == REFUSAL
    assert host.refusals == ["app.service asked for password: nothing is live after 0.05s"]


async def test_nothing_is_accepted_before_somebody_offers_something(host: Host) -> None:
    """What is not accepted waits in the kernel: it survives even a kill of the daemon."""
    async with host.serving():
        waiting = asyncio.ensure_future(ask(host.path, "app.service", "password"))
        await asyncio.sleep(0.01)
    assert host.server.left == []
    assert not waiting.done()
    host.put(password="after a restart")
    host.offer()
    async with host.serving():
        assert await waiting == b"after a restart"


async def test_who_waits_when_a_run_ends_is_answered_by_the_next_one(host: Host) -> None:
    host.offer(generation=0)
    async with host.serving():
        waiting = asyncio.ensure_future(ask(host.path, "app.service", "password"))
        await host.waits.wait()
    left = host.server.left
    assert len(left) == 1
    host.put(password="next run")
    host.offer()
    async with host.serving(left=left):
        assert await waiting == b"next run"


async def test_what_waits_is_kept_by_systemd_until_it_is_answered(host: Host) -> None:
    """A kill of the daemon closes its own copy, and the next one has the other."""
    host.offer(generation=0)
    async with host.serving():
        waiting = asyncio.ensure_future(ask(host.path, "app.service", "password"))
        await host.waits.wait()
    ((name, copy),) = host.kept.items()
    for request in host.server.left:
        request.connection.close()
    host.put(password="next process")
    host.offer()
    restored = Request(connection=copy, deadline=asyncio.get_running_loop().time() + LONG, name=name)
    copy.settimeout(0)
    async with host.serving(left=[restored]):
        assert await waiting == b"next process"
    assert host.kept == {}


async def test_who_waits_when_the_daemon_ends_is_refused(host: Host) -> None:
    host.offer(generation=0)
    async with host.serving():
        reader, writer = await asking(host.path, "app.service", "password")
        await host.waits.wait()
    refusing = asyncio.to_thread(refuse_all, host.server.left)
    _, answer = await asyncio.gather(refusing, reader.read())
    assert answer == REFUSAL
    writer.close()
    await writer.wait_closed()


async def test_what_one_process_asks_for_comes_from_one_set(host: Host) -> None:
    """Certificate and key of one start belong together, also if they are exchanged in between."""
    host.put(user="old", password="old")
    host.offer(generation=1)
    async with host.serving():
        assert await ask(host.path, "app.service", "user") == b"old"
        host.put(user="new", password="new")
        status = host.set.stat()
        host.offer(generation=1, coming=(status.st_dev, status.st_ino))
        assert await ask(host.path, "app.service", "password") == b"old"
    assert [generation for _, _, generation in host.seen] == [1, 1]


async def test_a_set_that_is_swapped_in_is_the_next_one_before_its_delivery_has_ended(host: Host) -> None:
    host.put(password="new")
    status = host.set.stat()
    host.offer(generation=4, coming=(status.st_dev, status.st_ino))
    async with host.serving():
        assert await ask(host.path, "app.service", "password") == b"new"
    assert host.seen[0][2] == 5


async def test_a_folder_that_others_may_write_to_is_no_answer(host: Host) -> None:
    host.put(password="planted")
    host.set.parent.chmod(0o777)
    host.offer()
    async with host.serving():
        assert await ask(host.path, "app.service", "password") == REFUSAL
    assert "is writable by everybody" in host.refusals[0]


async def test_a_large_value_arrives_whole(host: Host) -> None:
    host.put(password="x" * 1_000_000)
    host.offer()
    async with host.serving():
        assert len(await ask(host.path, "app.service", "password")) == 1_000_000


async def test_one_that_reads_nothing_hinders_nobody(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WRITE_WITHIN", 0.05)
    host.put(password="x" * 1_000_000, user="app")
    host.offer()
    async with host.serving():
        _, slow = await asking(host.path, "app.service", "password")
        slow.transport.pause_reading()  # type: ignore[attr-defined]
        assert await ask(host.path, "app.service", "user") == b"app"
        slow.transport.abort()
