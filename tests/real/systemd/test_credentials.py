"""Credentials under a real systemd: the guide as written, who is refused, what waits, what is one set."""

import threading
from collections.abc import Callable, Iterator

import pytest

from tests.real.systemd.credential_host import (
    ENCRYPTED,
    FAILED,
    PAIR,
    PLAIN,
    RENAMED,
    STRANGER,
    Host,
    asking,
    pair,
    running,
    shown,
)
from tests.support.debian import ROOT, missing_tools
from tests.support.machine import Machine, until

STARTS = 20

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(bool(why := missing_tools("mmdebstrap", "systemd-nspawn", "nsenter")), reason=why),
]


@pytest.fixture(scope="module")
def machine(delivering: Machine) -> Iterator[Machine]:
    """The host of the other Deliveries, with units that ask."""
    units = {"app": shown("app.service"), "stranger": STRANGER, "pair": PAIR}
    units |= {"sealed": shown("sealed.service"), "renamed": RENAMED, "plain": PLAIN}
    with asking(delivering, units):
        yield delivering


@pytest.fixture
def host(machine: Machine) -> Iterator[Host]:
    with running(machine) as found:
        yield found


def test_the_guide_gives_a_unit_its_password_and_the_next_one(host: Host) -> None:
    host.secret("db", password="first")
    host.delivery()
    host.until_told("Delivered")
    host.start("app")
    until(lambda: host.seen() == "first", "started with its password")
    host.secret("db", password="second")
    until(lambda: host.seen() == "second", "restarted with the next one")
    host.until_told("app.service has db-password of set 2")


def test_a_unit_that_is_not_named_does_not_start(host: Host) -> None:
    host.secret("db", password="first")
    host.delivery()
    host.until_told("Delivered")
    assert host.start("stranger") == FAILED
    assert "a credential is refused" in host.machine.journal("syncret")
    assert "CredentialRefused" in host.machine.journal("syncret")


def test_nobody_but_systemd_can_ask(host: Host) -> None:
    """Not even the daemon's own user, nor root by itself."""
    asks = (
        "import socket; s = socket.socket(socket.AF_UNIX); s.connect('/run/syncret/credentials.sock'); "
        "print(len(s.recv(1)), s.recv(1) == b'\\0')"
    )
    host.secret("db", password="first")
    host.delivery()
    host.until_told("Delivered")
    assert host.machine.run("python3", "-c", asks).strip() == "1 True"
    nobody = host.machine.run(
        "setpriv", "--reuid=nobody", "--clear-groups", "python3", "-c", asks, check=False
    )
    assert nobody == ""


def test_a_unit_waits_for_a_first_value_and_then_fails(host: Host) -> None:
    host.delivery()
    host.until_told("SourceMissing")
    assert host.start("app") == FAILED
    assert "nothing is live after 3s" in host.machine.journal("syncret")
    starting = host.in_background("app")
    host.secret("db", password="just in time")
    starting.join()
    until(lambda: host.seen() == "just in time", "started with what came while it waited")


@pytest.mark.parametrize("size", [1 << 20, 600_000])
def test_more_than_systemd_takes_is_no_start_with_less(host: Host, size: int) -> None:
    """One value that is too large is not delivered; two that are so together systemd refuses itself."""
    host.secret("tls", cert="x" * size)
    host.secret("more", key="y" * size)
    host.put("pair", pair().replace("[{secret: tls}]", "[{secret: tls}, {secret: more}]"))
    host.until_told("Refused" if size == 1 << 20 else "Delivered", "pair")
    assert host.start("pair") == FAILED
    assert not host.machine.path("/run/pairs").exists()


def test_a_daemon_that_is_killed_costs_a_unit_only_time(host: Host) -> None:
    host.secret("db", password="first")
    host.delivery()
    host.until_told("Delivered")
    host.machine.kill("syncret")
    host.start("app")
    until(lambda: host.seen() == "first", "started by the next daemon's answer")


def test_a_daemon_that_is_killed_while_a_unit_waits_leaves_no_empty_credential(host: Host) -> None:
    """systemd keeps the connection, and the next daemon answers it."""
    host.delivery()
    host.until_told("SourceMissing")
    starting = host.in_background("app")
    until(lambda: host.machine.property("syncret", "NFileDescriptorStore") == "1", "kept")
    host.machine.kill("syncret")
    host.secret("db", password="after the kill")
    starting.join()
    until(lambda: host.seen() == "after the kill", "started by the next daemon's answer")
    assert host.machine.property("syncret", "NFileDescriptorStore") == "0"


def test_at_boot_a_unit_waits_for_a_daemon_that_is_slow(host: Host) -> None:
    host.machine.run("systemctl", "stop", "syncret")
    host.secret("db", password="first")
    host.delivery()
    drop_in = host.machine.path("/run/systemd/system/syncret.service.d/slow.conf")
    drop_in.parent.mkdir(parents=True, exist_ok=True)
    drop_in.write_text("[Service]\nExecStartPre=/bin/sleep 2\n")
    host.machine.run("systemctl", "daemon-reload")
    try:
        host.start("app")
        until(lambda: host.seen() == "first", "started after the daemon")
    finally:
        drop_in.unlink()
        host.machine.run("systemctl", "daemon-reload")


