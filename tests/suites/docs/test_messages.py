"""Messages that the pages explain exist: the longest fixed part of each is in the code."""

import re
from functools import lru_cache
from pathlib import Path
from typing import Final

import pytest

from tests.suites.docs.pages import ROOT, text_of

TROUBLESHOOTING: Final = "docs/guides/troubleshooting.md"
PROVIDERS: Final = [f"docs/providers/{page.name}" for page in sorted((ROOT / "docs/providers").glob("*.md"))]

_ROW: Final = re.compile(r"^\| (`.*?) \| ", re.MULTILINE)
_LITERAL: Final = re.compile(r"`([^`]+)`")
_VARIABLE: Final = re.compile(r"""\.\.\.|"[^"]*"|[()]|\d+|'app'|\bchef\b|: |\bX\b|\bT\b|\bNAME\b""")
"""What a page writes where the message has a name, a number or a remedy."""
_JOINED: Final = re.compile(r'"\s*\n\s*f?"')

NOT_LITERAL: Final = {
    "Too many levels of symbolic links",  # the system's own words
    "No such file or directory",
    "must match ^[-._a-zA-Z",  # put together of a rule and its bound
    "must have exactly",
    ", but not from Key Vault",  # put together of the message and the vendor's name
    ", but not from Secrets Manager",
    "could not get SecretStore",
    "did you mean ExternalSecret?",
    ".rep.googleapis.com has no address",  # a host, and what is said of any host
    "does not exist in data of secret",
    "must be a string, not an integer",
    "cannot list resource",  # the API server's own words
    "Unauthorized",
}


@lru_cache(maxsize=1)
def _code() -> str:
    files = (file for room in ("config", "providers", "daemon") for file in (ROOT / room).rglob("*.py"))
    return _JOINED.sub("", "\n".join(file.read_text() for file in files))


def _sections(page: str) -> str:
    """The parts of a page that explain messages."""
    titles = r"^## (?:Messages about [^\n]*|When it does not work)\n(.*?)(?=^## |\Z)"
    return "\n".join(re.findall(titles, text_of(page), re.MULTILINE | re.DOTALL))


def _fixed_parts(page: str) -> list[str]:
    """The longest fixed part of each message."""
    return [
        max((part.strip() for part in _VARIABLE.split(message)), key=len)
        for row in _ROW.findall(_sections(page))
        for message in _LITERAL.findall(row)
    ]


@pytest.mark.parametrize("page", [TROUBLESHOOTING, *PROVIDERS], ids=lambda page: Path(page).stem)
def test_messages_of_a_page_are_in_the_code(page: str) -> None:
    parts = _fixed_parts(page)

    assert parts
    assert [part for part in parts if part not in _code() and part not in NOT_LITERAL] == []
