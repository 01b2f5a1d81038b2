"""`kill -9` at random moments of deliveries: no set torn, no reload lost, none repeated in silence.

`SYNCRET_KILLS` says how often; `SYNCRET_SEED` repeats a run's moments.
"""

import os
import random
import subprocess
import sys
import time
from collections.abc import Generator
from pathlib import Path
from typing import IO, Final

import pytest

from tests.real.crash.deliverer import KEYS, SHELL, delivery, manifest_of, write

KILLS: Final = int(os.environ.get("SYNCRET_KILLS", "25"))
SEED: Final = int(os.environ.get("SYNCRET_SEED", str(time.time_ns())))
BLOCK: Final = 50
"""Kills in one test: a test that takes minutes looks like one that hangs."""
WHOLE: Final = 2 * len(KEYS) + 1
ROOT: Final = Path(__file__).parents[3]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path(SHELL).exists(), reason=f"needs {SHELL}"),
]


class Lives:
    """One host, killed again and again, and what was found."""

    def __init__(self, folder: Path, process: "subprocess.Popen[str]") -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.folder = folder
        self._commands: IO[str] = process.stdin
        self._said: IO[str] = process.stdout
        self._chance = random.Random(SEED)  # noqa: S311  # moments, not keys
        self.kills = 0
        self.settled = 0
        self.repeated = 0

    def __str__(self) -> str:
        told = self.log()
        return (
            f"{self.kills} kills, {self.settled} sets settled, {len(told)} reloads, "
            f"{len(told) - len(set(told))} of them repeated, and told {self.repeated} times"
        )

    def log(self) -> list[str]:
        """The sets that were read at a reload, in order; a reader of a mixture fails here."""
        path = self.folder / "log"
        read = [line.split() for line in path.read_text().splitlines()] if path.exists() else []
        assert all(len(values) == WHOLE and len(set(values)) == 1 for values in read), "a mixture was read"
        return [values[0] for values in read]

    def sets(self) -> list[str]:
        """What each target holds: one value in all of its files, or something is torn."""
        found: list[str] = []
        for target in ("tls", "links"):
            folder = self.folder / target
            values = {name: (folder / name).read_text().strip() for name in KEYS if (folder / name).exists()}
            assert not values or (len(values) == len(KEYS) and len(set(values.values())) == 1), (
                target,
                values,
            )
            found.append(next(iter(values.values()), ""))
        one = self.folder / "one"
        return [*found, one.read_text().strip() if one.exists() else ""]

    def life(self) -> None:
        """Let it begin, kill it at some moment, and look at what is left."""
        before, live = self.log(), set(self.sets())
        self._commands.write("go\n")
        self._commands.flush()
        pid = int(self._line().removeprefix("life "))
        said: list[str] = []
        if self._chance.random() < 0.6:
            said.append(self._until_settled(said))
        time.sleep(self._chance.uniform(0, 0.12))
        os.kill(pid, 9)
        while (line := self._line()) != "dead":
            said.append(line)
        self.kills += 1
        self.judge(before, live, said)

    def judge(self, before: list[str], live: set[str], said: list[str]) -> None:
        """What must hold of a life and of what it left."""
        self.sets()
        told = self.log()
        assert told[: len(before)] == before
        repeated = said.count("repeated")
        doubles = len(told) - len(set(told)) - (len(before) - len(set(before)))
        assert doubles <= repeated, f"{doubles} reloads were repeated, and {repeated} told"
        settled = [line.split()[1:] for line in said if line.startswith("settled")]
        for value, reloads, staged in settled:
            assert reloads != "0", f"set {value} is live, and nobody was told"
            assert staged == "0", f"set {value} is live, and something is staged beside it"
        if settled and len(live) == 1:
            assert live <= {"", *told}, f"{live} was live, and its reload was forgotten"
        self.repeated += repeated
        self.settled += len(settled)

    def _until_settled(self, said: list[str]) -> str:
        while not (line := self._line()).startswith("settled"):
            assert line != "dead", "the victim died by itself"
            said.append(line)
        return line

    def _line(self) -> str:
        line = self._said.readline()
        assert line, "the victim died by itself"
        return line.strip()


@pytest.fixture(scope="module")
def lives(tmp_path_factory: pytest.TempPathFactory) -> Generator[Lives, None, None]:
    folder = tmp_path_factory.mktemp("deliveries")
    write(folder, manifest_of(1))
    write(folder, delivery(folder))
    command = [sys.executable, "-m", "tests.real.crash.deliverer", str(folder)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as process:
        try:
            yield Lives(folder, process)
        finally:
            process.kill()


@pytest.mark.parametrize("first", range(0, KILLS, BLOCK))
def test_kills_at_random_moments(lives: Lives, first: int, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(min(BLOCK, KILLS - first)):
        lives.life()
    if lives.kills == KILLS:
        with capsys.disabled():
            sys.stdout.write(f"\n{lives} (seed {SEED})\n")
        assert lives.settled
