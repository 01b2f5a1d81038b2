"""Looks up what follows a dot: the keys of maps, the fields and methods of objects."""

from typing import Final, cast

from syncret.daemon.core.templating import gotypes
from syncret.daemon.core.templating.errors import FunctionError
from syncret.daemon.core.templating.functions.contract import Function
from syncret.daemon.core.templating.gotypes import Kind, Type
from syncret.daemon.core.templating.running import MissingKey
from syncret.daemon.core.templating.values import NO_VALUE, GoObject, NamedInteger, Value, type_of, zero_of

_NAMED_BY_STRINGS: Final = frozenset({Kind.STRING, Kind.INTERFACE})


def member(receiver: Value, name: str, missing_key: MissingKey) -> Value:
    """The value of a key or a field, or the method, which is a Function."""
    if receiver is NO_VALUE:
        if missing_key == "error":
            raise FunctionError(f'nil data; no entry for key "{name}"')
        return NO_VALUE
    if receiver is None:
        raise FunctionError(f"nil pointer evaluating interface {{}}.{name}")
    go_type = type_of(receiver)
    if go_type.key is not None and go_type.key.kind in _NAMED_BY_STRINGS:
        items = cast("dict[Value, Value]", receiver)
        return items[name] if name in items else _missing(name, items, missing_key)
    found = receiver.member(name) if isinstance(receiver, GoObject | NamedInteger) else NO_VALUE
    if found is NO_VALUE:
        raise FunctionError(f"can't evaluate field {name} in type {go_type}")
    return found


def _missing(name: str, items: dict[Value, Value], missing_key: MissingKey) -> Value:
    if missing_key == "error":
        raise FunctionError(f'map has no entry for key "{name}"')
    if missing_key == "zero":
        return zero_of(cast("Type", type_of(items).element))
    return NO_VALUE


def plain(found: Value, receiver: Value, name: str, *, has_arguments: bool) -> Value:
    """What was found. Raises FunctionError if it was given arguments but is not a method."""
    if has_arguments and not isinstance(found, Function):
        what = "is not a method but has arguments"
        if type_of(receiver).kind is not gotypes.MAP.kind:
            what = "has arguments but cannot be invoked as function"
        raise FunctionError(f"{name} {what}")
    return found
