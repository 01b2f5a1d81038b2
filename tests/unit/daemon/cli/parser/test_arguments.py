"""Help that teaches, and usage errors that end with 2."""

import re
from argparse import ArgumentParser
from typing import cast

import pytest

from syncret.config.settings_table import describe
from syncret.daemon.cli.parser.arguments import parser
from syncret.daemon.cli.parser.completion import commands_of
from syncret.daemon.cli.parser.options import DEFAULTS

COMMANDS = [command.name for command in commands_of(parser())]
EXAMPLE = re.compile(r"^  (?:sudo )?syncret (.*?)(?:   .*)?$", re.MULTILINE)


def test_the_contract_of_commands() -> None:
    assert {"run", "sync", "plan", "validate", "simulate", "status", "explain", "refresh", "export"} <= set(
        COMMANDS
    )
    assert "providers" in COMMANDS


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parser().parse_args([command, "--help"])
    assert ended.value.code == 0
    text = capsys.readouterr().out
    assert "examples:" in text
    assert max(map(len, text.splitlines())) <= 90


@pytest.mark.parametrize("command", sorted({*COMMANDS} - {"providers", "export"}))
def test_every_command_says_how_it_ends(command: str) -> None:
    (told,) = [one.description for one in commands_of(parser()) if one.name == command]
    assert "Exit code " in told


def test_the_defaults_that_help_shows_are_those_of_the_settings() -> None:
    settings = {setting.name: setting.default for setting in describe()}
    assert {name: settings[name] for name in DEFAULTS} == DEFAULTS


def examples() -> list[str]:
    top = parser()
    texts = [top.epilog or ""]
    for action in top._actions:
        if action.dest == "command":
            commands = cast("dict[str, ArgumentParser]", action.choices)
            texts += [command.epilog or "" for command in commands.values()]
    return sorted({example for text in texts for example in EXAMPLE.findall(text)})


@pytest.mark.parametrize("example", examples())
def test_every_example_can_be_typed(example: str) -> None:
    parser().parse_args(example.partition(" > ")[0].split())


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param([], id="nothing"),
        pytest.param(["frobnicate"], id="unknown-command"),
        pytest.param(["sync", "-f", "x", "--out", "y"], id="abbreviated-flag"),
        pytest.param(["status", "-o", "yaml"], id="unknown-format"),
        pytest.param(["explain"], id="no-object"),
        pytest.param(["sync", "-f", ""], id="empty-path"),
        pytest.param(["sync", "-f", "x", "--output-dir", ""], id="empty-output"),
        pytest.param(["sync", "-f", "x", "--state", ""], id="empty-state"),
    ],
)
def test_wrong_usage_ends_with_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parser().parse_args(arguments)
    assert ended.value.code == 2
    assert "usage: syncret" in capsys.readouterr().err


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parser().parse_args(["--version"])
    assert ended.value.code == 0
    assert re.fullmatch(r"syncret \S+\n", capsys.readouterr().out)


def test_a_misspelt_flag_is_told_by_its_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parser().parse_args(["sync", "-f", "x", "--outputdir=y"])
    told = capsys.readouterr().err
    assert told.startswith("usage: syncret sync")
    assert told.endswith("unrecognized arguments: --outputdir=y (did you mean --output-dir?)\n")


def test_a_setting_that_is_no_flag_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parser().parse_args(["run", "--kubernetes", "--call-timeout=3s"])
    assert capsys.readouterr().err.endswith("(callTimeout is a setting: --set callTimeout=3s)\n")
