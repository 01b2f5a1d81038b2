"""Regular expressions from users, with the syntax, the matches and the replacements of Go's `regexp`.

RE2 runs in linear time whatever the pattern, and Go's package is its twin; what differs is how replacements
are written (`$1`, `${1}x`, `$name`, `$$`) and which empty matches count.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

import re2

from syncret.providers.errors import Malformed

_REFERENCE: Final = re2.compile(r"\$(?:(\$)|([\pL\p{Nd}_]+)|\{([\pL\p{Nd}_]+)\})")
"""What Go's Expand reads after a dollar sign; any other dollar sign stands for itself."""

_ESCAPE: Final = re.compile(r"\\Q.*?(?:\\E|\Z)|\\(.)", re.DOTALL)
"""Quoted text, or one escape."""

_STRAY: Final = re.compile("[\ud800-\udfff]")
_NUMBER: Final = re.compile(r"0|[1-9][0-9]{0,8}")


class PatternError(Malformed):
    """The expression is none. `reason` is RE2's, and holds at most a part of the pattern."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"failed to compile the regular expression: {reason}")


class Pattern:
    """One compiled expression. Raises PatternError."""

    __slots__ = ("_names", "_regexp", "source")

    def __init__(self, source: str) -> None:
        options = re2.Options()
        options.log_errors = False
        if any(found[1] == "C" for found in _ESCAPE.finditer(source)):
            # RE2 would match one byte of a character; Go does not know it.
            raise PatternError(r"invalid escape sequence: \C")
        try:
            self._regexp = re2.compile(source, options)
        except (re2.error, UnicodeEncodeError) as error:
            raise PatternError(_reason(error)) from None
        self._names = self._regexp.groupindex
        self.source = source

    def __repr__(self) -> str:
        return f"<Pattern {self.source!r}>"

    def search(self, text: str) -> bool:
        """Whether the expression matches anywhere in the text."""
        return self._regexp.search(_searchable(text)) is not None

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Where the matches begin and end, in order."""
        return (match.span() for match in self._matches(text))

    def _matches(self, text: str) -> "Iterator[re2.Match[str]]":
        done = 0
        for match in self._regexp.finditer(_searchable(text)):
            start, end = match.span()
            if end > done or start == 0:  # an empty match that touches the one before it does not count
                yield match
            done = end

    def replace_all(self, text: str, template: str) -> str:
        """The text with every match replaced by the template, its `$` references expanded."""
        pieces: list[str] = []
        done = 0
        for match in self._matches(text):
            start, end = match.span()
            pieces.append(text[done:start])
            groups = [self._group_text(text, match, index) for index in range(self._regexp.groups + 1)]
            pieces.append(self._expand(template, groups))
            done = end
        pieces.append(text[done:])
        return "".join(pieces)

    @staticmethod
    def _group_text(text: str, match: "re2.Match[str]", index: int) -> str | None:
        start, end = match.span(index)
        return text[start:end] if start >= 0 else None

    def _expand(self, template: str, groups: Sequence[str | None]) -> str:
        pieces: list[str] = []
        done = 0
        for found in _REFERENCE.finditer(_searchable(template)):
            pieces.append(template[done : found.start()])
            pieces.append("$" if found[1] else self._group(found[2] or found[3] or "", groups))
            done = found.end()
        return "".join([*pieces, template[done:]])

    def _group(self, name: str, groups: Sequence[str | None]) -> str:
        index = int(name) if _NUMBER.fullmatch(name) else self._names.get(name, -1)
        return (groups[index] or "") if 0 <= index < len(groups) else ""


@lru_cache(maxsize=512)
def compile(source: str) -> Pattern:  # noqa: A001 - read as goregexp.compile, like re.compile
    """Compile an expression. Raises PatternError."""
    return Pattern(source)


def _searchable(text: str) -> str:
    """Bytes that are no UTF-8 are replacement characters to Go, one each."""
    return text if text.isascii() else _STRAY.sub("\ufffd", text)


def _reason(error: Exception) -> str:
    if isinstance(error, UnicodeEncodeError):
        return "invalid UTF-8"
    reason = error.args[0] if error.args else ""
    return reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
