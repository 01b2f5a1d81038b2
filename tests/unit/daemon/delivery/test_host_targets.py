"""The phases with real files: whatever the moment of a crash, each target holds one whole set."""

import errno
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from syncret.daemon.core.delivery.file_targets import ALONE, WantedTarget
from syncret.daemon.core.delivery.phases import (
    Outcome,
    Phase,
    Reason,
    Row,
    Steps,
    Wanted,
    advance,
    begin,
    turn,
)
from syncret.daemon.core.delivery.recovery import Found, recover
from syncret.daemon.delivery import targets
from syncret.daemon.delivery.host_targets import HostTargets
from syncret.daemon.delivery.paths import Refused

NOTHING = Steps()
MOST_CALLS = 200


def wanted(folder: Path, number: int) -> list[WantedTarget]:
    content = b"set %d" % number
    pair = {"server.pem": content, "server.key": content, f"only-{number}": content}
    common: dict[str, Any] = {"mode": 0o400, "folder_mode": 0o700, "owner": "", "group": "", "adopt": False}
    return [
        WantedTarget(path=f"{folder}/tls", layout="swap", files=pair, **common),
        WantedTarget(path=f"{folder}/deep/env", layout="file", files={ALONE: content}, **common),
        WantedTarget(path=f"{folder}/links", layout="links", files=pair, **common),
    ]


class Disk:
    """The state file: what it holds survives a crash."""

    def __init__(self, row: Row) -> None:
        self.row = row


def deliver(disk: Disk, host: HostTargets, *, healthy: bool = True, steps: Steps = NOTHING) -> None:
    """Carry the phases out, each durable before what it names begins."""
    while disk.row.phase not in (Phase.SETTLED, Phase.BROKEN):
        row = disk.row
        match row.phase:
            case Phase.STAGING:
                disk.row = advance(replace(row, staged=host.stage(row)), Outcome.DONE, steps)
            case Phase.SWAPPING:
                host.swap(row)
                disk.row = advance(row, Outcome.DONE, steps)
            case Phase.SWAPPED:
                disk.row = turn(row, None, steps)
            case Phase.VERIFYING:
                disk.row = advance(row, Outcome.DONE if healthy else Outcome.FAILED, steps)
            case Phase.ROLLING_BACK:
                host.swap_back(row)
                disk.row = advance(row, Outcome.DONE, steps)
            case _:
                raise AssertionError(row.phase)


def restart(disk: Disk, host: HostTargets) -> None:
    found = Found(boot="b", swapped=host.swapped(disk.row))
    if disk.row.phase in (Phase.SWAPPING, Phase.ROLLING_BACK):
        host.finish(disk.row)
    recovered = recover(disk.row, found, NOTHING)
    if recovered.discard:
        host.discard_staged()
    disk.row = recovered.row


def sets(folder: Path) -> list[set[bytes]]:
    """The contents that a reader finds in each target, which must all be of one set.

    A name that is new among links leads nowhere until its set is live.
    """
    tls = {path.read_bytes() for path in (folder / "tls").iterdir()}
    shown = [path for path in (folder / "links").iterdir() if not path.name.startswith("..")]
    links = {path.read_bytes() for path in shown if path.exists()}
    return [tls, {(folder / "deep" / "env").read_bytes()}, links]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "srv"
    path.mkdir(mode=0o755)
    return path


def first(folder: Path) -> Disk:
    disk = Disk(begin(Row(), Wanted(set="1"), 3))
    deliver(disk, HostTargets(wanted(folder, 1)))
    return disk


def test_a_first_set_goes_live(folder: Path) -> None:
    disk = first(folder)
    assert disk.row == Row(generation=1, live="1", reason=Reason.DELIVERED)
    assert sets(folder) == [{b"set 1"}] * 3
    assert HostTargets(wanted(folder, 1)).are_right()
    assert not HostTargets(wanted(folder, 2)).are_right()


def test_a_set_that_fails_goes_back(folder: Path) -> None:
    disk = first(folder)
    disk.row = begin(disk.row, Wanted(set="2"), 3)
    deliver(disk, HostTargets(wanted(folder, 2)), healthy=False)
    assert disk.row == Row(generation=1, live="1", rejected="2", reason=Reason.ROLLED_BACK)
    assert sets(folder) == [{b"set 1"}] * 3
    assert HostTargets(wanted(folder, 1)).are_right()


class Killed(BaseException):
    """The process ends here: nothing is cleaned up."""


CALLS: tuple[tuple[object, str], ...] = (
    *((os, name) for name in ("rename", "unlink", "rmdir", "mkdir", "symlink", "link", "fchmod", "fsync")),
    *((targets, name) for name in ("exchange", "rename_new")),
)


