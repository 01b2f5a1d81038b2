"""Go's predefined functions. `and` and `or` do not evaluate all arguments, so `calls` implements them."""

from typing import Annotated, Final, TypeAlias, cast
from urllib.parse import quote_plus

from syncret.daemon.core.templating.characters import Characters
from syncret.daemon.core.templating.functions.contract import Context, Function, table
from syncret.daemon.core.templating.golang import comparison, types
from syncret.daemon.core.templating.golang.errors import FunctionError
from syncret.daemon.core.templating.golang.formats import sprintf
from syncret.daemon.core.templating.golang.literals import REPLACEMENT
from syncret.daemon.core.templating.golang.printf import print_all, print_line
from syncret.daemon.core.templating.golang.types import VALUE, Type
from syncret.daemon.core.templating.golang.values import (
    NO_VALUE,
    TypedList,
    Uint8,
    Value,
    bytes_of,
    text_of,
    type_of,
    zero_of,
)

Any: TypeAlias = Annotated[Value, VALUE]
_MOST_INDEXES: Final = 3
_HTML: Final = str.maketrans(
    {"\0": REPLACEMENT, '"': "&#34;", "'": "&#39;", "&": "&amp;", "<": "&lt;", ">": "&gt;"}
)
_JS_BACKSLASHED: Final = frozenset("\\'\"")
_JS_ESCAPED: Final = frozenset("<>&=") | set(map(chr, range(ord(" "))))


def _print(context: Context, *arguments: Value) -> str:
    return print_all(arguments, context.budget)


def _println(context: Context, *arguments: Value) -> str:
    return print_line(arguments, context.budget)


def _printf(context: Context, template: str, *arguments: Value) -> str:
    return sprintf(template, arguments, context.budget)


def _html(context: Context, *arguments: Value) -> str:
    return html(_text(context, arguments))


def html(text: str) -> str:
    return text.translate(_HTML)


def _js(context: Context, *arguments: Value) -> str:
    return js(_text(context, arguments))


def js(text: str) -> str:
    return text.translate(_JS)


def _js_character(character: str) -> str:
    if character in _JS_BACKSLASHED:
        return f"\\{character}"
    if character.isascii():
        plain = character not in _JS_ESCAPED
    else:
        plain = character.isprintable() or "\udc80" <= character <= "\udcff"
    return character if plain else f"\\u{ord(character):04X}"


_JS: Final = Characters(_js_character)


def _urlquery(context: Context, *arguments: Value) -> str:
    return urlquery(_text(context, arguments))


def urlquery(text: str) -> str:
    return quote_plus(bytes_of(text), safe="~")


def _text(context: Context, arguments: tuple[Value, ...]) -> str:
    """The text of arguments that will be escaped, which can make it six times as long."""
    shown = ["<no value>" if each is None else each for each in arguments]
    text = print_all(shown, context.budget)
    context.budget.make(len(text))
    context.budget.look_at_each(text)
    return text


def _not(value: Any) -> bool:
    return not comparison.truth(value)


def _len(value: Any) -> int:
    if value is None:
        raise FunctionError("len of nil pointer")
    if isinstance(value, str):
        return len(value) if value.isascii() else len(bytes_of(value))
    if isinstance(value, list | dict | bytes):
        return len(cast("list[Value]", value))
    raise FunctionError("len of nil" if value is NO_VALUE else f"len of type {type_of(value)}")


def _index(value: Any, *indexes: Any) -> Value:
    if value is None or value is NO_VALUE:
        raise FunctionError("index of untyped nil")
    for index in indexes:
        if value is None:
            raise FunctionError("index of nil pointer")
        value = _element(value, None if index is NO_VALUE else index)
    return value


