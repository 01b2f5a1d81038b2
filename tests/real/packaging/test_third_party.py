"""The package of the guide, as its author has it: a wheel beside ours, in an environment of its own.

Nothing is downloaded: the libraries are those of the tests, on the path of the new environment.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.real.e2e.process import environment
from tests.suites.docs.pages import ROOT, blocks
from tests.support.debian import run
from tests.support.third_party import MANIFESTS
from tests.support.wheel import build_dist

pytestmark = pytest.mark.slow

PAGE = ROOT / "docs" / "guides" / "writing-a-provider.md"
LISTINGS = {block.title: block.text for block in blocks(PAGE, "python") if block.title}
SOURCE = ROOT / "examples" / "acme-syncret"


class Place:
    """An environment with both wheels, and a folder to work in."""

    def __init__(self, folder: Path, *wheels: Path) -> None:
        self.folder = folder / "work"
        self.folder.mkdir()
        self._bin = folder / "environment" / "bin"
        run(sys.executable, "-m", "venv", "--without-pip", self._bin.parent)
        pip = (sys.executable, "-m", "pip", "--python", self._bin / "python")
        run(*pip, "install", "--quiet", "--no-index", "--no-deps", *wheels)
        (self.packages,) = self._bin.parent.glob("lib/python3*/site-packages")
        # The folder alone: what its own .pth files add, such as this tree, is not on the path.
        (self.packages / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")

    def run(
        self, program: str, *arguments: str, env: Mapping[str, str] | None = None
    ) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [self._bin / program, *arguments],
            cwd=self.folder,
            env=environment(**(env or {})),
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    def daemon(self, *arguments: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [self._bin / "syncret", "run", *arguments],
            cwd=self.folder,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    folder = tmp_path_factory.mktemp("place")
    ours, _ = build_dist(folder / "dist")
    source = shutil.copytree(SOURCE, folder / "acme")  # a build writes into it
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", f"--outdir={folder}", source)
    (theirs,) = folder.glob("acme_syncret-*.whl")
    place = Place(folder, ours, theirs)
    shutil.copy(source / "test_directory.py", place.folder)
    entries = place.folder / "entries"
    entries.mkdir()
    (entries / "db").write_text('{"password": "correct horse"}')
    (place.folder / "all.yaml").write_text(MANIFESTS.format(folder=entries))
    return place


def test_the_guide_shows_these_files() -> None:
    shown = {title: text for title, text in LISTINGS.items() if (SOURCE / title).exists()}

    assert shown == {file.name: file.read_text() for file in SOURCE.glob("*.py")}
    project = (SOURCE / "pyproject.toml").read_text()
    assert [block for block in blocks(PAGE, "toml") if block.text not in project] == []


def test_what_runs_is_what_was_installed(place: Place) -> None:
    found = place.run("python", "-c", "import syncret.providers as ours; print(ours.__file__)").stdout
    assert Path(found).is_relative_to(place.packages)


def test_its_manifests_are_valid(place: Place) -> None:
    done = place.run("syncret", "validate", "-f", "all.yaml")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_both_are_listed(place: Place) -> None:
    done = place.run("syncret", "providers")
    assert done.returncode == 0, done.stderr
    assert re.search(r"^directory +yes +yes +- +- +yes +100$", done.stdout, re.MULTILINE)
    assert re.search(r"^Words +yes", done.stdout, re.MULTILINE)


def test_it_is_synced(place: Place) -> None:
    done = place.run("syncret", "sync", "-f", "all.yaml", "--output-dir", "out")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (place.folder / "out/default/db/password").read_text() == "correct horse"
    assert len((place.folder / "out/default/words/words").read_text().split()) == 2


def test_it_is_explained(place: Place) -> None:
    socket = os.fspath(place.folder / "control.sock")
    settings = ["--state", "state.db", "--socket", socket, "--listen", "", "--set", "logFormat=console"]
    process = place.daemon("-f", "all.yaml", "--output-dir", "run", *settings)
    try:
        assert process.stdout is not None
        assert any(line.startswith("ask it:") for line in process.stdout)
        done = place.run("syncret", "explain", "es/words", "--socket", socket)
        assert re.search(r"^words +Words/two ", done.stdout, re.MULTILINE), done.stdout + done.stderr
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


@pytest.mark.parametrize(
    "env",
    [
        pytest.param(
            {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": "-W error"}, id="pytest-alone"
        ),
        pytest.param({}, id="beside-plugins-that-are-not-configured"),
        pytest.param({"PYTEST_ADDOPTS": "--asyncio-mode=auto"}, id="beside-pytest-asyncio-in-auto-mode"),
    ],
)
def test_it_passes_the_suite(place: Place, env: Mapping[str, str]) -> None:
    done = place.run("python", "-m", "pytest", "-q", "test_directory.py", env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    counts = re.search(r"^(\d+) passed, (\d+) skipped in", done.stdout, re.MULTILINE)
    assert counts is not None, done.stdout
    assert int(counts[1]) >= 16


def test_a_failure_shows_its_values(place: Place) -> None:
    """The suite's assertions are rewritten, as those of a test are."""
    text = (
        (SOURCE / "test_directory.py")
        .read_text()
        .replace("write_bytes(entry.value)", 'write_bytes(b"other")')
    )
    (place.folder / "test_wrong.py").write_text(text)
    done = place.run("python", "-m", "pytest", "-q", "-k", "reads_a_value", "test_wrong.py")
    assert done.returncode == 1
    assert "b'other' == b'one'" in done.stdout


def test_it_is_one_line_when_it_is_broken(place: Place) -> None:
    module = place.packages / "acme_words.py"
    code = module.read_text()
    module.unlink()
    try:
        done = place.run("syncret", "providers")
    finally:
        module.write_text(code)
    assert done.returncode == 1
    assert done.stderr == (
        "syncret: generator 'Words' cannot be loaded from acme_words:GENERATOR of acme-syncret: "
        "No module named 'acme_words' (repair or uninstall acme-syncret)\n"
    )
