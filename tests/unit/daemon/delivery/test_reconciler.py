"""Deliveries as the daemon carries them out: what programs find, what is told to them, and what goes back."""

import json
import os
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote

import pytest

from syncret.config.resources.kinds import DELIVERY
from syncret.daemon.core.delivery.phases import Outcome
from syncret.daemon.delivery import paths, units
from tests.unit.daemon.delivery.world import NAME, World, delivery, secret


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def tls(world: World, name: str = "web", **spec: Any) -> dict[str, Any]:  # noqa: ANN401  # any field
    return delivery(name, **{"to": [{"directory": {"path": str(world.srv / "tls")}}], **spec})


RELOAD: dict[str, Any] = {"reload": {"unit": "nginx.service"}}


async def test_a_set_goes_live_and_a_change_follows(world: World) -> None:
    world.write(secret(crt="1", key="1"), tls(world, **RELOAD))
    async with world.running():
        assert world.files() == {"crt": "1", "key": "1"}
        assert world.ready() == ("True", "Delivered")
        seen: list[dict[str, str]] = []
        world.units.when_asked = lambda: seen.append(world.files())
        await world.apply(secret(crt="2", key="2"))
        assert seen == [{"crt": "2", "key": "2"}]
        assert world.status()["live"]["generation"] == 2
        assert world.status()["phase"] == "Settled"
        assert world.status()["lastReload"]["result"] == "success"
        assert "attempt" not in world.status()
    assert world.units.asked == [("nginx.service", "reload")] * 2
    assert world.events == [("web", "Delivered")] * 2


async def test_what_did_not_change_is_not_touched(world: World) -> None:
    world.write(secret(crt="1"), tls(world, **RELOAD))
    async with world.running():
        before = (world.srv / "tls").stat(), world.status()
        await world.look_again()
        assert ((world.srv / "tls").stat(), world.status()) == before
    assert len(world.units.asked) == 1


async def test_a_restart_takes_over_what_is_live(world: World) -> None:
    world.keep_state = True
    world.write(secret(crt="1"), tls(world, **RELOAD))
    async with world.running():
        inode = (world.srv / "tls").stat().st_ino
    async with world.running():
        assert world.status()["live"]["generation"] == 1
    assert (world.srv / "tls").stat().st_ino == inode
    assert len(world.units.asked) == 1


async def test_without_its_state_it_takes_over_what_is_as_wanted_and_nothing_else(world: World) -> None:
    world.write(secret(crt="1"), tls(world, **RELOAD))
    async with world.running():
        pass
    async with world.running():
        assert world.ready() == ("True", "Delivered")
        assert len(world.units.asked) == 1
    world.write(secret(crt="2"))
    async with world.running():
        assert world.ready() == ("False", "StageFailed")
        assert "holds what syncret did not write" in world.message()
        assert world.files() == {"crt": "1"}


async def test_a_set_that_fails_its_check_never_goes_live(world: World) -> None:
    world.write(secret(crt="1"), tls(world, check={"unit": "check.service"}, **RELOAD))
    async with world.running():
        world.units.check = Outcome.FAILED
        await world.apply(secret(crt="bad"))
        assert world.files() == {"crt": "1"}
        assert world.ready() == ("False", "CheckFailed")
        assert world.status()["rejected"]["reason"] == "CheckFailed"
        assert [each.name for each in world.srv.iterdir() if "next" in each.name] == []
        checks = len(world.units.started)
        await world.look_again()
        assert len(world.units.started) == checks, "a set that was rejected is not tried again by itself"
        world.units.check = Outcome.DONE
        await world.refresh()
        assert world.files() == {"crt": "bad"}
        assert world.ready() == ("True", "Delivered")
    assert len(world.units.asked) == 2


async def test_a_check_that_nobody_may_start_is_asked_for_again(world: World) -> None:
    world.write(secret(crt="1"), tls(world, check={"unit": "check.service"}))
    world.units.check = Outcome.NOT_ASKED
    async with world.running():
        assert world.ready() == ("False", "CheckFailed")
        assert world.files() == {}
        world.units.check = Outcome.DONE
        await world.look_again()
        assert world.ready() == ("True", "Delivered")
        assert world.files() == {"crt": "1"}


