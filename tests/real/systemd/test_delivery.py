"""Deliveries under a real systemd, with nginx and polkit: the guide as it is written, and what goes wrong."""

import time
from collections.abc import Iterator

import pytest

from tests.real.systemd.nginx_host import EXPORTED, GUIDE, Host, shown
from tests.suites.docs.pages import blocks
from tests.support.debian import missing_tools
from tests.support.machine import until

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(bool(why := missing_tools("mmdebstrap", "systemd-nspawn", "nsenter")), reason=why),
]


def test_a_pair_that_does_not_match_is_never_live(host: Host) -> None:
    certificate, _ = host.pair("one")
    _, key = host.pair("other")
    host.put(certificate, key)
    until(lambda: host.ready("CheckFailed"), "refused by its check")
    assert host.served() == "first"
    good = host.pair("good")
    host.put(*good)
    until(lambda: host.served() == "good", "the next good pair is served")


def test_a_reload_that_only_pretends_is_found_by_the_certificate_and_rolled_back(host: Host) -> None:
    drop_in = host.machine.path("/etc/systemd/system/nginx.service.d/pretends.conf")
    drop_in.parent.mkdir(parents=True, exist_ok=True)
    drop_in.write_text("[Service]\nExecReload=\nExecReload=/bin/true\n")
    host.machine.run("systemctl", "daemon-reload")
    try:
        host.put(*host.pair("unread"))
        until(lambda: host.ready("RolledBack"), "rolled back")
        assert host.served() == "first"
        live = host.machine.run("openssl", "x509", "-noout", "-subject", "-in", "/srv/syncret/tls/server.pem")
        assert "first" in live
    finally:
        drop_in.unlink()
        host.machine.run("systemctl", "daemon-reload")


def test_while_the_bus_is_away_the_reload_stays_owed_and_a_masked_unit_is_named(host: Host) -> None:
    machine = host.machine
    machine.run("systemctl", "stop", "dbus.socket", "dbus.service")
    try:
        host.put(*host.pair("no-bus"))
        until(lambda: host.ready("CheckFailed"), "the check could not be asked for")
        assert host.served() == "first"
    finally:
        machine.run("systemctl", "start", "dbus.socket", "dbus.service")
    machine.run("syncret", "refresh", "Delivery/web")
    until(lambda: host.served() == "no-bus", "checked and reloaded later")
    machine.run("systemctl", "mask", "--runtime", "nginx")
    try:
        host.put(*host.pair("masked"))
        until(lambda: host.ready("ReloadFailed"), "told")
        assert "nginx.service is masked" in host.told()
        assert host.served() == "no-bus"
    finally:
        machine.run("systemctl", "unmask", "--runtime", "nginx")
    machine.run("systemctl", "reload", "nginx")
    until(lambda: host.served() == "masked", "the new set had stayed live")  # nginx -s reload does not wait


def test_systemd_may_execute_itself_anew_meanwhile(host: Host) -> None:
    for number in range(2):
        host.put(*host.pair(f"anew-{number}"))
        host.machine.run("systemctl", "daemon-reexec")
        until(lambda number=number: host.served() == f"anew-{number}", "checked, told and served")  # type: ignore[misc]


def test_without_polkit_the_helpers_of_its_units_carry_requests_out(host: Host) -> None:
    machine = host.machine
    rule = machine.path("/etc/polkit-1/rules.d/50-syncret.rules")
    text = rule.read_text()
    rule.unlink()
    [enable] = [block.text for block in blocks(GUIDE, "console") if block.title == "without polkit"]
    helpers = ("syncret-reload@nginx.service.path", "syncret-reload@nginx-check.service.path")
    try:
        machine.run("sh", "-euc", enable.replace("# ", ""))
        for number in range(3):
            host.put(*host.pair(f"helped-{number}"))
            until(lambda number=number: host.served() == f"helped-{number}", f"pair {number} is served")  # type: ignore[misc]
        host.put(host.pair("one")[0], host.pair("other")[1])
        until(lambda: host.ready("CheckFailed"), "the check ran, and did not agree")
        assert host.served() == "helped-2"
        machine.run("sh", "-c", "rm -rf /run/syncret/reload; ln -s /etc/systemd/system /run/syncret/reload")
        until(
            lambda: "Failed with result" in machine.journal("syncret-reload@nginx-check.service.service"),
            "held",
        )
        assert machine.path("/etc/systemd/system/nginx-check.service").exists(), "no link leads root astray"
    finally:
        machine.run("systemctl", "disable", "--now", *helpers)
        machine.run("rm", "-rf", "/run/syncret/reload")
        rule.write_text(text)