@pytest.fixture
def sealing(host: Host) -> Iterator[Host]:
    """The host with the root profile, which may seal."""
    machine = host.machine
    drop_in = machine.path("/etc/systemd/system/syncret.service.d/root.conf")
    machine.run("systemctl", "stop", "syncret")
    machine.run("systemctl", "clean", "--what=runtime", "--what=state", "syncret")
    drop_in.parent.mkdir(exist_ok=True)
    drop_in.write_text((ROOT / "systemd" / "deliver-as-root.conf").read_text())
    machine.run("systemctl", "daemon-reload")
    machine.run(*shown("setup").removeprefix("# ").split())
    host.secret("db", password="first")
    host.put("sealed", shown("sealed.yaml") + "  debounce: {quiet: 0s, atMost: 0s}\n")
    machine.run("systemctl", "restart", "syncret-credentials.socket", "syncret")
    try:
        yield host
    finally:
        print(host.told("sealed"))
        machine.run("systemctl", "stop", "syncret", "sealed", "renamed", check=False)
        drop_in.unlink()
        machine.run("systemctl", "daemon-reload")
        machine.run(
            "sh", "-c", f"rm -f {ENCRYPTED}/* {ENCRYPTED}/..syncret* /run/credstore/* /run/sealed.seen"
        )


def test_a_sealed_file_gives_its_value_and_no_other(sealing: Host) -> None:
    """Not under another name, not with another byte; and what was damaged is sealed again."""
    machine, file = sealing.machine, sealing.machine.path(f"{ENCRYPTED}/db-password")
    sealing.until_told("Delivered", "sealed")
    assert sealing.start("sealed") == "0"
    until(lambda: machine.path("/run/sealed.seen").read_text() == "first", "started with its password")
    before = file.read_bytes()
    assert (file.stat().st_mode & 0o777, b"first" in before) == (0o600, False)

    machine.path(f"{ENCRYPTED}/other").write_bytes(before)
    assert sealing.start("renamed") == FAILED
    machine.run("systemctl", "stop", "sealed")
    middle = len(before) // 2
    file.write_bytes(
        before[:middle] + (b"A" if before[middle : middle + 1] != b"A" else b"B") + before[middle + 1 :]
    )
    assert sealing.start("sealed") == FAILED
    machine.run("syncret", "refresh", "Delivery/sealed")
    until(lambda: sealing.start("sealed") == "0", "sealed again")


def test_a_sealed_file_is_the_same_after_a_restart_of_the_daemon(sealing: Host) -> None:
    file = sealing.machine.path(f"{ENCRYPTED}/db-password")
    sealing.until_told("Delivered", "sealed")
    before = file.stat()
    sealing.machine.run("systemctl", "restart", "syncret")
    sealing.until_told("Delivered", "sealed")
    assert (file.stat().st_ino, file.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    sealing.secret("db", password="second")
    until(lambda: file.stat().st_ino != before.st_ino, "sealed anew for another value")


def test_what_is_not_encrypted_is_in_memory_and_of_root_alone(sealing: Host) -> None:
    text = shown("sealed.yaml").replace("names:", "encrypt: none, names:")
    sealing.put("sealed", text)
    file = sealing.machine.path("/run/credstore/db-password")
    until(file.exists, "delivered")
    assert file.stat().st_mode & 0o777 == 0o600
    assert sealing.start("plain") == "0"
    assert sealing.machine.path("/run/sealed.seen").read_text() == "first"


def test_without_the_root_profile_the_remedy_is_told(host: Host) -> None:
    host.secret("db", password="first")
    host.put("sealed", shown("sealed.yaml"))
    until(lambda: "only root can seal credentials" in host.told("sealed"), "refused")
    assert "deliver-as-root.conf" in host.told("sealed")


def test_certificate_and_key_of_one_start_come_from_one_set(host: Host) -> None:
    host.secret("tls", cert="0", key="0")
    host.put("pair", pair())
    host.until_told("Delivered", "pair")
    done = threading.Event()
    rotating = threading.Thread(target=rotate, args=(host, done.is_set))
    rotating.start()
    try:
        for _ in range(STARTS):
            assert host.start("pair") == "0"
    finally:
        done.set()
        rotating.join()
    pairs = [line.split() for line in host.machine.path("/run/pairs").read_text().splitlines()]
    assert len(pairs) == STARTS
    assert [each for each in pairs if each[0] != each[1]] == []
    assert len({cert for cert, _ in pairs}) > 1, "it was rotated meanwhile"


def rotate(host: Host, is_done: Callable[[], bool]) -> None:
    """One set after the other, each as soon as the one before is live."""
    number = 0
    while not is_done():
        number += 1
        host.secret("tls", cert=str(number), key=str(number))
        until(lambda number=number: is_done() or f"set {number} is live" in host.told("pair"), "live")  # type: ignore[misc]
