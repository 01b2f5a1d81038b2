"""The word to systemd, heard on a real datagram socket."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from syncret.daemon.ops.notify import Notifier
from tests.support.systemd import messages, notify_socket


@pytest.fixture
def heard(tmp_path: Path) -> Iterator[socket.socket]:
    with notify_socket(tmp_path / "notify") as listener:
        yield listener


def test_each_word(heard: socket.socket) -> None:
    notifier = Notifier.from_environ({"NOTIFY_SOCKET": heard.getsockname()})
    notifier.status("first pass: 3 of 20")
    notifier.ready("20 objects\nin step")
    notifier.alive()
    notifier.stopping()
    assert messages(heard) == [
        "STATUS=first pass: 3 of 20",
        "READY=1\nSTATUS=20 objects in step",
        "WATCHDOG=1",
        "STOPPING=1",
    ]


def test_reloading_carries_the_monotonic_time(heard: socket.socket) -> None:
    Notifier(heard.getsockname()).reloading()
    (message,) = messages(heard)
    first, _, second = message.partition("\n")
    assert first == "RELOADING=1"
    assert int(second.removeprefix("MONOTONIC_USEC=")) > 0


def test_abstract_sockets() -> None:
    name = f"@syncret-test-{os.getpid()}"
    with notify_socket("\0" + name[1:]) as listener:
        Notifier(name).alive()
        assert messages(listener) == ["WATCHDOG=1"]


@pytest.mark.parametrize("address", ["", "/nowhere/notify"])
def test_without_systemd_nothing_happens(address: str) -> None:
    Notifier(address).ready("ready")


def test_a_full_queue_holds_nobody_up(heard: socket.socket) -> None:
    notifier = Notifier(heard.getsockname())
    for _ in range(2000):
        notifier.alive()
    assert messages(heard)


def test_readiness_that_found_the_queue_full_is_told_with_the_next_status(heard: socket.socket) -> None:
    """Without it systemd would wait until its time limit, and then end the service."""
    notifier = Notifier(heard.getsockname())
    for _ in range(2000):
        notifier.alive()
    notifier.ready("20 objects")
    assert not any(message.startswith("READY=1") for message in messages(heard))
    notifier.status("19 objects")
    notifier.status("18 objects")
    assert messages(heard) == ["READY=1\nSTATUS=19 objects", "STATUS=18 objects"]


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        pytest.param({}, 0.0, id="none"),
        pytest.param({"WATCHDOG_USEC": "30000000"}, 30.0, id="for-whoever-reads-it"),
        pytest.param({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": str(os.getpid())}, 30.0, id="for-us"),
        pytest.param({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "1"}, 0.0, id="for-another-process"),
        pytest.param({"WATCHDOG_USEC": "soon"}, 0.0, id="nonsense"),
    ],
)
def test_watchdog(environ: dict[str, str], expected: float) -> None:
    assert Notifier.from_environ(environ).watchdog == expected


def test_a_descriptor_is_kept_and_closed_by_its_name(heard: socket.socket, tmp_path: Path) -> None:
    notifier = Notifier.from_environ({"NOTIFY_SOCKET": heard.getsockname()})
    path = tmp_path / "kept"
    path.write_text("still open")
    with path.open("rb") as file:
        notifier.keep("asked-1", file.fileno())
    message, fds, _, _ = socket.recv_fds(heard, 1024, 1)
    assert message == b"FDSTORE=1\nFDNAME=asked-1"
    with os.fdopen(fds[0], "rb") as again:
        assert again.read() == b"still open"
    notifier.forget("asked-1")
    assert messages(heard) == ["FDSTOREREMOVE=1\nFDNAME=asked-1"]