def _element(value: Value, index: Value) -> Value:
    if isinstance(value, dict):
        return _of_map(cast("dict[Value, Value]", value), index)
    data: str | bytes | list[Value]
    if isinstance(value, list):
        data = cast("list[Value]", value)
    elif isinstance(value, str | bytes):
        data = bytes_of(value) if isinstance(value, str) else value
    else:
        raise FunctionError(f"can't index item of type {type_of(value)}")
    position = _position(index, len(data))
    if position == len(data):
        raise FunctionError("index out of range")
    found = data[position]
    return Uint8(found) if isinstance(data, bytes) and isinstance(found, int) else found


def _of_map(items: dict[Value, Value], index: Value) -> Value:
    map_type = type_of(items)
    key, element = cast("Type", map_type.key), cast("Type", map_type.element)
    if index is None and not key.nillable:
        raise FunctionError(f"value is nil; should be of type {key}")
    fits = key is types.ANY or type_of(index) == key
    if not fits and not (type_of(index).kind in types.BITS and key.kind in types.BITS):
        raise FunctionError(f"value has type {type_of(index)}; should be {key}")
    return items[index] if index in items else zero_of(element)


def _position(index: Value, most: int) -> int:
    if index is None:
        raise FunctionError("cannot index slice/array with nil")
    if not isinstance(index, int) or isinstance(index, bool):
        raise FunctionError(f"cannot index slice/array with type {type_of(index)}")
    if not 0 <= index <= most:
        raise FunctionError("index out of range")
    return int(index)


def _slice(value: Any, *indexes: Any) -> Value:
    if value is None or value is NO_VALUE:
        raise FunctionError("slice of untyped nil")
    if len(indexes) > _MOST_INDEXES:
        raise FunctionError("too many slice indexes")
    if isinstance(value, str):
        if len(indexes) == _MOST_INDEXES:
            raise FunctionError("cannot 3-index slice a string")
        data = bytes_of(value)
        return text_of(data[_range(len(data), indexes)])
    if isinstance(value, TypedList):
        return TypedList(value.go_type, value[_range(len(value), indexes)], is_nil=value.is_nil)
    if isinstance(value, bytes):
        return value[_range(len(value), indexes)]
    if isinstance(value, list):
        elements = cast("list[Value]", value)
        return elements[_range(len(elements), indexes)]
    raise FunctionError(f"can't slice item of type {type_of(value)}")


def _range(length: int, indexes: tuple[Value, ...]) -> slice:
    bounds = [0, length]
    given = [_position(None if index is NO_VALUE else index, length) for index in indexes]
    bounds[: len(given)] = given
    if bounds != sorted(bounds):
        raise FunctionError("invalid slice index")
    return slice(bounds[0], bounds[1])


def _call(function: Any, *arguments: Any) -> Value:
    del arguments
    if function is None or function is NO_VALUE:
        raise FunctionError("call of nil")
    raise FunctionError(f"non-function of type {type_of(function)}")


def _eq(first: Any, *others: Any) -> bool:
    if not others:
        raise FunctionError("missing argument for comparison")
    return any(comparison.equal(first, other) for other in others)


def _ne(first: Any, second: Any) -> bool:
    return not comparison.equal(first, second)


def _lt(first: Any, second: Any) -> bool:
    return comparison.less(first, second)


def _le(first: Any, second: Any) -> bool:
    return comparison.less(first, second) or comparison.equal(first, second)


def _gt(first: Any, second: Any) -> bool:
    return not _le(first, second)


def _ge(first: Any, second: Any) -> bool:
    return not comparison.less(first, second)


def _stops_early(first: Any, *others: Any) -> Value:
    """Only the declaration of `and` and `or`; `calls` implements them."""
    del others
    return first


BUILTINS: Final[dict[str, Function]] = table(
    {
        "and": _stops_early,
        "or": _stops_early,
        "not": _not,
        "len": _len,
        "index": _index,
        "slice": _slice,
        "print": _print,
        "printf": _printf,
        "println": _println,
        "html": _html,
        "js": _js,
        "urlquery": _urlquery,
        "call": _call,
        "eq": _eq,
        "ne": _ne,
        "lt": _lt,
        "le": _le,
        "gt": _gt,
        "ge": _ge,
    }
)
