r"""Regular expressions of users, with the syntax, matches and replacements of Go's `regexp`.

RE2 runs in linear time for any pattern, and Go's package implements the same; they differ in the syntax of
replacements (`$1`, `${1}x`, `$name`, `$$`) and in which empty matches count.

Linear time is not little time: `\pL{100}` is a program of a hundred thousand instructions, and all of them
may have to be looked at for each character. Compiling, searching and replacing are paid for by these numbers.

RE2 is imported for the first expression: most manifests have none.
"""

import re
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import lru_cache
from threading import Lock, current_thread, main_thread
from typing import TYPE_CHECKING, Final, NamedTuple

from syncret.providers.errors import Malformed
from syncret.providers.kit.sized_cache import SizedCache
from syncret.providers.work import Work

if TYPE_CHECKING:
    import re2

_REFERENCE: Final = r"\$(?:(\$)|([\pL\p{Nd}_]+)|\{([\pL\p{Nd}_]+)\})"
"""References of Go's Expand; any other dollar sign is literal."""

_ESCAPE: Final = re.compile(r"\\Q.*?(?:\\E|\Z)|\\(.)", re.DOTALL)
"""Quoted text, or one escape."""

_STRAY: Final = re.compile("[\ud800-\udfff]")
_FIRST_BITS: Final = 0b1100_0000
_CONTINUES: Final = 0b1000_0000
"""The first bits of a UTF-8 continuation byte."""

_NUMBER: Final = re.compile(r"0|[1-9][0-9]{0,8}")

_REPEATS: Final = re.compile(r"\{[0-9]|\\[pP]")
"""Parts of an expression whose program may be a thousand times as long as they are."""

_COMPILE_COST: Final = 10
_LONG_COMPILE_COST: Final = 20_000
_TOO_LARGE_COST: Final = 100_000
_SEARCH_COST: Final = 4
_MATCH_COST: Final = 6
_MATCH_SIZE: Final = 100
_INSTRUCTIONS_PER_STEP: Final = 256
"""How many instructions are looked at in a step, each for one character, where RE2 cannot do better."""

_LONGEST_KEPT: Final = 1_000
_KEPT: Final = 512
_KEPT_BYTES: Final = 32 * 2**20
_INSTRUCTION_SIZE: Final = 100
_STATE_SIZE: Final = 4
"""Bytes of a state that RE2 keeps while it searches, for each instruction; a character makes at most one."""
_MOST_STATES: Final = 8 * 2**20
_GROUP_SIZE: Final = 16
"""Bytes of a group, for each instruction: where RE2 cannot do better, a search takes so much at once."""
_LARGEST_SEARCH: Final = 16 * 2**20
_FIRST_LOOK: Final = 10_000
"""Characters that were searched before the size is looked at again."""


class PatternError(Malformed):
    """The text is no regular expression. `reason` is Go's message, which may quote a part of the pattern."""

    def __init__(self, reason: str) -> None:
        from syncret.providers.kit.golang.regexp_errors import remedy  # only for a mistake

        self.reason = reason
        super().__init__(f"failed to compile the regular expression: {reason}", hint=remedy(reason))


