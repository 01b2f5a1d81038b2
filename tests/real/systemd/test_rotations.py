"""Rotations while others are at work: clients with new connections, an administrator, a start limit."""

import re
import subprocess
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from statistics import median
from typing import Final

import pytest

from tests.real.systemd.nginx_host import EXPORTED, Host, running
from tests.support.debian import missing_tools
from tests.support.machine import Machine, until

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(bool(why := missing_tools("mmdebstrap", "systemd-nspawn", "nsenter")), reason=why),
]

ROTATIONS: Final = 50
RESTARTS: Final = 20
LOAD: Final = (
    "wrk --threads=1 --connections=4 --duration=600s --header='Connection: close' https://127.0.0.1/"
)
"""Each request is a connection of its own, and so is its handshake."""
AT_ONCE: Final = {"certificate: server.pem}": "certificate: server.pem}, stableFor: 0s"}
SLOW_RELOAD: Final = """\
[Service]
ExecReload=
ExecReload=/bin/sh -c 'echo "begins with $(openssl x509 -noout -subject -in /srv/syncret/tls/server.pem)" \
>> /tmp/reloads; sleep 2; /usr/sbin/nginx -s reload; sleep 0.5; echo ends >> /tmp/reloads'
"""


@pytest.fixture
def quick(delivering: Machine) -> Iterator[Host]:
    """The host, on which a proof is over as soon as it has been found once."""
    with running(delivering, **AT_ONCE) as found:
        until(lambda: found.ready("Delivered"), "delivered")
        yield found


@pytest.fixture
def unchecked(delivering: Machine) -> Iterator[Host]:
    """The same without a check, which has to be asked for, too."""
    with running(delivering, **AT_ONCE, **{"  check: {unit: nginx-check.service}\n": ""}) as found:
        until(lambda: found.ready("Delivered"), "delivered")
        yield found


def reloads(host: Host) -> int:
    """How often systemd has reloaded nginx."""
    return host.machine.journal("nginx").count("Reloaded nginx")


def live(host: Host) -> str:
    """The name in the certificate that is live."""
    pem = "/srv/syncret/tls/server.pem"
    return host.machine.run("openssl", "x509", "-noout", "-subject", "-in", pem).strip().rpartition("= ")[2]


@contextmanager
def load(host: Host) -> Generator[Callable[[], str]]:
    """Clients of nginx; the call ends them, and gives what they found."""
    command = host.machine.inside("sh", "-c", f"echo $$ > /tmp/wrk.pid; exec {LOAD}")
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:

        def ended() -> str:
            host.machine.run("sh", "-c", "kill -INT $(cat /tmp/wrk.pid)", check=False)
            return process.communicate(timeout=30)[0]

        try:
            yield ended
        finally:
            if process.poll() is None:
                ended()


def test_fifty_rotations_under_load_fail_no_handshake_and_each_is_one_reload(quick: Host) -> None:
    pairs = {name: quick.pair(name) for name in (f"pair-{number}" for number in range(ROTATIONS))}
    before = reloads(quick)
    late: list[float] = []
    with load(quick) as ended:
        for name, pair in pairs.items():
            quick.put(*pair)
            until(lambda name=name: live(quick) == name, f"{name} is live")  # type: ignore[misc]
            went_live = time.monotonic()
            until(lambda name=name: quick.served() == name, f"{name} is served")  # type: ignore[misc]
            late.append(time.monotonic() - went_live)
            until(lambda: quick.ready("Delivered"), "proven")
        told = ended()
    print(told, f"served after {median(late):.2f} s, {max(late):.2f} s at most")
    assert median(late) <= 1  # of all, on a machine that does other things, too
    assert reloads(quick) - before == ROTATIONS
    assert "Socket errors" not in told
    assert "Non-2xx" not in told
    assert int(re.findall(r"(\d+) requests in", told)[0]) > 100 * ROTATIONS
    assert "key values mismatch" not in quick.machine.journal("nginx")
    assert quick.machine.property("nginx", "NRestarts") == "0"