async def test_the_folder_that_systemd_makes_for_a_check_unit_is_no_obstacle(world: World) -> None:
    """systemd makes what a unit binds over (BindReadOnlyPaths=), and leaves it."""
    world.write(secret(crt="bad"), tls(world, check={"unit": "check.service"}))
    world.units.check = Outcome.FAILED
    world.units.when_started = (world.srv / "tls").mkdir
    async with world.running():
        assert world.ready() == ("False", "CheckFailed")
        assert list(world.srv.iterdir()) == []
        world.units.check = Outcome.DONE
        await world.apply(secret(crt="1"))
        assert world.ready() == ("True", "Delivered")
        assert world.files() == {"crt": "1"}


@pytest.mark.parametrize("adopt", [False, True])
async def test_the_file_that_systemd_makes_for_a_check_unit_goes_again(world: World, *, adopt: bool) -> None:
    """A program that found it would start with an empty password. What is adopted was there before."""
    path = world.srv / "password"
    target = {"file": {"path": str(path), "key": "crt", "adopt": adopt}}
    world.write(secret(crt="bad"), delivery(check={"unit": "check.service"}, to=[target]))
    world.units.check = Outcome.FAILED
    world.units.when_started = path.touch
    async with world.running():
        assert world.ready() == ("False", "CheckFailed")
        assert path.exists() is adopt
        world.units.check = Outcome.DONE
        await world.apply(secret(crt="1"))
        assert path.read_text() == "1"


@pytest.mark.parametrize("on_failure", ["rollback", "keep"])
async def test_a_reload_that_fails_brings_the_old_set_back_unless_it_is_to_stay(
    world: World, on_failure: str
) -> None:
    world.write(secret(crt="1"), tls(world, onFailure=on_failure, **RELOAD))
    async with world.running():
        outcomes = iter([Outcome.FAILED, Outcome.DONE])
        world.units.outcome = lambda: next(outcomes)
        seen: list[str] = []
        world.units.when_asked = lambda: seen.append(world.files()["crt"])
        await world.apply(secret(crt="2"))
        if on_failure == "keep":
            assert (world.files(), world.ready()) == ({"crt": "2"}, ("False", "ReloadFailed"))
            assert seen == ["2"]
        else:
            assert (world.files(), world.ready()) == ({"crt": "1"}, ("False", "RolledBack"))
            assert seen == ["2", "1"], "the unit has read the old set again"
            assert world.status()["live"]["generation"] == 1
        assert "nginx.service did not" in world.message()


async def test_when_the_way_back_fails_too_nothing_more_is_done_until_somebody_asks(world: World) -> None:
    world.write(secret(crt="1"), tls(world, **RELOAD))
    async with world.running():
        world.units.outcome = lambda: Outcome.FAILED
        await world.apply(secret(crt="2"))
        assert world.ready() == ("False", "Broken")
        told = len(world.units.asked)
        await world.look_again()
        assert len(world.units.asked) == told
        world.units.outcome = lambda: Outcome.DONE
        await world.refresh()
        assert (world.files(), world.ready()) == ({"crt": "2"}, ("True", "Delivered"))


async def test_a_unit_that_does_not_run_reads_the_files_when_it_starts(world: World) -> None:
    world.units.outcome = lambda: Outcome.NOT_RUNNING
    world.write(secret(crt="1"), tls(world, **RELOAD))
    async with world.running():
        assert world.ready() == ("True", "Delivered")


async def test_a_reload_that_nobody_may_ask_for_stays_owed(world: World) -> None:
    world.write(secret(crt="1"), tls(world, **RELOAD))
    world.units.outcome = lambda: Outcome.NOT_ASKED
    async with world.running():
        assert world.files() == {"crt": "1"}
        assert world.ready() == ("False", "ReloadFailed")
        assert world.status()["phase"] == "Swapped"
        world.units.outcome = lambda: Outcome.DONE
        await world.look_again()
        assert world.ready() == ("True", "Delivered")
    assert len(world.units.asked) >= 2


async def test_several_deliveries_of_one_unit_are_told_of_once(world: World) -> None:
    for number in range(5):
        name = f"d{number}"
        path = {"directory": {"path": str(world.srv / name)}}
        world.write(delivery(name, to=[path], **RELOAD))
    world.write(secret(crt="1"))
    async with world.running():
        world.units.asked.clear()
        seen: list[set[str]] = []
        world.units.when_asked = lambda: seen.append(
            {world.files(f"d{number}")["crt"] for number in range(5)}
        )
        await world.apply(secret(crt="2"))
        assert seen == [{"2"}]