class Pattern:
    """One compiled expression. Raises PatternError."""

    __slots__ = ("_groups", "_instructions", "_names", "_next_look", "_regexp", "_searched", "source")

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
            from syncret.providers.kit.golang.regexp_errors import reason  # as above

            raise PatternError(reason(error)) from None
        self._groups = self._regexp.groups
        self._names = {name.decode(): index for name, index in self._regexp.groupindex.items()}
        self._instructions = self._regexp.programsize
        if (self._groups + 1) * self._instructions * _GROUP_SIZE > _LARGEST_SEARCH:
            raise PatternError("error parsing regexp: expression too large: it has too many groups")
        self._searched = 0
        self._next_look = _FIRST_LOOK
        self.source = source

    def __repr__(self) -> str:
        return f"<Pattern {self.source!r}>"

    @property
    def size(self) -> int:
        """Bytes that it takes, about: its program, and what RE2 keeps of its searches."""
        states = min(self._searched * self._instructions * _STATE_SIZE, _MOST_STATES)
        return self._instructions * _INSTRUCTION_SIZE + states

    @property
    def has_grown(self) -> bool:
        """Whether much was searched since this was asked last."""
        if self._searched < self._next_look:
            return False
        self._next_look = 2 * self._searched
        return True

    @property
    def cost(self) -> int:
        """Steps for compiling it."""
        return self._instructions

    def search(self, text: str, work: Work) -> bool:
        """Whether the expression matches anywhere in the text."""
        self._pay(text, work)
        data = _searchable(text)
        if text.isascii():
            return self._regexp.search(data) is not None
        return next(self._matches(data), None) is not None

    def spans(self, text: str, work: Work) -> Iterator[tuple[int, int]]:
        """Start and end of each match, in characters."""
        self._pay(text, work)
        data = _searchable(text)
        characters = counted = 0
        for match in self._matches(data):
            work.take(_MATCH_COST, _MATCH_SIZE)
            start, end = match.span()
            first = characters + len(data[counted:start].decode())
            characters, counted = first + len(data[start:end].decode()), end
            yield first, characters

    def _pay(self, text: str, work: Work) -> None:
        """Pay for one search through all of a text."""
        size = len(text)
        self._searched += size
        looked_at = size * (self._instructions + _INSTRUCTIONS_PER_STEP) // _INSTRUCTIONS_PER_STEP
        work.take(_SEARCH_COST + looked_at, 2 * size)

    def _matches(self, data: bytes) -> "Iterator[re2.Match[bytes]]":
        done = 0
        for match in self._regexp.finditer(data):
            start, end = match.span()
            if start < len(data) and data[start] & _FIRST_BITS == _CONTINUES:
                continue  # RE2 finds `\B` between the bytes of one character
            if end > done or start == 0:  # an empty match that touches the one before it does not count
                yield match
            done = end

    def replace_all(self, text: str, template: str, work: Work) -> str:
        """The text with every match replaced by the template, its `$` references expanded."""
        self._pay(text, work)
        parts = [
            part if isinstance(part, bytes) else self._index(part.name) for part in _parts(template, work)
        ]
        literal = sum(len(part) for part in parts if isinstance(part, bytes))
        groups = [part for part in parts if isinstance(part, int) and part >= 0]
        data = _bytes(text)
        pieces: list[bytes] = []
        size = done = 0
        for match in self._matches(data if text.isascii() else _searchable(text)):
            start, end = match.span()
            made = start - done + literal + sum(span[1] - span[0] for span in map(match.span, groups))
            work.take(_MATCH_COST + 2 * len(parts), _MATCH_SIZE + made)
            size += made
            pieces.append(data[done:start])
            for part in parts:
                if isinstance(part, bytes):
                    pieces.append(part)
                elif part >= 0:
                    start_of_group, end_of_group = match.span(part)
                    pieces.append(data[start_of_group:end_of_group])  # -1:-1 if it did not participate
            done = end
        work.make(2 * (size + len(data) - done))
        pieces.append(data[done:])
        return b"".join(pieces).decode("utf-8", "surrogatepass")

    def _index(self, name: str) -> int:
        """The index of the group; -1 for none."""
        index = int(name) if _NUMBER.fullmatch(name) else self._names.get(name, -1)
        return index if index <= self._groups else -1


class _Reference(NamedTuple):
    name: str


def _parts(template: str, work: Work) -> tuple[bytes | _Reference, ...]:
    """A parsed replacement: texts, and the groups between them."""
    if len(template) <= _LONGEST_KEPT:
        return _kept_parts(template)
    work.take(len(template), _MATCH_SIZE * len(template))
    return _parsed_parts(template)


def _parsed_parts(template: str) -> tuple[bytes | _Reference, ...]:
    import re2

    parts: list[bytes | _Reference] = []
    done = 0
    for found in re2.compile(_REFERENCE).finditer(_STRAY.sub("\ufffd", template)):
        parts.append(_bytes(template[done : found.start()]))
        parts.append(b"$" if found[1] else _Reference(found[2] or found[3] or ""))
        done = found.end()
    return tuple(part for part in (*parts, _bytes(template[done:])) if part)


_kept_parts = lru_cache(maxsize=_KEPT)(_parsed_parts)


_COMPILING: Final = Lock()
_CACHE: Final = SizedCache[str, Pattern](most=_KEPT, most_bytes=_KEPT_BYTES)


def compile(source: str, work: Work) -> Pattern:  # noqa: A001 - read as goregexp.compile, like re.compile
    """Compile an expression. Raises PatternError."""
    pattern = _CACHE.get(source)
    if pattern is not None:
        if pattern.has_grown:
            _CACHE.add(source, pattern, pattern.size)
        return pattern
    work.step(_COMPILE_COST * len(source))
    pattern = _long_compiled(source, work) if _REPEATS.search(source) else Pattern(source)
    _CACHE.add(source, pattern, pattern.size)
    work.step(pattern.cost)
    return pattern


def _long_compiled(source: str, work: Work) -> Pattern:
    """Compile what may take a twentieth of a second, in one piece that keeps Python's lock.

    In threads that is done one at a time, with a pause of the same length, which is for the event loop.
    """
    work.begin_long()
    work.step(_LONG_COMPILE_COST)
    in_thread = current_thread() is not main_thread()
    with _COMPILING if in_thread else nullcontext():
        begin = time.monotonic()
        try:
            return Pattern(source)
        except PatternError:
            work.step(_TOO_LARGE_COST)
            raise
        finally:
            if in_thread:
                time.sleep(time.monotonic() - begin)


def matcher(source: str, work: Work) -> Callable[[str], bool]:
    """Whether the expression matches anywhere in a text: for one search among many. Raises PatternError."""
    pattern = compile(source, work)
    return lambda text: pattern.search(text, work)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _searchable(text: str) -> bytes:
    """The bytes that Go searches: invalid UTF-8 is one replacement character for each byte.

    As long as `_bytes` of the text: a surrogate for a stray byte and U+FFFD both take three bytes.
    """
    return (text if text.isascii() else _STRAY.sub("\ufffd", text)).encode()
