"""The man page, generated from the parser and the settings."""

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Final

from syncret.config.settings_table import describe
from syncret.daemon.cli.parser.arguments import DESCRIPTION, EPILOG
from syncret.daemon.cli.parser.completion import Command, Word, commands_of
from syncret.daemon.cli.parser.options import DEFAULTS

FILES: Final = (
    ("/etc/syncret/syncret.yaml", "The settings, if the service names this file with --config."),
    (DEFAULTS["socket"], "The control socket of the service, mode 0600."),
)
ENVIRONMENT: Final = (
    ("NO_COLOR", "If it is not empty: no colours."),
    ("TERM", "If it is dumb: no colours and no progress."),
    ("COLUMNS", "The width of the terminal, to which tables and messages are fitted; otherwise its own."),
)
"""Besides the variables of the settings."""


def man(parser: ArgumentParser, version: str) -> str:
    """The page in roff, the format of man pages."""
    return "\n".join(_lines(parser, version)) + "\n"


def _lines(parser: ArgumentParser, version: str) -> Iterator[str]:
    yield f'.TH SYNCRET 1 "" "syncret {version}"'
    yield from (".SH NAME", r"syncret \- keeps secrets in sync between secret managers and files")
    yield from (".SH SYNOPSIS", r".B syncret", r".I COMMAND", r"[\fIOPTION\fR]...")
    yield ".SH DESCRIPTION"
    yield from _paragraphs(DESCRIPTION)
    yield ".SH COMMANDS"
    for command in commands_of(parser):
        yield from _command(command)
    yield ".SH SETTINGS"
    yield from _paragraphs(
        "Defaults < settings file (--config) < environment < command line (--set NAME=VALUE, other flags), "
        "in all commands; outputDir and stateFile have no default in sync and plan. A variable that begins "
        "with SYNCRET_ and is no setting is an error, except those that Kubernetes sets for Services. A "
        "duration is written as 1h30m or as a number of seconds, a file mode in octal and in quotes."
    )
    for setting in describe():
        form = _text(f"{setting.syntax}, default {setting.default}")
        yield from (".TP", f"\\fB{_text(setting.name)}\\fR ({form})")
        meaning = f"{setting.meaning} Example: {setting.example}."
        yield from (_text(meaning), ".br", f"Environment: \\fB{setting.variable}\\fR")
    examples, _, codes = EPILOG.partition("exit codes:\n")
    yield from (".SH EXIT STATUS", ".nf", *map(_text, codes.strip("\n").splitlines()), ".fi")
    yield ".SH ENVIRONMENT"
    for name, text in ENVIRONMENT:
        yield from (".TP", f"\\fB{_text(name)}\\fR", _text(text))
    yield ".SH FILES"
    for path, text in FILES:
        yield from (".TP", f"\\fI{_text(path)}\\fR", _text(text))
    shown = [line for line in examples.splitlines() if line.startswith("  ")]
    yield from (".SH EXAMPLES", ".nf", *map(_text, shown), ".fi")
    yield from (".SH SEE ALSO", r"\fBsystemd\fR(1), \fBsystemd\-creds\fR(1)")


def _command(command: Command) -> Iterator[str]:
    usage = " ".join(f"\\fI{_text(word.metavar)}\\fR" for word in command.arguments)
    yield f".SS syncret {command.name} {usage}".rstrip()
    yield from _paragraphs(command.description)
    for word in command.arguments:
        yield from (".TP", f"\\fI{_text(word.metavar)}\\fR", _text(_sentence(word.text)))
    for flag in command.flags:
        if "--help" not in flag.spellings:
            yield from (".TP", _flag(flag), _text(_sentence(flag.text)))
    yield from (".PP", ".nf", *(_text(f"  {example}") for example in command.examples), ".fi")


def _flag(flag: Word) -> str:
    names = ", ".join(f"\\fB{_text(spelling)}\\fR" for spelling in flag.spellings)
    value = "|".join(flag.choices) or flag.metavar
    return f"{names} \\fI{_text(value)}\\fR" if flag.takes_value else names


def _paragraphs(text: str) -> Iterator[str]:
    """Paragraphs in roff; one with two spaces in a row is a table and keeps its lines."""
    for number, paragraph in enumerate(text.strip().split("\n\n")):
        if number:
            yield ".PP"
        if "  " in paragraph:
            yield from (".nf", *map(_text, paragraph.splitlines()), ".fi")
        else:
            yield _text(" ".join(paragraph.split()))


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _text(text: str) -> str:
    """Text with roff's special characters escaped."""
    safe = text.replace("\\", r"\e").replace("-", r"\-")
    return f"\\&{safe}" if safe.startswith((".", "'")) else safe
