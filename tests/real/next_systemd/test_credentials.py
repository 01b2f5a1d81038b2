"""Credentials under the systemd of the next Debian, which asks and refuses as the one before does."""

import shutil
from collections.abc import Iterator

import pytest

from tests.real.systemd.credential_host import FAILED, RULE, SETTINGS, STRANGER, Host, asking, shown
from tests.real.systemd.installed import unpack
from tests.support.debian import NEXT_SUITE, missing_tools
from tests.support.machine import Machine, booted, until

SEAL = """\
polkit.addRule(function(action, subject) {
    if (action.id == "io.systemd.credentials.encrypt" && subject.user == "syncret") {
        return polkit.Result.YES;
    }
});
"""
PACKAGES = ("dbus", "polkitd", "python3", "python3-venv", "systemd", "systemd-sysv")
CONFINED = "/var/lib/syncret/credstore"
SEALED = f"""\
[Service]
Type=oneshot
LoadCredentialEncrypted=db-password:{CONFINED}/db-password
ExecStart=/bin/sh -c 'cat "$CREDENTIALS_DIRECTORY/db-password" > /run/sealed.seen'
"""

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(bool(why := missing_tools("mmdebstrap", "systemd-nspawn", "nsenter")), reason=why),
]


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    folder, console = tmp_path_factory.mktemp("machine"), tmp_path_factory.mktemp("console") / "log"
    try:
        root = unpack(folder, PACKAGES, suite=NEXT_SUITE)
        (root / "etc/syncret/syncret.yaml").write_text(SETTINGS)
        units = {"app": shown("app.service"), "stranger": STRANGER, "sealed": SEALED}
        with booted(root, console) as machine, asking(machine, units, RULE + SEAL):
            machine.run("systemctl", "start", "syncret")
            yield machine
            print(machine.journal("syncret"))
    finally:
        shutil.rmtree(folder)
        print(f"\n{console.read_text(errors='replace')}")


def test_a_unit_gets_its_password_and_a_stranger_does_not_start(machine: Machine) -> None:
    host = Host(machine)
    assert int(machine.run("systemctl", "--version").split()[1]) >= 257
    host.secret("db", password="first")
    host.delivery()
    host.until_told("Delivered")
    host.start("app")
    until(lambda: host.seen() == "first", "started with its password")
    assert host.start("stranger") == FAILED
    host.secret("db", password="second")
    until(lambda: host.seen() == "second", "restarted with the next one")


def test_with_a_rule_of_polkit_the_daemon_seals_without_being_root(machine: Machine) -> None:
    host = Host(machine)
    host.secret("db", password="sealed")
    text = shown("sealed.yaml").replace("names:", f"path: {CONFINED}, names:")
    host.put("sealed", text)
    host.until_told("Delivered", "sealed")
    assert b"sealed" not in machine.path(f"{CONFINED}/db-password").read_bytes()
    assert host.start("sealed") == "0"
    assert machine.path("/run/sealed.seen").read_text() == "sealed"
