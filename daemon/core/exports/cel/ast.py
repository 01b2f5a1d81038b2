"""Reads the checked syntax tree of an expression: which names of `secret` it needs.

The engine returns the tree only in the encoding of protocol buffers (cel.expr.CheckedExpr, inside an Any), so
the few messages that are needed are read here. Nothing is recursive: the author decides on the depth.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

# The numbers of fields, by their messages.
_VALUE: Final = 2  # of an Any
_EXPRESSION: Final = 4  # of a CheckedExpr
_CONSTANT, _IDENTIFIER, _SELECT, _CALL, _LIST, _STRUCT, _COMPREHENSION = range(3, 10)  # of an Expr
_TEXT: Final = 6  # of a Constant

# How a value is encoded.
_VARINT, _FIXED64, _DELIMITED = range(3)
_MORE: Final = 128

ALL: Final = "*"
"""The hint of an expression that may need any name."""

_SECRETS: Final = frozenset({"secret", "secrets"})
_KEYED: Final = frozenset({"_[_]", "_[?_]", "_?._"})
"""Functions whose second argument is a key of the first: an index, an optional one, an optional select."""

_IN: Final = "@in"


class _Node(NamedTuple):
    """An expression that is still to be looked at, and the names that macros bind around it."""

    encoded: bytes
    bound: frozenset[str]


def hints_of(checked: bytes) -> frozenset[str]:
    """The names of secrets that a checked expression needs; of names and `*`, only `*`."""
    expression = _message(_message(checked, _VALUE), _EXPRESSION)
    found = set[str]()
    waiting = [_Node(expression, frozenset())]
    while waiting:
        name, more = _look(waiting.pop())
        if name:
            found.add(name)
        waiting += more
    return frozenset({ALL}) if ALL in found else frozenset(found)


def _look(node: _Node) -> tuple[str, list[_Node]]:
    """The hint that an expression itself gives, if any, and what is below it."""
    for number, value in _fields(node.encoded):
        if number == _IDENTIFIER:  # an identifier
            return ALL if _is_secret(node) else "", []
        if number == _SELECT:  # the select of a field, or has() of one
            operand = _Node(_message(value, 1), node.bound)
            return (_text(value, 2), []) if _is_secret(operand) else ("", [operand])
        if number == _CALL:
            return _call(value, node.bound)
        if number == _LIST:
            return "", [_Node(each, node.bound) for each in _messages(value, 1)]
        if number == _STRUCT:  # a map, or a message: its entries have a key (3) and a value (4)
            entries = _messages(value, 2)
            below = [each for entry in entries for field in (3, 4) for each in _messages(entry, field)]
            return "", [_Node(each, node.bound) for each in below]
        if number == _COMPREHENSION:
            return "", _comprehension(value, node.bound)
    return "", []


def _call(call: bytes, bound: frozenset[str]) -> tuple[str, list[_Node]]:
    function = _text(call, 2)
    nodes = [_Node(each, bound) for field in (1, 3) for each in _messages(call, field)]
    if len(nodes) == len(("container", "key")):
        place = {_IN: 1}.get(function, 0 if function in _KEYED else None)
        if place is not None and _is_secret(nodes[place]):
            name = _literal(nodes[1 - place].encoded)
            return (ALL, [nodes[1 - place]]) if name is None else (name, [])
    return "", nodes


def _comprehension(value: bytes, bound: frozenset[str]) -> list[_Node]:
    """A macro that loops: its range (2) and its beginning (4) are outside of the names that it binds."""
    inner = bound | {_text(value, field) for field in (1, 3, 8)} - {""}
    scopes = {2: bound, 4: bound, 5: inner, 6: inner, 7: bound | {_text(value, 3)}}
    return [_Node(each, scope) for field, scope in scopes.items() for each in _messages(value, field)]


def _is_secret(node: _Node) -> bool:
    name = _text(_message(node.encoded, _IDENTIFIER), 1)
    return name.lstrip(".") in _SECRETS and (name.startswith(".") or name not in node.bound)


def _literal(expression: bytes) -> str | None:
    """The text of a literal; None if it is none."""
    for field, constant in _fields(expression):
        if field == _CONSTANT:
            for kind, value in _fields(constant):
                return value.decode() if kind == _TEXT else None
    return None


# --------------------------------------------------------------------------------------------- the encoding
def _message(encoded: bytes, field: int) -> bytes:
    """The first member of that number; empty where there is none."""
    return next(iter(_messages(encoded, field)), b"")


def _messages(encoded: bytes, field: int) -> list[bytes]:
    return [value for number, value in _fields(encoded) if number == field]


def _text(encoded: bytes, field: int) -> str:
    return _message(encoded, field).decode()


def _fields(encoded: bytes) -> Iterator[tuple[int, bytes]]:
    """The members of a message whose values have a length: texts and messages. Numbers are passed over."""
    place = 0
    while place < len(encoded):
        tag, place = _number(encoded, place)
        kind = tag & 7
        if kind == _VARINT:
            _, place = _number(encoded, place)
        elif kind == _DELIMITED:
            length, place = _number(encoded, place)
            yield tag >> 3, encoded[place : place + length]
            place += length
        else:  # of 64 or 32 bits
            place += 8 if kind == _FIXED64 else 4


def _number(encoded: bytes, place: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = encoded[place]
        place += 1
        number |= (byte & 127) << shift
        if byte < _MORE:
            return number, place
        shift += 7