async def test_a_source_that_is_missing_leaves_what_is_live(world: World) -> None:
    world.write(secret(crt="1", key="1"), tls(world, sources=[{"secret": "tls", "keys": ["crt", "key"]}]))
    async with world.running():
        await world.apply(secret(crt="2"))
        assert world.ready() == ("False", "SourceMissing")
        assert world.files() == {"crt": "1", "key": "1"}
        await world.apply(secret(crt="2", key="2"))
        assert world.ready() == ("True", "Delivered")
        assert world.files() == {"crt": "2", "key": "2"}


def _edit(path: Path) -> None:
    path.chmod(0o600)
    path.write_text("edited")


def _open_to_all(path: Path) -> None:
    path.chmod(0o644)


@pytest.mark.parametrize(
    "harm",
    [
        pytest.param(_edit, id="edited"),
        pytest.param(Path.unlink, id="removed"),
        pytest.param(_open_to_all, id="mode"),
    ],
)
async def test_what_somebody_touched_is_mended_and_told(world: World, harm: Callable[[Path], object]) -> None:
    world.write(secret(crt="1"), tls(world, **RELOAD))
    async with world.running():
        harm(world.srv / "tls" / "crt")
        await world.look_again()
        assert world.files() == {"crt": "1"}
        assert (world.srv / "tls" / "crt").stat().st_mode & 0o777 == 0o400
        assert ("web", "Repaired") in world.events
    assert len(world.units.asked) == 2


async def test_whoever_touches_it_again_and_again_is_not_fought_for_ever(world: World) -> None:
    world.write(secret(crt="1"), tls(world))
    async with world.running():
        for _ in range(4):
            (world.srv / "tls" / "crt").unlink()
            await world.look_again()
        assert world.ready() == ("False", "Contended")
        assert world.files() == {}


async def test_files_and_variables_are_made_of_keys(world: World) -> None:
    targets = [
        {"file": {"path": str(world.srv / "pgpass"), "template": "db:{{ .password }}"}},
        {"envFile": {"path": str(world.srv / "env"), "names": {"password": "PGPASSWORD"}}},
    ]
    world.write(secret(password="p4ss word"), delivery(to=targets))
    async with world.running():
        assert (world.srv / "pgpass").read_text() == "db:p4ss word"
        assert 'PGPASSWORD="p4ss word"' in (world.srv / "env").read_text()
        assert [each["type"] for each in world.status()["targets"]] == ["file", "file"]


async def test_a_manifest_that_others_can_write_runs_nothing_and_delivers_nothing(world: World) -> None:
    world.write(secret(crt="1"), tls(world, **RELOAD))
    (world.manifests / "Delivery-web.json").chmod(0o664)
    async with world.running():
        assert world.ready() == ("False", "Refused")
        assert "spec.reload: not run:" in world.message()
        assert f"chmod go-w {world.manifests}/Delivery-web.json" in world.message()
        assert world.files() == {}
        (world.manifests / "Delivery-web.json").chmod(0o644)
        await world.look_again()
        assert world.ready() == ("True", "Delivered")


@pytest.mark.parametrize("opened", ["Delivery-web.json", "."], ids=["the file", "its folder"])
async def test_a_manifest_that_becomes_writable_runs_nothing_from_then_on(world: World, opened: str) -> None:
    world.write(secret(crt="1"), tls(world, **RELOAD))
    async with world.running():
        (world.manifests / opened).chmod(0o775)
        await world.apply(secret(crt="2"))
        assert world.ready() == ("False", "Refused")
        assert f"is writable by group {os.getegid()}" in world.message()
        assert world.files() == {"crt": "1"}, "what is live stays"
        assert len(world.units.asked) == 1
        (world.manifests / opened).chmod(0o755)
        await world.look_again()
        assert world.files() == {"crt": "2"}


CANARIES = {
    "password": "canary-with-$igns/and+more=",
    "tls.key": "-----BEGIN KEY-----\ncanaryfirstline0123\ncanarysecondline9876\n-----END KEY-----\n",
}
PRINTS = (
    "for f in {staged}/*; do cat $f; base64 -w0 $f; base64 $f; od -An -tx1 $f | tr -d ' \\n'; "
    'while read -r l; do echo "nginx: bad line $l in $f"; done < $f; done; exit 1'
)


