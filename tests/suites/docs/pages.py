"""Reads the pages of the documentation as a test needs them: their fenced blocks, in order."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parents[3]
_FENCE: Final = re.compile(
    r'^```(?P<language>[a-z0-9]+)(?: title="(?P<title>[^"]+)")?\n(?P<text>.*?)^```$', re.MULTILINE | re.DOTALL
)


class Block(NamedTuple):
    """One fenced block."""

    page: str
    line: int
    language: str
    title: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def pages() -> list[Path]:
    """Every page that is written by hand, and the one that is written from the models."""
    tops = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")]
    return [*tops, *sorted((ROOT / "docs").rglob("*.md"))]


def text_of(page: str) -> str:
    return (ROOT / page).read_text()


def blocks(page: Path, *languages: str) -> Iterator[Block]:
    """The blocks of a page in some languages; in all of them where none is named."""
    text = page.read_text()
    name = page.relative_to(ROOT).as_posix()
    for found in _FENCE.finditer(text):
        if not languages or found["language"] in languages:
            line = text.count("\n", 0, found.start()) + 1
            yield Block(name, line, found["language"], found["title"] or "", found["text"])


def every(*languages: str) -> list[Block]:
    """The blocks of all pages."""
    return [block for page in pages() for block in blocks(page, *languages)]
