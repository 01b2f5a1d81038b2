"""Parses a JSONPath, split into tokens as Go's text/scanner does, into steps."""

import json
import re
from collections.abc import Callable, Iterator
from enum import Enum
from functools import lru_cache
from math import isinf
from typing import Final, NamedTuple

from syncret.config.fields import Json
from syncret.providers.errors import Malformed
from syncret.providers.kit.golang.jsonpath import steps
from syncret.providers.kit.golang.jsonpath.steps import Expression, Place, Step, StepFailed
from syncret.providers.work import Work

_DEEPEST: Final = 50
_PARSED: Final = 256
_LONGEST_KEPT: Final = 200
"""A longer path is parsed for each value: as functions it takes a hundred times its own size."""

_CHARACTER_COST: Final = 5
_CHARACTER_SIZE: Final = 100
_FAR: Final = 2**31 - 1

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
        raise Malformed("a string in the JSONPath has an unknown escape")
    return value


def _column(path: str, number: int) -> int:
    """The column, from 1, of a token; one after the last one if there are not so many."""
    starts = [found.start(found.lastgroup or 0) for found in _TOKEN.finditer(path)]
    return (starts[number] if number < len(starts) else len(path)) + 1


class Path:
    """A parsed path."""

    def __init__(self, expression: Expression) -> None:
        self._expression = expression

    def get(self, document: Json, work: Work) -> Json:
        """The value at the path. Raises Malformed; the message quotes neither path nor document."""
        problem = ""
        try:
            return self._expression(Place(document, work))
        except StepFailed as error:
            problem = str(error)
        except RecursionError:
            problem = "it goes too deep"
        raise Malformed(f"failed to get response path: {problem}")


def parse(path: str, work: Work) -> Path:
    """Parse a path. Raises Malformed, which does not quote it."""
    if len(path) <= _LONGEST_KEPT:
        return _kept(path)
    work.step(_CHARACTER_COST * len(path))
    work.make(_CHARACTER_SIZE * len(path))
    return _parsed(path)


def _parsed(path: str) -> Path:
    parser = _Parser(path)
    expression = parser.expression()
    if parser.peek() is not END:
        raise parser.wrong()
    return Path(expression)


_kept = lru_cache(maxsize=_PARSED)(_parsed)


