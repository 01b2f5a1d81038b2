"""Somebody swaps something on the way of a delivery, before any of its calls: no victim is written to."""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from syncret.daemon.core.delivery.file_targets import ALONE, WantedTarget
from syncret.daemon.core.delivery.phases import Row
from syncret.daemon.delivery import targets
from syncret.daemon.delivery.host_targets import HostTargets
from syncret.daemon.delivery.paths import Moved, Refused

pytestmark = pytest.mark.slow  # one delivery for every other call that looks at files

SECRET = b"the new set"
MOST_CALLS = 400
CALLS: tuple[tuple[object, str], ...] = (
    *((os, name) for name in ("open", "stat", "mkdir", "rename", "unlink", "rmdir", "symlink", "link")),
    *((os, name) for name in ("fchmod", "listdir", "readlink")),
    *((targets, name) for name in ("exchange", "rename_new")),
)


class Ground(NamedTuple):
    """Where it happens: the folder of the target, the target, and what an attacker wants to have written."""

    folder: Path
    target: Path
    victim: Path
    stash: Path

    @property
    def staged(self) -> Path:
        return self.folder / "..syncret-next.tls"

    @property
    def previous(self) -> Path:
        return self.folder / "..syncret-old.tls"

    def take_away(self, path: Path) -> None:
        if os.path.lexists(path):
            path.rename(self.stash / path.name)

    def link(self, path: Path, to: Path) -> None:
        self.take_away(path)
        path.symlink_to(to)


def victim_of(ground: Ground, layout: str) -> Path:
    """A victim of the sort that the target is."""
    return ground.victim / "server.pem" if layout == "file" else ground.victim


def moved_away(ground: Ground, _layout: str) -> None:
    ground.take_away(ground.folder)
    ground.folder.mkdir(mode=0o755)


def fifo(path: Path, ground: Ground) -> None:
    ground.take_away(path)
    os.mkfifo(path)


def hard_link(ground: Ground, layout: str) -> None:
    if layout == "file":
        ground.take_away(ground.target)
        os.link(ground.victim / "server.pem", ground.target)
    else:
        name = ground.target / "server.pem" if layout == "swap" else ground.target / "..g1" / "server.pem"
        name.unlink(missing_ok=True)
        if name.parent.is_dir():
            os.link(ground.victim / "server.pem", name)


def folder_of_others(ground: Ground, _layout: str) -> None:
    ground.take_away(ground.target)
    ground.target.mkdir()
    (ground.target / "deep").symlink_to(ground.victim)


ATTACKS: dict[str, Callable[[Ground, str], object]] = {
    "parent is a link": lambda ground, _: ground.link(ground.folder, ground.victim),
    "parent is moved away": moved_away,
    "parent is a FIFO": lambda ground, _: fifo(ground.folder, ground),
    "parent is open to all": lambda ground, _: ground.folder.chmod(0o777),
    "target is a link": lambda ground, layout: ground.link(ground.target, victim_of(ground, layout)),
    "target is a FIFO": lambda ground, _: fifo(ground.target, ground),
    "target is a folder with a link": folder_of_others,
    "target is a hard link": hard_link,
    "the staged name is a link": lambda ground, layout: ground.link(ground.staged, victim_of(ground, layout)),
    "the name of the set before is a link": lambda ground, layout: ground.link(
        ground.previous, victim_of(ground, layout)
    ),
    "data is a link": lambda ground, _: ground.link(ground.target / "..data", ground.victim),
}
CASES = [
    (attack, layout)
    for attack in ATTACKS
    for layout in ("swap", "links", "file")
    if layout == "links" or attack != "data is a link"
]


@pytest.fixture
def before_call(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int, Callable[[], object]], None]]:
    """Does something before call number N, once."""

    def arm(number: int, work: Callable[[], object]) -> None:
        calls = iter(range(MOST_CALLS))
        for module, name in CALLS:
            real: Any = getattr(module, name)

            def call(*args: Any, _real: Any = real, **keywords: Any) -> Any:  # noqa: ANN401  # as the real one
                if next(calls) == number:
                    monkeypatch.undo()
                    work()
                return _real(*args, **keywords)

            monkeypatch.setattr(module, name, call)

    yield arm
    monkeypatch.undo()


def wanted(ground: Ground, layout: str, content: bytes) -> WantedTarget:
    files = {ALONE: content} if layout == "file" else {"server.pem": content, "server.key": content}
    return WantedTarget(
        path=str(ground.target),
        layout=layout,  # type: ignore[arg-type]  # one of them
        files=files,
        mode=0o400,
        folder_mode=0o700,
        owner="",
        group="",
        adopt=False,
    )


def deliver(ground: Ground, layout: str, content: bytes, row: Row) -> Row:
    host = HostTargets([wanted(ground, layout, content)], fsync=False)
    staged = Row(generation=row.generation, live=row.live, coming="new", staged=host.stage(row), targets=1)
    host.swap(staged)
    host.discard_previous()
    return Row(generation=row.generation + 1, live="new")


def made(folder: Path) -> Ground:
    ground = Ground(folder / "srv", folder / "srv" / "tls", folder / "victim", folder / "stash")
    for each in (ground.folder, ground.victim, ground.stash):
        each.mkdir(mode=0o755, parents=True)
    for name in ("server.pem", "server.key", "tls", "..syncret-next.tls", "..syncret-old.tls"):
        (ground.victim / name).write_bytes(b"precious")
        (ground.victim / name).chmod(0o640)
    return ground


def face(folder: Path) -> dict[str, tuple[bytes, int, int]]:
    """What an attacker would want to see changed; the number of names is the attacker's own doing."""
    return {
        each.name: (each.read_bytes(), stat.S_IMODE(each.stat().st_mode), each.stat().st_ino)
        for each in folder.iterdir()
    }


@pytest.mark.parametrize(("attack", "layout"), CASES)
def test_whatever_is_swapped_between_two_calls_no_victim_is_touched(
    tmp_path: Path,
    before_call: Callable[[int, Callable[[], object]], None],
    monkeypatch: pytest.MonkeyPatch,
    attack: str,
    layout: str,
) -> None:
    number = 0
    for number in count(step=2):
        ground = made(tmp_path / str(number))
        row = deliver(ground, layout, b"the old set", Row())
        untouched = face(ground.victim)
        fired = False

        def strike(ground: Ground = ground) -> None:
            nonlocal fired
            fired = True
            ATTACKS[attack](ground, layout)

        before_call(number, strike)
        with suppress(Refused, Moved, OSError):  # told, and tried again
            deliver(ground, layout, SECRET, row)
        monkeypatch.undo()
        assert face(ground.victim) == untouched, f"before call {number}"
        if not fired:
            break
    assert 10 < number < MOST_CALLS


@pytest.mark.parametrize("layout", ["swap", "links", "file"])
def test_without_an_attack_all_is_delivered(tmp_path: Path, layout: str) -> None:
    ground = made(tmp_path)
    deliver(ground, layout, SECRET, deliver(ground, layout, b"the old set", Row()))
    live = ground.target if layout == "file" else ground.target / "server.pem"
    assert live.read_bytes() == SECRET