def test_a_reload_that_an_administrator_asked_for_before_the_swap_is_not_taken_for_ours(quick: Host) -> None:
    machine = quick.machine
    drop_in = machine.path("/etc/systemd/system/nginx.service.d/slow.conf")
    drop_in.parent.mkdir(parents=True, exist_ok=True)
    drop_in.write_text(SLOW_RELOAD)
    machine.run("systemctl", "daemon-reload")
    log = machine.path("/tmp/reloads")
    try:
        machine.run("systemctl", "--no-block", "reload", "nginx")
        until(log.exists, "the administrator's reload begins")
        quick.put(*quick.pair("second"))
        until(lambda: quick.served() == "second", "served")
        until(lambda: log.read_text().count("ends") == 2, "both are over")  # see the assertion
        subjects = [line.rpartition(" ")[2] for line in log.read_text().splitlines()]
        assert subjects == ["first", "ends", "second", "ends"], "ours is a job of its own, after the other"
    finally:
        drop_in.unlink()
        log.unlink(missing_ok=True)
        machine.run("systemctl", "daemon-reload")


def test_restarts_stay_below_the_start_limit_of_the_unit(quick: Host) -> None:
    machine = quick.machine
    quick.delivery(**AT_ONCE, **{"{unit: nginx.service}": "{unit: nginx.service, action: restart}"})
    rule = machine.path("/etc/polkit-1/rules.d/50-syncret.rules")
    text = rule.read_text()
    rule.write_text(machine.run("syncret", "export", "polkit", *EXPORTED))
    pairs = [quick.pair(f"quick-{number}") for number in range(RESTARTS)]
    started, begin = machine.journal("nginx").count("Started nginx"), time.monotonic()
    try:
        for number, pair in enumerate(pairs, 1):
            quick.put(*pair)
            time.sleep(max(0.0, begin + number * 10 / RESTARTS - time.monotonic()))
        last = f"quick-{RESTARTS - 1}"
        until(lambda: quick.served() == last, "the last pair is served")
        until(lambda: quick.ready("Delivered"), "proven")
        assert machine.property("nginx", "Result") == "success"
        assert "repeated too quickly" not in machine.journal("nginx")
        assert machine.journal("nginx").count("Started nginx") - started > 1
    finally:
        rule.write_text(text)


def test_ten_deliveries_of_one_unit_are_one_reload(quick: Host) -> None:
    paths = [f"/srv/syncret/tls-{number}" for number in range(9)]
    quick.delivery(**AT_ONCE, **{"  debounce: {quiet: 0s, atMost: 0s}\n": ""})
    for number, path in enumerate(paths):
        quick.also(f"web-{number}", path)
    until(lambda: all(quick.machine.path(path).exists() for path in paths), "all are live")
    until(lambda: quick.machine.run("syncret", "status", check=False).count("Delivered") == 10, "all told")
    before = reloads(quick)
    quick.put(*quick.pair("for-all"))
    until(lambda: quick.served() == "for-all", "served")
    for path in paths:
        subject = quick.machine.run("openssl", "x509", "-noout", "-subject", "-in", f"{path}/server.pem")
        assert "for-all" in subject
    until(lambda: quick.machine.run("syncret", "status", check=False).count("Delivered") == 10, "all told")
    assert reloads(quick) - before == 1


def test_without_polkit_itself_the_reload_stays_owed(unchecked: Host) -> None:
    machine = unchecked.machine
    machine.run("systemctl", "mask", "--runtime", "--now", "polkit.service")
    try:
        unchecked.put(*unchecked.pair("owed"))
        until(lambda: unchecked.ready("ReloadFailed"), "owed")
        assert live(unchecked) == "owed"
        assert unchecked.served() == "first"
        assert "polkit" in unchecked.told()
    finally:
        machine.run("systemctl", "unmask", "--runtime", "polkit.service")
    machine.run("syncret", "refresh", "Delivery/web")
    until(lambda: unchecked.served() == "owed", "told later")