@pytest.fixture
def kill_at(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int], None]]:
    """Ends the process before call number N that changes a file; all calls after it fail, too."""

    def begin_at(number: int) -> None:
        count = iter(range(MOST_CALLS))
        for module, name in CALLS:
            real: Any = getattr(module, name)

            def call(*args: Any, _real: Any = real, **keywords: Any) -> Any:  # noqa: ANN401  # as the real one
                if next(count) >= number:
                    raise Killed
                return _real(*args, **keywords)

            monkeypatch.setattr(module, name, call)

    yield begin_at
    monkeypatch.undo()


@pytest.mark.slow  # one life for each call that changes a file
@pytest.mark.parametrize("healthy", [True, False], ids=["forward", "back"])
def test_a_crash_before_any_call_leaves_whole_sets_and_the_next_start_ends_what_was_begun(
    tmp_path: Path, kill_at: Callable[[int], None], monkeypatch: pytest.MonkeyPatch, *, healthy: bool
) -> None:
    crashes = 0
    for number in range(MOST_CALLS):
        folder = tmp_path / f"srv-{number}"
        folder.mkdir(mode=0o755)
        disk = first(folder)
        disk.row = begin(disk.row, Wanted(set="2"), 3)
        host = HostTargets(wanted(folder, 2))
        kill_at(number)
        try:
            deliver(disk, host, healthy=healthy)
        except Killed:
            crashes += 1
            ended = False
        else:
            ended = True
        monkeypatch.undo()
        assert all(len(each) == 1 for each in sets(folder)), f"torn at call {number}"

        restart(disk, host)
        if disk.row.phase is Phase.SETTLED and disk.row.live == "1" and not disk.row.rejected:
            disk.row = begin(disk.row, Wanted(set="2"), 3)
        deliver(disk, host, healthy=healthy)
        live = 2 if healthy else 1
        assert disk.row.live == str(live), f"call {number}"
        assert sets(folder) == [{b"set %d" % live}] * 3, f"call {number}"
        assert HostTargets(wanted(folder, live)).are_right(), f"call {number}"
        HostTargets(wanted(folder, live)).discard_previous()
        assert sorted(path.name for path in folder.iterdir()) == ["deep", "links", "tls"], f"call {number}"
        if ended:
            break
    assert 20 < crashes < MOST_CALLS


def test_what_cannot_be_staged_leaves_nothing_beside_it(folder: Path) -> None:
    disk = first(folder)
    (folder / "deep").chmod(0o777)
    with pytest.raises(Refused, match="deep is writable by everybody"):
        HostTargets(wanted(folder, 2)).stage(disk.row)
    assert sorted(path.name for path in folder.iterdir()) == ["deep", "links", "tls"]
    assert sets(folder) == [{b"set 1"}] * 3


def test_an_unknown_owner_is_named(folder: Path) -> None:
    targets_of_nobody = [replace(each, owner="no-such-user") for each in wanted(folder, 1)]
    with pytest.raises(Refused, match="there is no user no-such-user on this host"):
        HostTargets(targets_of_nobody).stage(Row())


@pytest.mark.parametrize(
    ("owner", "group", "problem", "hint"),
    [
        pytest.param("12345", "", "to user 12345", "deliver-as-root.conf", id="user"),
        pytest.param("", "12345", "to group 12345", "SupplementaryGroups=12345", id="group"),
        pytest.param(str(os.geteuid()), "12345", "to group 12345", "Suppl", id="its own user, another group"),
    ],
)
def test_files_that_may_not_be_given_away_are_told_with_the_remedy(
    folder: Path, monkeypatch: pytest.MonkeyPatch, owner: str, group: str, problem: str, hint: str
) -> None:
    def denied(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "fchown", denied)
    host = HostTargets([replace(wanted(folder, 1)[0], owner=owner, group=group)], fsync=False)
    with pytest.raises(Refused, match=f"the daemon has no right to give files {problem}") as refused:
        host.stage(begin(Row(), Wanted(set="new"), 1))
    assert hint in refused.value.hint
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        pytest.param(errno.EROFS, "ReadWritePaths=", id="EROFS"),
        pytest.param(errno.EACCES, "user", id="EACCES"),
    ],
)
def test_what_may_not_be_written_to_is_told_with_the_remedy(
    folder: Path, monkeypatch: pytest.MonkeyPatch, code: int, hint: str
) -> None:
    def denied(*_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "mkdir", denied)
    with pytest.raises(Refused, match=f"{folder}/tls: {os.strerror(code)}") as refused:
        HostTargets(wanted(folder, 1)[:1], fsync=False).stage(begin(Row(), Wanted(set="new"), 1))
    assert hint in refused.value.hint
