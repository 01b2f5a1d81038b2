"""Readers that open a set as the documentation says, while it is replaced and the daemon is killed."""

import os
import random
import threading
import time
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Final

import pytest

from syncret.daemon.homes.filesystem.output.names import TEMPORARY
from tests.real.e2e.manifests import written
from tests.real.e2e.process import daemon, until
from tests.support.servers.small_vault import SmallVault, small_vault, vault_sets, vault_store

pytestmark = pytest.mark.slow

KILLS: Final = int(os.environ.get("SYNCRET_KILLS", "6"))
SETS: Final = 40
READERS: Final = 3
KEYS: Final = ("user", "password", "host", "port", "name")


class Reader(threading.Thread):
    """Reads sets again and again: each from one open folder, with a pause between two files."""

    def __init__(self, namespace: Path, chance: random.Random) -> None:
        super().__init__()
        self.seen: Counter[str] = Counter()
        self.ends = False
        self._namespace = namespace
        self._chance = random.Random(chance.random())  # noqa: S311  # moments, not keys

    def run(self) -> None:
        while not self.ends:
            self.seen[self._read(self._namespace / f"vault-{self._chance.randrange(SETS)}")] += 1

    def _read(self, path: Path) -> str:
        """What came of reading one set."""
        values: set[bytes] = set()
        try:
            folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError:
            time.sleep(0.01)
            return "no set yet"
        try:
            for key in self._chance.sample(KEYS, len(KEYS)):
                file = os.open(key, os.O_RDONLY, dir_fd=folder)
                values.add(os.read(file, 100))
                os.close(file)
                time.sleep(self._chance.choice((0, 0.001, 0.01)))
        except FileNotFoundError:
            return "start again"
        finally:
            os.close(folder)
        if b"" in values:
            return "torn"
        return "whole" if len(values) == 1 else "mixed"


def has_read(vault: SmallVault, times: int) -> bool:
    """Whether so many reads were answered."""
    return len(vault.reads) >= times


def test_a_set_is_read_whole_from_its_open_folder(
    tmp_path: Path, chance: random.Random, capsys: pytest.CaptureFixture[str]
) -> None:
    namespace = tmp_path / "out/default"
    with small_vault() as vault:
        sets = vault_sets("vault", SETS, "400ms")
        manifests = written(tmp_path / "manifests", store=vault_store(vault), sets=sets)
        readers = [Reader(namespace, chance) for _ in range(READERS)]
        for reader in readers:
            reader.start()
        try:
            for kill in range(KILLS):
                with daemon(tmp_path, manifests, ready=False) as process:
                    reads = len(vault.reads)
                    until(partial(has_read, vault, reads + 2 * SETS), "sets replaced")
                    time.sleep(chance.uniform(0, 1))
                    if kill == KILLS - 1:
                        assert process.stop() == 0
                    else:
                        process.process.kill()
        finally:
            for reader in readers:
                reader.ends = True
                reader.join()
    seen = sum((reader.seen for reader in readers), Counter[str]())
    with capsys.disabled():
        print(f"\n{KILLS} kills, {READERS} readers: {dict(seen)}")  # noqa: T201  # the figure
    assert seen["whole"] > 100 * KILLS
    assert not seen["torn"] + seen["mixed"]
    assert seen["start again"] < seen["whole"] / 100
    assert not [path for path in namespace.iterdir() if path.name.startswith(TEMPORARY)]
