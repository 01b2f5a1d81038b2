"""Manifests that are written slowly, emptied or deployed anew under a real daemon: nothing is lost."""

import random
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from tests.real.e2e.process import Daemon, daemon, files

pytestmark = pytest.mark.slow

FILES: Final = 6
EACH: Final = 5
ROUNDS: Final = 6
PASSWORD: Final = """apiVersion: generators.external-secrets.io/v1alpha1
kind: Password
metadata: {name: pw}
spec: {length: 24}
"""
ONCE: Final = """apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: %s}
spec:
  refreshPolicy: CreatedOnce
  dataFrom: [{sourceRef: {generatorRef: {kind: Password, name: pw}}}]
"""


class Deployment:
    """A folder of manifests, and what happens to it; each Secret's value is made once."""

    def __init__(self, folder: Path, chance: random.Random) -> None:
        self.folder, self.chance = folder, chance
        self.texts = {
            f"{file}.yaml": "---\n".join(
                [PASSWORD.replace("pw", f"pw{file}")]
                + [ONCE.replace("name: pw", f"name: pw{file}") % f"s{file}-{one}" for one in range(EACH)]
            )
            for file in range(FILES)
        }
        folder.mkdir()
        self.copied()

    def pause(self, longest: float = 1.5) -> None:
        time.sleep(self.chance.uniform(0.2, longest))

    def copied(self, longest: float = 0.0) -> None:
        """Every file, one after the other."""
        for name, text in self.texts.items():
            (self.folder / name).write_text(text)
            if longest:
                self.pause(longest)

    def emptied(self) -> None:
        """Some files are empty for a while."""
        for name in self.chance.sample(sorted(self.texts), self.chance.randint(1, FILES)):
            (self.folder / name).write_text("")
        self.pause()
        self.copied()

    def written_in_place(self) -> None:
        """One file is written document by document, by a writer that pauses."""
        name = self.chance.choice(sorted(self.texts))
        with (self.folder / name).open("w") as file:
            for document in self.texts[name].split("---\n"):
                file.write("---\n" + document)
                file.flush()
                self.pause(1.0)

    def made_anew(self) -> None:
        """The folder is removed and made again, and filled slowly."""
        shutil.rmtree(self.folder)
        self.folder.mkdir()
        self.pause()
        self.copied(0.4)

    def swept(self) -> None:
        """All files are removed and copied back."""
        for file in self.folder.iterdir():
            file.unlink()
        self.pause()
        self.copied()


def passwords(out: Path) -> dict[str, str]:
    return {path: text for path, text in files(out).items() if path.endswith("/password")}


def followed(running: Daemon, folder: Path, out: Path, number: int) -> None:
    """A new file is noticed; there is no scan for a long time, only events."""
    new = folder / f"new{number}.yaml"
    new.write_text(ONCE.replace("name: pw", "name: pw0") % f"new{number}")
    running.until((out / f"default/new{number}/password").exists, "a new file noticed")
    new.unlink()
    running.until(lambda: not (out / f"default/new{number}").exists(), "one removed file deleted at once")


@pytest.mark.parametrize("what", ["emptied", "written_in_place", "made_anew", "swept"])
def test_a_deployment_in_progress_loses_no_secret(tmp_path: Path, chance: random.Random, what: str) -> None:
    manifests, out = tmp_path / "manifests", tmp_path / "out"
    deployment = Deployment(manifests, chance)
    happens: Callable[[], None] = getattr(deployment, what)
    with daemon(tmp_path, manifests, "--set", "rescanInterval=10m") as running:
        before = passwords(out)
        assert len(before) == FILES * EACH
        for number in range(ROUNDS if what != "written_in_place" else 2):
            happens()
            assert passwords(out) == before
            running.until(lambda: running.metric("syncret_deletions_waiting") == 0, "everything back")
            followed(running, manifests, out, number)
            assert passwords(out) == before
        assert running.stop() == 0
