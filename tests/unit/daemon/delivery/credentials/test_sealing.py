"""Credentials that are sealed into files: once for each value, and again only if somebody changed one."""

import os
from pathlib import Path
from typing import Any

import pytest

from syncret.config.meta import Document
from syncret.daemon.core.delivery.phases import Outcome
from syncret.daemon.delivery import host_targets
from syncret.daemon.delivery.credentials import sealing
from syncret.daemon.delivery.paths import Refused
from tests.unit.daemon.delivery.world import World, delivery, secret


class Host(World):
    """With a systemd that notes what it seals."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.sealed: list[tuple[str, str, bytes]] = []

    def seal(self, content: bytes, *, name: str, key: str) -> bytes:
        self.sealed.append((name, key, content))
        return b"%d " % len(self.sealed) + content[::-1]

    def manifest(self, **spec: Any) -> Document:  # noqa: ANN401  # any field
        names = {"password": "db-password", "user": "db-user"}
        to = {"systemdCredential": {"path": str(self.srv), "names": names, "encrypt": "host"}}
        return delivery("web", **{"to": [to], **spec})


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Host:
    found = Host(tmp_path)
    monkeypatch.setattr(host_targets, "sealed", found.seal)
    monkeypatch.setattr(sealing, "may_seal", lambda: True)
    return found


def read(host: Host, name: str = "db-password") -> bytes:
    return (host.srv / name).read_bytes()


async def test_each_value_is_sealed_under_its_name_and_not_again_while_it_is_the_same(host: Host) -> None:
    host.keep_state = True
    host.write(secret(password="one", user="app"), host.manifest())
    async with host.running():
        assert host.sealed == [("db-password", "host", b"one"), ("db-user", "host", b"app")]
        assert (read(host), read(host, "db-user")) == (b"1 eno", b"2 ppa")
        assert (host.srv / "db-password").stat().st_mode & 0o777 == 0o600
        await host.look_again()
        assert host.status()["targets"][0]["type"] == "systemdCredential"
    async with host.running():
        assert host.ready() == ("True", "Delivered")
        assert len(host.sealed) == 2
        await host.apply(secret(password="two", user="app"))
        assert read(host) == b"3 owt"


async def test_a_file_that_somebody_changed_is_sealed_again(host: Host) -> None:
    host.write(secret(password="one", user="app"), host.manifest())
    async with host.running():
        (host.srv / "db-password").chmod(0o600)
        (host.srv / "db-password").write_bytes(b"1 enx")
        await host.look_again()
        assert read(host) == b"3 eno"
        assert ("web", "Repaired") in host.events


async def test_after_a_roll_back_the_old_file_is_as_it_was(host: Host) -> None:
    reload = {"unit": "app.service", "action": "restart"}
    host.write(secret(password="one", user="app"), host.manifest(reload=reload))
    async with host.running():
        outcomes = iter([Outcome.FAILED, Outcome.DONE])
        host.units.outcome = lambda: next(outcomes)
        await host.apply(secret(password="bad", user="app"))
        assert host.ready() == ("False", "RolledBack")
        assert read(host) == b"1 eno"
        await host.apply(secret(password="one", user="app"))
        assert read(host) == b"1 eno"
        assert len(host.sealed) == 4


async def test_staged_files_are_numbered_by_their_entries(host: Host) -> None:
    """The first file of each entry comes first: `{staged:2}` is the second entry's."""
    directory = {"directory": {"path": str(host.srv / "tls")}}
    to = [*host.manifest()["spec"]["to"], directory]
    seen: list[str] = []
    original = host_targets.HostTargets.views

    def views(self: host_targets.HostTargets) -> list[tuple[str, str]]:
        found = original(self)
        seen[:] = [live for _, live in found]
        return found

    host.write(secret(password="one", user="app"), host.manifest(to=to, check={"unit": "check.service"}))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(host_targets.HostTargets, "views", views)
        async with host.running():
            names = [Path(each).name for each in seen]
    assert names == ["db-password", "tls", "db-user"]


async def test_who_may_not_seal_is_told_what_to_do(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sealing, "may_seal", lambda: False)
    host.write(secret(password="one", user="app"), host.manifest())
    async with host.running():
        assert host.ready() == ("False", "Refused")
        assert "only root can seal credentials (use socket" in host.message()


@pytest.mark.parametrize(("version", "expected"), [(255, False), (256, True)])
def test_from_version_256_on_systemd_seals_for_others(
    monkeypatch: pytest.MonkeyPatch, version: int, *, expected: bool
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 999)
    monkeypatch.setattr(sealing, "_version", lambda: version)
    assert sealing.may_seal() is expected


@pytest.mark.parametrize(
    ("program", "problem"),
    [
        pytest.param("/nonexistent", "there is no /nonexistent on this host", id="no systemd"),
        pytest.param("/bin/false", "systemd-creds: failed", id="it fails"),
        pytest.param("/bin/true", "systemd-creds: failed", id="it says nothing"),
    ],
)
def test_what_cannot_be_sealed_is_no_file(
    monkeypatch: pytest.MonkeyPatch, program: str, problem: str
) -> None:
    monkeypatch.setattr(sealing, "PROGRAM", program)
    with pytest.raises(Refused) as caught:
        sealing.sealed(b"value", name="n", key="auto")
    assert str(caught.value) == problem
