"""Every command that a page shows is one: the real parser takes it, flags and all; make targets exist."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from syncret.daemon.cli.parser.arguments import parser
from tests.suites.docs.pages import ROOT, every, pages

_PROMPT = re.compile(r"^(?:[$#] )(?P<line>.*)$", re.MULTILINE)
_INLINE = re.compile(r"`(?P<line>(?:\.venv/bin/)?syncret [^`]+)`")
_START = re.compile(r"^(?:[A-Z_]+=\S* )*(?:\.venv/bin/|/usr/bin/)?syncret(?= |$)")
_STOP = {"|", ">", ">>", "2>&1", "&", "&&", "||", ";"}


def _shown() -> Iterator[tuple[str, str]]:
    for block in every("console", "bash", "text"):
        for found in _PROMPT.finditer(block.text):
            yield str(block), found["line"]
    for page in pages():
        for found in _INLINE.finditer(page.read_text()):
            yield page.relative_to(ROOT).as_posix(), found["line"].replace("\n", " ")


def _arguments(line: str) -> list[str] | None:
    """The arguments of `syncret` up to a pipe or redirection; None for other commands."""
    if not _START.match(line):
        return None
    words = shlex.split(_START.sub("", line), comments=True)
    stop = next((place for place, word in enumerate(words) if word in _STOP), len(words))
    return words[:stop]


COMMANDS = sorted({(where, line) for where, line in _shown() if _arguments(line)})


def test_commands_are_found() -> None:
    assert {line.split()[1] for _, line in COMMANDS} >= {
        "run", "sync", "plan", "validate", "simulate", "status", "explain", "refresh",
    }  # fmt: skip


@pytest.mark.parametrize(("where", "line"), COMMANDS, ids=[f"{where} {line}" for where, line in COMMANDS])
def test_a_command_parses(where: str, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = _arguments(line) or []
    if len(arguments) == 1 and f"`{line}`" in (ROOT / where.partition(":")[0]).read_text():
        arguments.append("--help")  # a text names the command, and does not show how it is called
    try:
        parser().parse_args(arguments)
    except SystemExit as end:
        if end.code:  # --help ends with 0
            pytest.fail(f"{where}: {line}\n{capsys.readouterr().err}")


def _targets() -> set[str]:
    return set(re.findall(r"^([a-z0-9.-]+):.*?##", (ROOT / "Makefile").read_text(), re.MULTILINE))


def _targets_of(page: Path) -> set[str]:
    return set(re.findall(r"(?:`|^\$ )make ([a-z0-9.-]+)", page.read_text(), re.MULTILINE))


def test_make_targets_exist() -> None:
    known = _targets()

    assert [(page.name, target) for page in pages() for target in _targets_of(page) - known] == []


def test_contributing_names_every_make_target() -> None:
    assert _targets() - _targets_of(ROOT / "CONTRIBUTING.md") == set()


@pytest.mark.parametrize("page", pages(), ids=lambda page: Path(page).relative_to(ROOT).as_posix())
def test_links_of_files_lead_somewhere(page: Path) -> None:
    """The site's build checks the pages among themselves; a reader of the repository has files alone."""
    built = {
        "chart.md",
        "cli.md",
        "metrics.md",
        "providers.md",
        "secret-apis.md",
        "settings.md",
    }  # made when the site is built
    lost = [
        link
        for link in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text())
        if "://" not in link
        and not (page.parent / link).exists()
        and not (Path(link).name in built and "reference" in (page.parent / link).parts)
    ]

    assert lost == []
