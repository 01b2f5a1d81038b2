"""Pages that lead through something do so: files are written, commands run, in order, as by a reader."""

import difflib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.suites.docs.pages import ROOT, Block, blocks

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        shutil.which("bash") is None or shutil.which("curl") is None, reason="needs bash, curl"
    ),
]

DEADLINE = 60.0
DAEMONS = ("syncret demo", "syncret run ")
MASKS = (
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ|\d\d:\d\d:\d\dZ", "<time>"),
    (r"\b[A-Z][a-z]{2} +\d{1,2} \d\d:\d\d", "<date>"),
    (r"\b\d+(\.\d+)? ?(s|m|h)\b", "<span>"),
    (r"\S*/syncret-demo-\w{8}", "<folder>"),
    (r"127\.0\.0\.1:\d+", "<address>"),
    (r"^(-rw[-rwx]+) 1 \S+ +\S+ +", r"\1 "),
    (r"^total \d+$", "total"),
    (r" +", " "),
)
"""What differs from run to run."""


class Command(NamedTuple):
    """One command of a page, and what the page says that it prints."""

    block: Block
    line: str
    expected: tuple[str, ...]


def _commands(page: str) -> Iterator[Command | Block]:
    """Files to write and commands to run, in the order of the page."""
    for block in blocks(ROOT / page):
        if block.title.endswith(".yaml"):
            yield block
        elif block.language == "console" and not block.text.startswith("$ make"):
            for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
                line, *expected = part.splitlines()
                if not line.startswith("pipx"):
                    yield Command(block, line, tuple(expected))


class Reader:
    """Somebody who types what a page says, in an empty folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port = str(free.getsockname()[1])
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        self._environment = {**os.environ, "PATH": path, "SYNCRET_LOG_FORMAT": "console", "LC_ALL": "C"}
        self._daemon: subprocess.Popen[str] | None = None

    def follow(self, page: str) -> None:
        """Write its files, run its commands, compare what they print."""
        for each in _commands(page):
            if isinstance(each, Block):
                file = self._folder / each.title
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(each.text)
                continue
            told = self._start(each) if each.line.startswith(DAEMONS) else self._run(each)
            if each.expected == ("...",):
                continue
            expected = [_masked(line) for line in each.expected]
            here = f"{self._folder}/"
            found = [_masked(line.replace(self._port, "9847").replace(here, "/home/you/")) for line in told]
            if expected[:1] == ["..."]:
                expected, found = expected[1:], found[-len(expected) + 1 :]
            if expected[-1:] == ["..."]:
                expected = expected[:-1]
            assert found == expected, "\n".join(
                [f"{each.block}: $ {each.line}", *difflib.unified_diff(expected, found, "page", "run")]
            )

    def stop(self) -> int | None:
        """Press Ctrl-C, if a daemon is running; its exit code."""
        if self._daemon is None:
            return None
        self._daemon.send_signal(signal.SIGINT)
        try:
            return self._daemon.wait(DEADLINE)
        finally:
            with suppress(ProcessLookupError):
                self._daemon.kill()
            if self._daemon.stdout is not None:
                self._daemon.stdout.close()

    def _line(self, command: Command) -> str:
        return command.line.replace("9847", self._port)

    def _run(self, command: Command) -> list[str]:
        done = subprocess.run(
            ["bash", "-c", self._line(command)],
            cwd=self._folder,
            env=self._environment,
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=DEADLINE,
        )
        return done.stdout.splitlines()

    def _start(self, command: Command) -> list[str]:
        assert self.stop() in {None, 0}
        self._daemon = subprocess.Popen(
            ["bash", "-c", f"exec {self._line(command)}"],
            cwd=self._folder,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self._daemon.stdout is not None
        told: list[str] = []
        for line in self._daemon.stdout:
            told.append(line.rstrip("\n"))
            if line.startswith("ask it:"):
                break
        return told


def _masked(line: str) -> str:
    for pattern, stand_in in MASKS:
        line = re.sub(pattern, stand_in, line)
    return line.rstrip()


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Reader]:
    reader = Reader(tmp_path)
    yield reader
    assert reader.stop() in {None, 0}


@pytest.mark.parametrize(
    "pages",
    [
        pytest.param(["README.md"], id="readme"),
        pytest.param(["docs/getting-started.md"], id="getting started"),
        pytest.param(["docs/guides/exec.md"], id="exec"),
        pytest.param(["docs/guides/sensitive.md"], id="sensitive by type"),
        pytest.param(["docs/guides/sensitive-scenarios.md"], id="sensitive by type: scenarios"),
        pytest.param(["README.md", "docs/concepts/files.md"], id="files, after the readme"),
        pytest.param(["README.md", "docs/guides/monitoring.md"], id="monitoring, after the readme"),
    ],
)
def test_what_the_page_shows_is_what_happens(pages: list[str], reader: Reader) -> None:
    for page in pages:
        reader.follow(page)
