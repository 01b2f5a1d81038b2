"""`syncret demo` as a newcomer has it: what it prints is there, what it says to try works, Ctrl-C ends it."""

import os
import re
import signal
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.real.e2e.process import SYNCRET, TIMEOUT, environment, until

pytestmark = pytest.mark.slow


@contextmanager
def demo(*folder: str, where: Path) -> Generator[tuple["subprocess.Popen[str]", str]]:
    """The demo, and what it printed up to its last line; killed at the end if it still runs."""
    path = f"{SYNCRET.parent}{os.pathsep}{os.environ['PATH']}"
    process = subprocess.Popen(
        [SYNCRET, "demo", *folder],
        cwd=where,
        env=environment(PATH=path),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    told = ""
    try:
        for line in process.stdout:
            told += line
            if line.startswith("Ctrl-C"):
                break
        yield process, told
    finally:
        if process.poll() is None:
            process.kill()
        process.stdout.close()
        process.wait()


@pytest.mark.parametrize("folder", [[], ["my demo"]], ids=["temporary", "named"])
def test_what_it_says_to_try_works(folder: list[str], tmp_path: Path) -> None:
    with demo(*folder, where=tmp_path) as (process, told):
        named = re.findall(r"^The demo is in (.*): manifests in", told, re.MULTILINE)
        place = tmp_path / named[0]
        banner = place / "secrets/default/banner/text"
        assert banner.read_text() == "hello from syncret"
        commands = re.findall(r"^  (\S.*)$", told, re.MULTILINE)
        assert len(commands) == 5
        for command in commands:
            done = subprocess.run(
                ["bash", "-c", command],
                cwd=tmp_path,
                env=environment(PATH=f"{SYNCRET.parent}{os.pathsep}{os.environ['PATH']}"),
                capture_output=True,
                text=True,
                check=False,
                timeout=TIMEOUT,
            )
            assert done.returncode == 0, (command, done.stdout, done.stderr)
        until(lambda: banner.read_text() == "welcome from syncret", "the new banner written")
        process.send_signal(signal.SIGINT)
        assert process.wait(TIMEOUT) == 0
    assert place.exists() == bool(folder)
    assert banner.exists() == bool(folder)
