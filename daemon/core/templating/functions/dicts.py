"""Maps: reading, changing, picking and copying them. `set` and `unset` change their map, as in Go."""

from typing import Final, cast

from syncret.daemon.core.templating import gotypes
from syncret.daemon.core.templating.errors import FunctionError
from syncret.daemon.core.templating.functions.contract import Context, FunctionTable, table
from syncret.daemon.core.templating.functions.text_of_values import strval
from syncret.daemon.core.templating.values import GoObject, TypedList, TypedMap, Value, strings

_MOST_LEVELS: Final = 100
_ENTRY_SIZE: Final = 16
_COPY: Final = 10
"""Cost of copying one value."""
_LEAST_ARGUMENTS_OF_DIG: Final = 3


def new_dict(context: Context, *pairs: Value) -> dict[str, Value]:
    made: dict[str, Value] = {}
    for place in range(0, len(pairs), 2):
        made[strval(context, pairs[place])] = pairs[place + 1] if place + 1 < len(pairs) else ""
    return made


def get(source: dict[str, Value] | None, key: str) -> Value:
    return (source or {}).get(key, "")


def set_(target: dict[str, Value] | None, key: str, value: Value) -> dict[str, Value]:
    if target is None or (isinstance(target, TypedMap) and target.is_nil):
        raise FunctionError("the map is nil")
    target[key] = value
    return target


def unset(target: dict[str, Value] | None, key: str) -> Value:
    if target is None:
        return _nil_map()
    target.pop(key, None)
    return target


def _nil_map() -> TypedMap:
    return TypedMap(gotypes.MAP, is_nil=True)


def has_key(source: dict[str, Value] | None, key: str) -> bool:
    return key in (source or {})


def pluck(key: str, *sources: dict[str, Value] | None) -> list[Value]:
    return [source[key] for source in sources if source and key in source]


def keys(context: Context, *sources: dict[str, Value] | None) -> TypedList:
    names = [name for source in sources for name in source or {}]
    context.budget.allocate(len(names) * _ENTRY_SIZE)
    return strings(names)


def values(context: Context, source: dict[str, Value] | None) -> list[Value]:
    context.budget.allocate(len(source or {}) * _ENTRY_SIZE)
    return list((source or {}).values())


def pick(source: dict[str, Value] | None, *names: str) -> dict[str, Value]:
    return {name: source[name] for name in names if source and name in source}


def omit(context: Context, source: dict[str, Value] | None, *names: str) -> dict[str, Value]:
    context.budget.allocate(len(source or {}) * _ENTRY_SIZE)
    return {name: value for name, value in (source or {}).items() if name not in names}


def dig(*arguments: Value) -> Value:
    """KEY... DEFAULT MAP."""
    if len(arguments) < _LEAST_ARGUMENTS_OF_DIG:
        raise FunctionError("dig needs at least three arguments")
    *path, default, found = arguments
    if not all(isinstance(key, str) for key in path):
        raise FunctionError("a key is not a string")
    for key in cast("list[str]", path):
        if type(found) is not dict:
            raise FunctionError("dig needs a map at each key but the last")
        level = cast("dict[str, Value]", found)
        if key not in level:
            return default
        found = level[key]
    return found


def deep_copy(context: Context, value: Value) -> Value:
    if value is None:
        raise FunctionError("nil cannot be copied")
    return _copied(context, value, 0)


def _copied(context: Context, value: Value, level: int) -> Value:
    if level > _MOST_LEVELS:
        raise FunctionError("the value is nested too deeply")
    if isinstance(value, list):
        members = cast("list[Value]", value)
        context.budget.charge(_COPY * (1 + len(members)))
        context.budget.allocate(len(members) * _ENTRY_SIZE)
        copies = [_copied(context, member, level + 1) for member in members]
        return (
            TypedList(value.go_type, copies, is_nil=value.is_nil) if isinstance(value, TypedList) else copies
        )
    if isinstance(value, dict):
        entries = cast("dict[Value, Value]", value)
        context.budget.charge(_COPY * (1 + len(entries)))
        context.budget.allocate(len(entries) * 2 * _ENTRY_SIZE)
        copied = {key: _copied(context, member, level + 1) for key, member in entries.items()}
        return TypedMap(value.go_type, copied, is_nil=value.is_nil) if isinstance(value, TypedMap) else copied
    return value.copied() if isinstance(value, GoObject) else value


FUNCTIONS: Final[FunctionTable] = table(
    {
        "deepCopy": deep_copy,
        "dict": new_dict,
        "dig": dig,
        "get": get,
        "hasKey": has_key,
        "keys": keys,
        "mustDeepCopy": deep_copy,
        "omit": omit,
        "pick": pick,
        "pluck": pluck,
        "set": set_,
        "unset": unset,
        "values": values,
    }
)
