"""Reads JSON texts strictly, one value after another: invalid JSON and repeated keys are problems.

As in Go, integers beyond 64 bits become floats, and lone halves of surrogate pairs become U+FFFD.
"""

import json
import math
import re
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Final

from syncret.config.errors import Problem
from syncret.config.fields import Json
from syncret.config.meta import Document, is_object

_INT64: Final = 2**63
_STRUCTURE: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[\]{}]|[^\s\[\]{}",]++', re.DOTALL)
"""A string, a bracket, or a number or word."""


def json_values(
    text: str, *, longest: int = sys.maxsize, values: int = sys.maxsize
) -> Iterator[tuple[int, str, Json, tuple[Problem, ...]]]:
    """The line, text, value and problems of each; the value is None if it cannot be read.

    A text is not read on from a document that is longer than `longest`, and one with too many values is not
    parsed: the parser would make all of them in one piece.
    """
    reader = _Reader(text)
    is_suspicious = _most_values(text) > values
    line, place = 1, _skip_white_space(text, 0)
    line += text.count("\n", 0, place)
    while place < len(text):
        end = _end(text, place, longest) if is_suspicious else 0
        value: Json = None
        if end - place > longest:
            yield line, text[place:end], None, ()
            return
        if is_suspicious and _most_values(text[place:end]) > values:
            message, hint = f"has too many values: more than {values}", "split it into several documents"
            problems: tuple[Problem, ...] = (Problem(path="", message=message, hint=hint, line=line),)
        else:
            try:
                value, end = reader.read(place)
            except json.JSONDecodeError as error:
                problem = Problem(path="", message=f"is not valid JSON: {error.msg}", line=error.lineno)
                yield line, text[place:], None, (problem,)
                return
            except (RecursionError, ValueError):
                message = (
                    "is not valid JSON: it is nested too deeply, or has a number that JSON does not have"
                )
                yield line, text[place:], None, (Problem(path="", message=message, line=line),)
                return
            problems = tuple(
                Problem(path="", message=f'the key "{key}" appears twice in one object', line=line)
                for key in reader.take_repeated_keys()
            )
        yield line, text[place:end], value, problems
        following = _skip_white_space(text, end)
        line += text.count("\n", place, following)
        place = following


def _most_values(text: str) -> int:
    """The most values that can stand between the commas and brackets of a text."""
    return 1 + text.count(",") + text.count("[") + text.count("{")


def _end(text: str, start: int, longest: int) -> int:
    """The end of the value that starts here, or of the text; beyond `longest` if it is longer than that."""
    depth = 0
    for found in _STRUCTURE.finditer(text, start, start + longest + 1):
        token = found[0]
        if token in "[{":
            depth += 1
        elif token in "]}":
            depth -= 1
        if depth <= 0:
            return found.end()
    return min(start + longest + 1, len(text))


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._has_escapes = "\\u" in text
        self._repeated: list[str] = []
        self._decoder = json.JSONDecoder(
            object_pairs_hook=self._object, parse_int=_integer, parse_float=_float, parse_constant=_float
        )

    def read(self, place: int) -> tuple[Json, int]:
        """The value that starts here, and its end."""
        value, end = self._decoder.raw_decode(self._text, place)
        return (_without_lone_surrogates(value) if self._has_escapes else value), end

    def take_repeated_keys(self) -> list[str]:
        """The repeated keys found since the last call."""
        twice, self._repeated = self._repeated, []
        return twice

    def _object(self, items: list[tuple[str, Json]]) -> Document:
        result = dict(items)
        if len(result) < len(items):
            self._repeated += [key for key, count in Counter(key for key, _ in items).items() if count > 1]
        return result


def _integer(digits: str) -> int | float:
    value = int(digits)
    return value if -_INT64 <= value < _INT64 else _float(digits)


def _float(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(digits)
    return value


def _without_lone_surrogates(value: Json) -> Json:
    """The value with every lone surrogate replaced by U+FFFD."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if is_object(value):
        return {_without_lone_surrogates(key): _without_lone_surrogates(item) for key, item in value.items()}
    return [_without_lone_surrogates(item) for item in value] if value.__class__ is list else value


def _skip_white_space(text: str, place: int) -> int:
    while place < len(text) and text[place] in " \t\r\n":
        place += 1
    return place