@pytest.fixture
def root_profile(host: Host) -> Iterator[Host]:
    """The service as root, as the guide says, on a host without a rule of polkit."""
    machine = host.machine
    rule = machine.path("/etc/polkit-1/rules.d/50-syncret.rules")
    text = rule.read_text()
    drop_in = machine.path("/etc/systemd/system/syncret.service.d/nginx.conf")
    [install] = [block.text for block in blocks(GUIDE, "console") if block.title == "as root"]
    rule.unlink()
    drop_in.write_text(shown(f"/etc/systemd/system/syncret.service.d/{drop_in.name}"))
    machine.run("systemctl", "stop", "syncret")
    machine.run("chown", "--recursive", "root", "/srv/syncret")
    try:
        machine.run("sh", "-euc", install.replace("# ", ""))
        yield host
    finally:
        rule.write_text(text)
        machine.run(
            "sh", "-c", f"cd /etc/systemd/system/syncret.service.d && rm deliver-as-root.conf {drop_in.name}"
        )
        machine.run("systemctl", "daemon-reload")


def test_as_root_it_gives_files_away_checks_in_place_and_signals_others(root_profile: Host) -> None:
    host, machine = root_profile, root_profile.machine
    host.delivery(text=shown("root.yaml"))
    good = host.pair("as-root")
    host.put(*good)
    until(lambda: host.served() == "as-root", "served")
    status = machine.path("/srv/syncret/tls/server.key").stat()
    assert status.st_uid == int(machine.run("id", "--user", "www-data"))
    assert machine.property("syncret", "User") == "root"
    mounts = machine.run("cat", "/proc/1/mountinfo")
    host.put(good[0], host.pair("other")[1])
    until(lambda: host.ready("CheckFailed"), "the check found the new pair, not the live one")
    assert "key values mismatch" in host.told()
    assert host.served() == "as-root"
    assert machine.run("cat", "/proc/1/mountinfo") == mounts
    as_owner = "{exec: [/usr/bin/test, -r, '{staged}/server.key', -a, '!', -w, /srv/syncret], user: www-data}"
    check = "{exec: [/usr/sbin/nginx, -t, -q], view: mounted}"
    found = (
        shown("root.yaml")
        .replace(check, as_owner)
        .replace("pidFile: /run/nginx.pid", "process: /usr/sbin/nginx")
    )
    host.delivery(text=found)
    host.put(*host.pair("by-owner"))
    until(lambda: host.served() == "by-owner", "agreed to by the owner of the files")
    host.delivery(
        text=shown("root.yaml").replace(
            "signal: {signal: SIGHUP, pidFile: /run/nginx.pid}", "unit: nginx.service"
        )
    )
    host.put(*host.pair("by-systemd"))
    until(lambda: host.served() == "by-systemd", "reloaded without a rule")


def test_after_a_kill_the_next_start_ends_what_was_begun(host: Host) -> None:
    for number in range(5):
        host.put(*host.pair(f"killed-{number}"))
        time.sleep(0.05 * number)  # another moment each time
        host.machine.kill("syncret")
        until(lambda number=number: host.served() == f"killed-{number}", f"pair {number} is served")  # type: ignore[misc]


def test_without_the_rule_of_polkit_the_reload_stays_owed_and_the_remedy_is_told(host: Host) -> None:
    rule = host.machine.path("/etc/polkit-1/rules.d/50-syncret.rules")
    text = rule.read_text()
    rule.write_text(text.replace("nginx.service reload", "nginx.service none"))
    try:
        told = host.machine.run("syncret", "export", "polkit", *EXPORTED, "--check", check=False)
        assert told == "nginx-check.service start: allowed\nnginx.service reload: not allowed\n"
        host.put(*host.pair("owed"))
        until(lambda: host.ready("ReloadFailed"), "owed")
        assert "not allowed to manage nginx.service" in host.told()
    finally:
        rule.write_text(text)
    host.machine.run("syncret", "refresh", "Delivery/web")
    until(lambda: host.served() == "owed", "told later")


def test_the_exported_rule_allows_what_deliveries_ask_for_and_nothing_else(host: Host) -> None:
    rule = host.machine.path("/etc/polkit-1/rules.d/50-syncret.rules")
    text = rule.read_text()
    asked = {
        "reload": {"reload"},
        "restart": {"try-restart", "restart"},
        "reload-or-restart": {"try-reload-or-restart", "restart"},
    }
    as_daemon = ("setpriv", "--reuid=syncret", "--regid=syncret", "--clear-groups", "systemctl")
    try:
        for action, verbs in asked.items():
            host.delivery(**{"{unit: nginx.service}": f"{{unit: nginx.service, action: {action}}}"})
            rule.write_text(host.machine.run("syncret", "export", "polkit", *EXPORTED))
            assert "not allowed" not in host.machine.run("syncret", "export", "polkit", *EXPORTED, "--check")
            for verb in ("reload", "try-restart", "try-reload-or-restart", "restart", "stop"):
                command = (*as_daemon, "--no-ask-password", verb, "--", "nginx.service")
                done = host.machine.run("sh", "-c", '"$@" && echo done || true', "sh", *command)
                assert ("done" in done) == (verb in verbs), (action, verb)
                host.machine.run("systemctl", "reset-failed", "nginx")
    finally:
        rule.write_text(text)
