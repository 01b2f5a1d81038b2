"""Splits a JSONPath into tokens, as Go's text/scanner does."""

import json
import re
from collections.abc import Iterator
from enum import Enum
from typing import Final, NamedTuple

from syncret.providers.errors import Malformed

LONGEST: Final = 10_000
"""The longest path, in characters."""


class Kind(Enum):
    """The kind of a token."""

    NAME = "name"
    NUMBER = "number"
    STRING = "string"
    SYMBOL = "symbol"
    END = "end"


class Token(NamedTuple):
    """One token. The `text` of a string is its content, unescaped."""

    kind: Kind
    text: str


END: Final = Token(Kind.END, "")

_TOKEN: Final = re.compile(
    r"\s*(?:(?P<name>[^\W\d]\w*)|(?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)"
    r'|(?P<string>"(?:[^"\\\n]|\\.)*"|`[^`]*`|\'(?:[^\'\\\n]|\\.)*\')'
    r"|(?P<symbol>==|!=|\S))"
)


def tokens(path: str) -> Iterator[Token]:
    """All tokens, without the end. Raises Malformed; no message quotes the path."""
    if len(path) > LONGEST:
        raise Malformed(f"the JSONPath is longer than {LONGEST} characters")
    position = 0
    while found := _TOKEN.match(path, position):
        position = found.end()
        kind = Kind(found.lastgroup)
        text = found[kind.value]
        yield Token(kind, _unquoted(text) if kind is Kind.STRING else text)


def _unquoted(text: str) -> str:
    if text[0] == "`":
        return text[1:-1]
    if text[0] == "'":
        text = '"' + text[1:-1].replace("\\'", "'").replace('"', '\\"') + '"'
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, str):
        raise Malformed("a string in the JSONPath has an escape that nobody knows")
    return value
