"""The guide about PostgreSQL, with a real server: a password that works arrives, another never does."""

import json
from collections.abc import Iterator
from typing import Final

import pytest

from tests.suites.docs.pages import Block, blocks
from tests.support.debian import ROOT, missing_tools
from tests.support.machine import Machine, until

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(bool(why := missing_tools("mmdebstrap", "systemd-nspawn", "nsenter")), reason=why),
]

GUIDE: Final = ROOT / "docs" / "guides" / "postgresql.md"
BLOCKS: Final = {each.title: each for each in blocks(GUIDE) if each.title}
APPLICATION: Final = """\
#!/bin/sh
psql --no-psqlrc --host=127.0.0.1 --dbname=postgres --output=/dev/null --command='SELECT 1' || exit 1
printf '%s' "$PGPASSWORD" > "$RUNTIME_DIRECTORY/password"
exec sleep infinity
"""
FIRST: Final = "the first password"
SECOND: Final = 'the "second" $password'


def commands(block: Block) -> str:
    return "set -eu\n" + "".join(line.removeprefix("# ") for line in block.text.splitlines(keepends=True))


class Report:
    """The host of the guide."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine

    def store(self, password: str) -> None:
        """Let the secret manager have this password."""
        value = json.dumps({"user": "report", "password": password})
        provider = {"fake": {"data": [{"key": "databases/report", "value": value}]}}
        store = {
            "apiVersion": "external-secrets.io/v1",
            "kind": "SecretStore",
            "metadata": {"name": "vault"},
            "spec": {"provider": provider},
        }
        path = self.machine.path("/etc/syncret/manifests/store.json")
        fresh = path.with_name(".store.new")
        fresh.write_text(json.dumps(store))
        fresh.rename(path)

    def password(self) -> str:
        """What the application was started with."""
        path = self.machine.path("/run/report/password")
        return path.read_text() if path.exists() else ""

    def reason(self) -> str:
        """How the delivery stands, with what the store has now."""
        self.machine.run("syncret", "refresh", "ExternalSecret/report")
        told = self.machine.run("syncret", "status", "-o", "json", "Delivery/report", check=False)
        found: str = json.loads(told)["objects"][0]["reason"] if told else ""
        return found


@pytest.fixture
def report(delivering: Machine) -> Iterator[Report]:
    """The guide, carried out."""
    found, machine = Report(delivering), delivering
    for path in BLOCKS:
        if path.startswith("/"):
            machine.path(path).parent.mkdir(parents=True, exist_ok=True)
            machine.path(path).write_text(BLOCKS[path].text)
    machine.path("/etc/systemd/system/report.service.d").mkdir()
    machine.path("/etc/systemd/system/report.service.d/test.conf").write_text(
        "[Service]\nRuntimeDirectory=report\n"
    )
    application = machine.path("/usr/local/bin/report")
    application.write_text(APPLICATION)
    application.chmod(0o755)
    machine.path("/etc/syncret/syncret.yaml").write_text("manifests: [/etc/syncret/manifests]\n")
    found.store(FIRST)
    rule = machine.path("/etc/polkit-1/rules.d/50-syncret.rules")
    before = rule.read_text()
    try:
        for title in ("prepare", "allow"):
            machine.run("sh", "-c", commands(BLOCKS[title]))
        yield found
    finally:
        print(machine.run("syncret", "explain", "Delivery/report", check=False))
        machine.run("systemctl", "stop", "syncret", "report", check=False)
        print(machine.journal("syncret"), machine.journal("report"))
        rule.write_text(before)
        machine.run("sh", "-c", "rm -rf /srv/syncret/* /etc/syncret/manifests/*")
        machine.run("systemctl", "clean", "--what=runtime", "--what=state", "syncret", check=False)


def test_a_password_that_works_reaches_the_application_and_another_never(report: Report) -> None:
    machine = report.machine
    until(lambda: report.password() == FIRST, "started with the first password")
    report.store(SECOND)
    until(lambda: report.reason() == "CheckFailed", "refused, for the server does not know it yet")
    assert report.password() == FIRST
    assert FIRST in machine.path("/srv/syncret/report.env").read_text()
    told = machine.run("syncret", "explain", "Delivery/report", check=False)
    assert "password authentication failed" in told
    assert SECOND not in told
    machine.run("sh", "-c", commands(BLOCKS["rotate"]))
    machine.run("syncret", "refresh", "Delivery/report")
    until(lambda: report.password() == SECOND, "restarted with the second password")
    until(lambda: report.reason() == "Delivered", "proven")
    assert machine.property("report", "NRestarts") == "0"