class _Parser:
    """A recursive-descent parser."""

    def __init__(self, path: str) -> None:
        self._source = path
        self._tokens = list(tokens(path))
        self._position = 0
        self._depth = 0

    def peek(self) -> Token:
        return self._tokens[self._position] if self._position < len(self._tokens) else END

    def next(self) -> Token:
        token = self.peek()
        self._position += 1
        return token

    def accept(self, *symbols: str) -> str:
        """Consume and return the next symbol if it is one of these; otherwise return an empty text."""
        token = self.peek()
        if token.kind is not Kind.SYMBOL or token.text not in symbols:
            return ""
        self._position += 1
        return token.text

    def wrong(self) -> Malformed:
        return Malformed(
            f"the JSONPath cannot be read from column {_column(self._source, self._position)} on",
            hint='a path looks like $.data.password, $["a b"], $.list[0] or $.list[?(@.name == "x")].value',
        )

    def expression(self) -> Expression:
        """Operands with `==` and `!=` between them."""
        self._deeper()
        left = self._operand()
        while operator := self.accept("==", "!="):
            left = _compared(left, self._operand(), equal=operator == "==")
        self._depth -= 1
        return left

    def _operand(self) -> Expression:
        token = self.next()
        match token:
            case Token(Kind.NUMBER, text):
                number = float(text)
                if isinf(number):  # out of Go's range
                    raise self.wrong()
                return _constant(number)
            case Token(Kind.STRING, text):
                return _constant(text)
            case Token(Kind.NAME, "true" | "false"):
                return _constant(token.text == "true")
            case Token(Kind.NAME, text):
                return self._variable(text)
            case Token(Kind.SYMBOL, "$"):
                return self._path(lambda place: place.root)
            case Token(Kind.SYMBOL, "@"):
                return self._path(lambda place: place.current)
            case Token(Kind.SYMBOL, "-"):
                self._deeper()
                operand = self._operand()
                self._depth -= 1
                return _negative(operand)
            case Token(Kind.SYMBOL, "("):
                inner = self.expression()
                self._expect(")")
                return inner
            case _:
                self._position -= 1
                raise self.wrong()

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise Malformed("the JSONPath is nested too deeply")

    def _at(self, symbol: str) -> bool:
        return self.peek() == Token(Kind.SYMBOL, symbol)

    def _expect(self, symbol: str) -> None:
        if not self.accept(symbol):
            raise self.wrong()

    def _name(self) -> str:
        if self.peek().kind is not Kind.NAME:
            raise self.wrong()
        return self.next().text

    def _variable(self, name: str) -> Expression:
        """A path without `$`: a missing value is null, not an error."""
        keys: list[Expression] = [_constant(name)]
        while symbol := self.accept(".", "["):
            if symbol == ".":
                keys.append(_constant(self._name()))
            else:
                keys.append(self.expression())
                self._expect("]")
        return _looked_up(keys)

    def _path(self, start: Callable[[Place], Json]) -> Expression:
        path: list[Step] = []
        many = False
        while symbol := self.accept(".", "[", "("):
            if symbol == ".":
                found, ambiguous = self._after_dot()
            elif symbol == "[":
                found, ambiguous = self._bracket()
            else:
                found, ambiguous = [steps.script(self.expression())], False
                self._expect(")")
            path += found
            many = many or ambiguous
        return _walked(start, path, many=many)

    def _after_dot(self) -> tuple[list[Step], bool]:
        if self.accept("*"):
            return [steps.wildcard], True
        if self.accept("."):
            return [steps.descendants, *self._after_dots()], True
        return [steps.child(_constant(self._name()))], False

    def _after_dots(self) -> list[Step]:
        if self.accept("*"):
            return [steps.wildcard]
        if self.accept("["):
            return self._bracket()[0]
        return [steps.child(_constant(self._name()))]

    def _bracket(self) -> tuple[list[Step], bool]:
        if self.accept("*"):
            self._expect("]")
            return [steps.wildcard], True
        if self.accept("?"):
            condition = self.expression()
            self._expect("]")
            return [steps.filtered(condition)], True
        keys: list[Expression | None] = [None if self._at(":") else self.expression()]
        separator = self.accept(",", ":")
        while separator and not self._at("]"):
            keys.append(None if self._at(":") else self.expression())
            if not self.accept(separator):
                break
        self._expect("]")
        if separator == ":":
            return [self._range(keys)], True
        present = [key for key in keys if key is not None]
        return ([steps.union(present)], True) if separator else ([steps.child(present[0])], False)

    def _range(self, keys: list[Expression | None]) -> Step:
        if len(keys) > len(("low", "high", "stride")):
            raise self.wrong()
        usual = (0.0, float(_FAR), 1.0)
        low, high, stride = (
            (keys[index] if index < len(keys) else None) or _constant(usual[index]) for index in range(3)
        )
        return steps.slice_of(low, high, stride)


def _constant(value: Json) -> Expression:
    return lambda _: value


def _compared(left: Expression, right: Expression, *, equal: bool) -> Expression:
    return lambda place: steps.equal(left(place), right(place), place.work) is equal


def _negative(operand: Expression) -> Expression:
    def evaluate(place: Place) -> Json:
        value = operand(place)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise StepFailed("only a number can be negative")
        return -value

    return evaluate


def _looked_up(keys: list[Expression]) -> Expression:
    path = [steps.child(key) for key in keys]

    def evaluate(place: Place) -> Json:
        value = place.root
        for step in path:
            if not isinstance(value, dict | list):
                raise StepFailed("unknown parameter")
            try:
                [value] = step(place, value)
            except StepFailed:
                value = None
        return value

    return evaluate


def _walked(start: Callable[[Place], Json], path: list[Step], *, many: bool) -> Expression:
    def evaluate(place: Place) -> Json:
        values = [start(place)]
        for step in path:
            found: list[Json] = []
            for value in values:
                try:
                    found.extend(step(place, value))
                except StepFailed:
                    if not many:
                        raise
            values = found
        return values if many else values[0]

    return evaluate
