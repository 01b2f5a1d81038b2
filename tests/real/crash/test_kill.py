"""`kill -9` at random moments of a host home that syncs a thousand objects: nothing torn, nothing lost.

`SYNCRET_KILLS` says how often; `SYNCRET_SEED` repeats a run's moments.
"""

import asyncio
import os
import random
import stat
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import pytest

from syncret.config.meta import Document
from syncret.daemon.homes.filesystem.output.names import TEMPORARY
from syncret.daemon.homes.filesystem.state.database import read_state
from syncret.daemon.homes.filesystem.state.rows import Record, is_file, unpack
from tests.real.crash.victim import KEYS, OBJECTS, OWNER, content, home_of, resource, secret, write_manifests

KILLS = int(os.environ.get("SYNCRET_KILLS", "20"))
SEED = int(os.environ.get("SYNCRET_SEED", str(time.time_ns())))
BLOCK = 20  # kills in one test: a test that takes minutes looks like one that hangs
FAULTS = ("torn", "half owned", "lost set", "lost status", "unknown")
ROOT = Path(__file__).parents[3]

pytestmark = pytest.mark.slow


def life(folder: Path, chance: random.Random) -> dict[int, int]:
    """Let the victim live for a moment and kill it; returns the newest acknowledged round of each object."""
    fsync = chance.choice(["fsync", "no-fsync"])
    victim = subprocess.Popen(
        [sys.executable, "-m", "tests.real.crash.victim", str(folder), fsync],
        stdout=subprocess.PIPE,
        cwd=ROOT,
    )
    with victim:
        assert victim.stdout is not None
        if chance.random() < 0.1:
            time.sleep(chance.uniform(0.1, 1.5))  # while it starts
        else:
            assert victim.stdout.readline() == b"ready\n"
            time.sleep(chance.uniform(0, 0.5))
        assert victim.poll() is None, "the victim died by itself"
        victim.kill()
        said = victim.stdout.read()
    acknowledged: dict[int, int] = {}
    for line in said.splitlines():
        if line != b"ready":
            index, number = map(int, line.split())
            acknowledged[index] = number
    return acknowledged


def wrong_with(folder: Path) -> str:
    """What is wrong with a Secret's folder, if anything."""
    status = folder.stat()
    if stat.S_IMODE(status.st_mode) != 0o700 or OWNER not in {None, status.st_uid}:
        return "half owned"
    numbers: set[int] = set()
    if sorted(path.name for path in folder.iterdir()) != sorted(KEYS):
        return "torn"
    for key in KEYS:
        status = (folder / key).stat()
        if stat.S_IMODE(status.st_mode) != 0o600 or OWNER not in {None, status.st_uid}:
            return "half owned"
        data = (folder / key).read_bytes()
        number = int(data.split(maxsplit=1)[0] or b"0") if data else 0
        if data != content(key, number):
            return "torn"
        numbers.add(number)
    return "torn" if len(numbers) != 1 else ""


def round_in(folder: Path) -> int:
    return int((folder / "user").read_bytes().split(maxsplit=1)[0])


def _round_of(row: Record) -> int:
    document: Document = msgspec.json.decode(row.document)
    number: int = document.get("status", {}).get("round", 0)
    return number


def survey(folder: Path, acknowledged: dict[int, int]) -> Counter[str]:
    """Count what a crash left wrong."""
    found: Counter[str] = Counter()
    rows = {ref: unpack(row) for ref, row in read_state(str(folder / "state.db")).rows if not is_file(ref)}
    namespace = folder / "out/default"
    for path in namespace.iterdir() if namespace.is_dir() else ():
        if path.name.startswith(TEMPORARY):
            found["swept later"] += 1
            continue
        if fault := wrong_with(path):
            found[fault] += 1
        if secret(int(path.name[1:])) not in rows:
            found["unknown"] += 1
    for index, number in acknowledged.items():
        row = rows.get(resource(index))
        if row is None or _round_of(row) < number:
            found["lost status"] += 1
        if not (namespace / f"s{index}").is_dir() or round_in(namespace / f"s{index}") < number:
            found["lost set"] += 1
    return found


async def verify(folder: Path, acknowledged: dict[int, int]) -> None:
    """The next start finds everything, and leaves no trace of the crashes."""
    async with home_of(folder, fsync=False) as home:
        for index, number in acknowledged.items():
            stored, written = await home.get(resource(index)), await home.get(secret(index))
            assert stored is not None
            assert written is not None
            assert stored.document["status"]["round"] >= number
            assert len(written.document["data"]) == len(KEYS)
    assert not [path for path in (folder / "out").rglob("*") if path.name.startswith(TEMPORARY)]


@dataclass
class Lives:
    """One home, killed again and again, and what was found wrong so far."""

    folder: Path
    chance: random.Random
    acknowledged: dict[int, int] = field(default_factory=dict[int, int])
    kills: int = 0
    writes: int = 0
    total: Counter[str] = field(default_factory=Counter[str])

    def __str__(self) -> str:
        figures = ", ".join(f"{self.total[fault]} {fault}" for fault in FAULTS)
        swept = f"{self.total['swept later']} leftovers swept by the next start"
        return f"{self.kills} kills, {OBJECTS} objects, {self.writes} acknowledged writes: {figures}; {swept}"


@pytest.fixture(scope="module")
def lives(tmp_path_factory: pytest.TempPathFactory) -> Generator[Lives, None, None]:
    folder = tmp_path_factory.mktemp("lives")
    write_manifests(folder)
    lives = Lives(folder, random.Random(SEED))  # noqa: S311  # moments, not keys
    yield lives
    assert lives.writes > 0


@pytest.mark.parametrize("first", range(0, KILLS, BLOCK))
def test_kills_at_random_moments(lives: Lives, first: int, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(min(BLOCK, KILLS - first)):
        said = life(lives.folder, lives.chance)
        lives.kills += 1
        lives.writes += len(said)
        lives.acknowledged |= said
        lives.total += survey(lives.folder, lives.acknowledged)
    asyncio.run(verify(lives.folder, lives.acknowledged))
    if lives.kills == KILLS:
        with capsys.disabled():
            sys.stdout.write(f"\n{lives} (seed {SEED})\n")
    assert not any(lives.total[fault] for fault in FAULTS)
