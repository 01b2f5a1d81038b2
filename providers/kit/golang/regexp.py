"""Regular expressions of users, with the syntax, matches and replacements of Go's `regexp`.

RE2 runs in linear time for any pattern, and Go's package implements the same; they differ in the syntax of
replacements (`$1`, `${1}x`, `$name`, `$$`) and in which empty matches count.

RE2 is imported for the first expression: most manifests have none.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from syncret.providers.errors import Malformed

if TYPE_CHECKING:
    import re2

_REFERENCE: Final = r"\$(?:(\$)|([\pL\p{Nd}_]+)|\{([\pL\p{Nd}_]+)\})"
"""References of Go's Expand; any other dollar sign is literal."""

_ESCAPE: Final = re.compile(r"\\Q.*?(?:\\E|\Z)|\\(.)", re.DOTALL)
"""Quoted text, or one escape."""

_CODES: Final = {
    "missing ]": "missing closing ]",
    "missing )": "missing closing )",
    "trailing \\": "trailing backslash at end of expression",
    "no argument for repetition operator": "missing argument to repetition operator",
    "invalid repetition size": "invalid repeat count",
    "bad repetition operator": "invalid nested repetition operator",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid named capture group": "invalid named capture",
}
"""RE2's names of errors, and Go's."""

_STRAY: Final = re.compile("[\ud800-\udfff]")
_FIRST_BITS: Final = 0b1100_0000
_CONTINUES: Final = 0b1000_0000
"""The first bits of a UTF-8 continuation byte."""

_NUMBER: Final = re.compile(r"0|[1-9][0-9]{0,8}")


class PatternError(Malformed):
    """The text is no regular expression. `reason` is Go's message, which may quote a part of the pattern."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"failed to compile the regular expression: {reason}")


class Pattern:
    """One compiled expression. Raises PatternError."""

    __slots__ = ("_groups", "_names", "_regexp", "source")

    def __init__(self, source: str) -> None:
        import re2

        options = re2.Options()
        options.log_errors = False
        if any(found[1] == "C" for found in _ESCAPE.finditer(source)):
            # RE2 would match one byte of a character; Go does not support it.
            raise PatternError(r"error parsing regexp: invalid escape sequence: `\C`")
        try:
            self._regexp = re2.compile(source.encode(), options)
        except (re2.error, UnicodeEncodeError) as error:
            raise PatternError(_reason(error)) from None
        self._groups = self._regexp.groups
        self._names = {name.decode(): index for name, index in self._regexp.groupindex.items()}
        self.source = source

    def __repr__(self) -> str:
        return f"<Pattern {self.source!r}>"

    def search(self, text: str) -> bool:
        """Whether the expression matches anywhere in the text."""
        data = _searchable(text)
        if text.isascii():
            return self._regexp.search(data) is not None
        return next(self._matches(data), None) is not None

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Start and end of each match, in characters."""
        data = _searchable(text)
        characters = counted = 0
        for match in self._matches(data):
            start, end = match.span()
            first = characters + len(data[counted:start].decode())
            characters, counted = first + len(data[start:end].decode()), end
            yield first, characters

    def _matches(self, data: bytes) -> "Iterator[re2.Match[bytes]]":
        done = 0
        for match in self._regexp.finditer(data):
            start, end = match.span()
            if start < len(data) and data[start] & _FIRST_BITS == _CONTINUES:
                continue  # RE2 finds `\B` between the bytes of one character
            if end > done or start == 0:  # an empty match that touches the one before it does not count
                yield match
            done = end

    def replace_all(self, text: str, template: str) -> str:
        """The text with every match replaced by the template, its `$` references expanded."""
        parts = [part if isinstance(part, bytes) else self._index(part.name) for part in _parts(template)]
        data = _bytes(text)
        pieces: list[bytes] = []
        done = 0
        for match in self._matches(data if text.isascii() else _searchable(text)):
            start, end = match.span()
            pieces.append(data[done:start])
            for part in parts:
                if isinstance(part, bytes):
                    pieces.append(part)
                elif part >= 0:
                    start_of_group, end_of_group = match.span(part)
                    pieces.append(data[start_of_group:end_of_group])  # -1:-1 if it did not participate
            done = end
        pieces.append(data[done:])
        return b"".join(pieces).decode("utf-8", "surrogatepass")

    def _index(self, name: str) -> int:
        """The index of the group; -1 for none."""
        index = int(name) if _NUMBER.fullmatch(name) else self._names.get(name, -1)
        return index if index <= self._groups else -1


class _Reference(NamedTuple):
    name: str


@lru_cache(maxsize=512)
def _parts(template: str) -> tuple[bytes | _Reference, ...]:
    """A parsed replacement: texts, and the groups between them."""
    import re2

    parts: list[bytes | _Reference] = []
    done = 0
    for found in re2.compile(_REFERENCE).finditer(_STRAY.sub("\ufffd", template)):
        parts.append(_bytes(template[done : found.start()]))
        parts.append(b"$" if found[1] else _Reference(found[2] or found[3] or ""))
        done = found.end()
    return tuple(part for part in (*parts, _bytes(template[done:])) if part)


@lru_cache(maxsize=512)
def compile(source: str) -> Pattern:  # noqa: A001 - read as goregexp.compile, like re.compile
    """Compile an expression. Raises PatternError."""
    return Pattern(source)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _searchable(text: str) -> bytes:
    """The bytes that Go searches: invalid UTF-8 is one replacement character for each byte.

    As long as `_bytes` of the text: a surrogate for a stray byte and U+FFFD both take three bytes.
    """
    return (text if text.isascii() else _STRAY.sub("\ufffd", text)).encode()


def _reason(error: Exception) -> str:
    if isinstance(error, UnicodeEncodeError):
        return "error parsing regexp: invalid UTF-8"
    reason = error.args[0] if error.args else ""
    message = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
    code, _, part = message.partition(": ")
    return f"error parsing regexp: {_CODES.get(code, code)}: `{part}`"