@pytest.mark.slow
@pytest.mark.parametrize("step", ["check", "reload", "healthy"])
async def test_no_value_that_a_command_prints_is_told_anywhere(world: World, step: str) -> None:
    script = PRINTS if step == "check" else PRINTS.replace("{staged}", str(world.srv / "tls"))
    fields: dict[str, Any] = {"exec": ["/usr/bin/dash", "-c", script]}
    if step == "healthy":
        fields |= {"within": "5s", "stableFor": "0s"}  # a busy machine takes a second for the script
    steps: dict[str, Any] = {step: fields}
    world.write(secret(**CANARIES), tls(world, **steps))
    async with world.running():
        assert world.ready()[0] == "False"
        told = [world.message(), json.dumps(world.status()), *world.messages]
        assert any("[redacted]" in each for each in told)
        for each in told:
            for value in CANARIES.values():
                raw = value.encode()
                for form in (value, b64encode(raw).decode(), raw.hex(), quote(value, safe="")):
                    assert form not in each
            assert "canary" not in each


async def test_one_path_is_one_deliverys(world: World) -> None:
    world.write(secret(crt="1"), tls(world, "a"), tls(world, "b"))
    async with world.running():
        refs = [DELIVERY.ref("default", name) for name in ("a", "b")]
        assert sorted(map(world.ready, refs)) == [("False", "Refused"), ("True", "Delivered")]


async def test_a_suspended_delivery_leaves_all_as_it_is(world: World) -> None:
    world.write(secret(crt="1"), tls(world))
    async with world.running():
        await world.apply(tls(world, suspend=True), secret(crt="2"))
        assert world.files() == {"crt": "1"}
        assert world.ready() == ("True", "Suspended")
        await world.apply(tls(world))
        assert world.files() == {"crt": "2"}


@pytest.mark.parametrize(("policy", "left"), [("Retain", {"crt": "1"}), ("Delete", {})])
async def test_what_is_live_when_the_object_goes(world: World, policy: str, left: dict[str, str]) -> None:
    world.write(secret(crt="1"), tls(world, deletionPolicy=policy))
    async with world.running():
        stored = world.engine.inventory.get(NAME)
        assert stored is not None
        await world.home.delete(stored)
        await world.settle()
        assert world.engine.inventory.get(NAME) is None
        assert world.files() == left


async def test_a_plan_writes_nothing_and_runs_nothing(world: World) -> None:
    world.write(secret(crt="1"), tls(world, check={"unit": "check.service"}, **RELOAD))
    async with world.running(dry=True, once=True):
        pass
    assert (world.files(), world.units.asked, world.units.started) == ({}, [], [])


async def test_a_unit_that_hides_the_boot_delivers_all_the_same(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(units, "_BOOT", world.srv / "there-is-none")
    world.write(secret(crt="1"), tls(world, **RELOAD))
    async with world.running():
        assert world.ready() == ("True", "Delivered")


async def test_an_init_container_delivers_to_a_volume_and_tells_nobody(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "is_mount_root", folders_alone)
    world.srv.chmod(0o777)  # as an emptyDir is
    healthy = {"unit": "nginx.service"}
    world.write(secret(crt="1"), tls(world, healthy=healthy, **RELOAD))
    async with world.running(once=True, in_container=True):
        assert world.ready() == ("True", "Delivered")
        assert world.message() == "set 1 is live; reload and healthy are left out: nothing runs yet"
        assert world.files() == {"crt": "1"}
    assert world.units.asked == []


async def test_a_manifest_on_a_read_only_volume_of_a_pod_may_be_a_link(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.write(secret(crt="1"), tls(world, **RELOAD))
    world.manifests.joinpath("..data").mkdir()
    manifest = world.manifests / "Delivery-web.json"
    manifest.rename(world.manifests / "..data" / "web.json").chmod(0o666)
    manifest.symlink_to("..data/web.json")
    async with world.running(in_container=True):
        assert world.ready() == ("False", "Refused")
        monkeypatch.setattr(os, "statvfs", read_only)
        await world.look_again()
        assert world.ready() == ("True", "Delivered")


def read_only(path: Path) -> Any:  # noqa: ANN401  # as os.statvfs
    return SimpleNamespace(f_flag=os.ST_RDONLY)


def folders_alone(folder: int, name: str = "") -> bool:
    """Each folder is a volume, and nothing in it is."""
    del folder
    return not name
