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
from pathlib import Path

import msgspec
import pytest

from syncret.config.meta import Document
from syncret.daemon.backends.filesystem.names import TEMPORARY
from syncret.daemon.backends.filesystem.records import Record, unpack
from syncret.daemon.backends.filesystem.state_file import read_state
from tests.crash.victim import KEYS, OBJECTS, OWNER, content, home_of, resource, secret, write_manifests

KILLS = int(os.environ.get("SYNCRET_KILLS", "20"))
SEED = int(os.environ.get("SYNCRET_SEED", str(time.time_ns())))
FAULTS = ("torn", "half owned", "lost set", "lost status", "unknown")
ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.slow


def life(folder: Path, chance: random.Random) -> dict[int, int]:
    """Let the victim live for a moment and kill it; returns the newest acknowledged round of each object."""
    fsync = chance.choice(["fsync", "no-fsync"])
    victim = subprocess.Popen(
        [sys.executable, "-m", "tests.crash.victim", str(folder), fsync], stdout=subprocess.PIPE, cwd=ROOT
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
    rows = {ref: unpack(row) for ref, row in read_state(str(folder / "state.db"))}
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


async def after(folder: Path, acknowledged: dict[int, int]) -> None:
    """The next start finds everything, and leaves no trace of the crashes."""
    async with home_of(folder, fsync=False) as home:
        for index, number in acknowledged.items():
            stored, written = await home.get(resource(index)), await home.get(secret(index))
            assert stored is not None
            assert written is not None
            assert stored.document["status"]["round"] >= number
            assert len(written.document["data"]) == len(KEYS)
    assert not [path for path in (folder / "out").rglob("*") if path.name.startswith(TEMPORARY)]


def test_kills_at_random_moments(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chance = random.Random(SEED)  # noqa: S311  # moments, not keys
    write_manifests(tmp_path)
    acknowledged: dict[int, int] = {}
    total: Counter[str] = Counter()
    acknowledgements = 0
    for _ in range(KILLS):
        said = life(tmp_path, chance)
        acknowledgements += len(said)
        acknowledged |= said
        total += survey(tmp_path, acknowledged)
    asyncio.run(after(tmp_path, acknowledged))
    figures = ", ".join(f"{total[fault]} {fault}" for fault in FAULTS)
    with capsys.disabled():
        sys.stdout.write(
            f"\n{KILLS} kills, {OBJECTS} objects, {acknowledgements} acknowledged writes: {figures}; "
        )
        sys.stdout.write(f"{total['swept later']} leftovers swept by the next start (seed {SEED})\n")
    assert acknowledgements > 0
    assert not any(total[fault] for fault in FAULTS)
