"""What commands print about hostile names and messages fits the terminal, and steers it in no way."""

import asyncio
import json
import os
import subprocess
import sys
import unicodedata
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Final

import pytest

from syncret.config.meta import Document
from syncret.config.text.yaml import to_yaml
from syncret.daemon.cli.main import main
from syncret.daemon.ops.control import control_service
from syncret.daemon.ops.view import View
from tests.support.terminals import Terminal, terminal
from tests.unit.daemon.ops.objects import Apply, external_secret, serving, store

WIDTHS: Final = pytest.mark.parametrize("width", [80, 200])
LONG: Final = "payments-" + "a-name-that-never-ends-" * 10 + "db"
STEERING: Final = "\x1b[2J\x1b]0;title\x07\x9b31m\r\n\t\u202e\u200b"
"""Clears the screen, sets the title, colours by a C1 control, moves the cursor, reverses and hides text."""
REMOTE: Final = f"team/{STEERING}密码🔑e\u0301/{'path-without-an-end/' * 40}"
FIND: Final = {"name": {"regexp": "^" + "(alpha|beta|gamma)" * 12}}


def objects() -> list[Document]:
    """A store, and objects that succeed and fail, with names and messages of any length."""
    return [
        store(database="x", alphabetagamma="y"),
        external_secret(),
        external_secret(LONG),
        external_secret("lost", key=REMOTE),
        external_secret(LONG[:-2] + "lost", key=REMOTE),
        external_secret("found", data=[], dataFrom=[{"find": FIND}]),
        external_secret("stray", secretStoreRef={"name": LONG}),
    ]


@pytest.fixture
def manifests(tmp_path: Path) -> Path:
    """The same as files, deep in folders, and documents that are refused."""
    folder = tmp_path / ("a-folder-with-a-name-of-some-length/" * 4)
    folder.mkdir(parents=True)
    (folder / "all.yaml").write_text("".join(f"---\n{to_yaml(each)}" for each in objects()))
    wrong = external_secret("wrong", refreshInterval=f"1 day {STEERING}")
    wrong["spec"][f"unknown{STEERING}密码" * 20] = 1
    (folder / "wrong 密码.yaml").write_text(to_yaml(wrong))
    return folder


def columns_of(line: str) -> int:
    """How many columns a terminal needs for it, counted without the code under test."""
    wide = sum(unicodedata.east_asian_width(each) in {"W", "F"} for each in line)
    marks = sum(unicodedata.category(each) in {"Mn", "Me"} for each in line)
    return len(line) + wide - marks


def check(screen: Terminal) -> None:
    """No line is wider than the terminal, and nothing but colours of ours gets to it."""
    assert controls(screen.text) <= {"\n"}
    assert screen.text.strip()
    assert max(map(columns_of, screen.text.splitlines())) <= screen.columns


def controls(text: str) -> set[str]:
    """What steers a terminal, or hides text on it."""
    return {each for each in text if unicodedata.category(each) in {"Cc", "Cf"}}


@pytest.fixture
def on_terminal(monkeypatch: pytest.MonkeyPatch) -> "Opened":
    """Both outputs are a terminal of that width, which is checked at the end."""
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("COLUMNS", raising=False)

    @contextmanager
    def opened(width: int) -> Generator[Terminal]:
        with terminal(width) as screen, monkeypatch.context() as patch:
            patch.setattr("sys.stdout", screen.stream)
            patch.setattr("sys.stderr", screen.stream)
            yield screen
        check(screen)

    return opened


Opened = Callable[[int], AbstractContextManager[Terminal]]


@WIDTHS
@pytest.mark.parametrize(
    "command",
    [
        ["status"],
        ["status", "-o", "wide"],
        ["explain", "es/lost"],
        ["explain", f"es/{LONG}"],
        ["explain", "es/found"],
        ["explain", "ss/demo"],
        ["explain", f"es/{LONG}{LONG}"],
        ["refresh", f"es/{LONG}"],
    ],
    ids=lambda words: " ".join(words).replace(LONG, "LONG"),
)
async def test_commands_that_ask_the_daemon(
    command: list[str], width: int, view: View, apply: Apply, on_terminal: Opened
) -> None:
    await apply(*objects())
    async with serving(control_service, view):
        with on_terminal(width) as screen:
            await asyncio.to_thread(main, [*command, "--socket", view.settings.socket])
    if command == ["status"]:
        assert "\x1b[1;31mNO\x1b[0m" in screen.raw


async def test_json_has_all_of_it_and_steers_no_terminal(
    view: View, apply: Apply, capsys: pytest.CaptureFixture[str]
) -> None:
    await apply(*objects())
    async with serving(control_service, view):
        await asyncio.to_thread(main, ["status", "-o", "json", "--socket", view.settings.socket])
    out = capsys.readouterr().out
    (lost,) = (each for each in json.loads(out)["objects"] if each["name"] == "lost")
    assert STEERING in lost["lastFailure"]["message"]
    assert controls(out) == {"\n"}


@WIDTHS
@pytest.mark.parametrize(
    "command",
    [["sync"], ["sync", "-o", "wide"], ["plan"], ["validate"]],
    ids=" ".join,
)
def test_commands_that_read_manifests(
    command: list[str], width: int, manifests: Path, on_terminal: Opened
) -> None:
    with on_terminal(width) as screen:
        assert main([*command, "-f", os.fspath(manifests)]) == 2
    assert "密码" in screen.text


@WIDTHS
def test_a_process_of_its_own_on_a_terminal(width: int, manifests: Path) -> None:
    code = "import sys; from syncret.daemon.cli.main import main; sys.exit(main())"
    environ = {**os.environ, "TERM": "xterm-256color", "NO_COLOR": "", "LC_ALL": "C"}
    environ.pop("COLUMNS", None)
    with terminal(width) as screen:
        done = subprocess.run(
            [sys.executable, "-c", code, "sync", "-f", os.fspath(manifests)],
            stdout=screen.stream,
            stderr=subprocess.PIPE,
            env=environ,
            check=False,
        )
    assert done.returncode == 2
    check(screen)
    assert "…" in screen.text
    assert "\x1b[1;31mNO\x1b[0m" in screen.raw
    assert b"\x1b" not in done.stderr


def test_an_object_is_one_whole_line_where_the_output_is_no_terminal(
    manifests: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sync", "-f", os.fspath(manifests)]) == 2
    out, err = capsys.readouterr()
    rows = [line for line in out.splitlines() if line.startswith("ExternalSecret ")]
    assert len(rows) == 6
    assert any(line.count("path-without-an-end/") == 40 for line in rows)
    assert "…" not in out
    assert "\x1b" not in out + err
