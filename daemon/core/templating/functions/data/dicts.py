"""Maps: dict, get, set, pick, omit, dig, merge, mergeOverwrite, deepCopy and others.

`set`, `unset` and the merges change their first map, as in Go.
"""

from typing import Final, TypeAlias, cast

from syncret.daemon.core.templating.functions.contract import Context, FunctionTable, table
from syncret.daemon.core.templating.functions.data.comparison import empty
from syncret.daemon.core.templating.functions.text.strings import strval
from syncret.daemon.core.templating.golang import types
from syncret.daemon.core.templating.golang.errors import FunctionError
from syncret.daemon.core.templating.golang.values import (
    GoObject,
    TypedList,
    TypedMap,
    Value,
    strings,
    type_of,
)

Values: TypeAlias = dict[Value, Value]
_MOST_LEVELS: Final = 100
_ENTRY_SIZE: Final = 16
_COPY_COST: Final = 10
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
    return TypedMap(types.MAP, is_nil=True)


def has_key(source: dict[str, Value] | None, key: str) -> bool:
    return key in (source or {})


def pluck(key: str, *sources: dict[str, Value] | None) -> list[Value]:
    return [source[key] for source in sources if source and key in source]


def keys(context: Context, *sources: dict[str, Value] | None) -> TypedList:
    names = [name for source in sources for name in source or {}]
    context.budget.make(len(names) * _ENTRY_SIZE)
    return strings(names)


def values(context: Context, source: dict[str, Value] | None) -> list[Value]:
    context.budget.make(len(source or {}) * _ENTRY_SIZE)
    return list((source or {}).values())


def pick(source: dict[str, Value] | None, *names: str) -> dict[str, Value]:
    return {name: source[name] for name in names if source and name in source}


def omit(context: Context, source: dict[str, Value] | None, *names: str) -> dict[str, Value]:
    context.budget.make(len(source or {}) * _ENTRY_SIZE)
    return {name: value for name, value in (source or {}).items() if name not in names}


def dig(*arguments: Value) -> Value:
    """Look up nested keys: the arguments are KEY... DEFAULT MAP."""
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
    return _copy(context, value, 0)


def _copy(context: Context, value: Value, level: int) -> Value:
    if level > _MOST_LEVELS:
        raise FunctionError("the value is nested too deeply")
    if isinstance(value, list):
        members = cast("list[Value]", value)
        context.budget.step(_COPY_COST * (1 + len(members)))
        context.budget.make(len(members) * _ENTRY_SIZE)
        copies = [_copy(context, member, level + 1) for member in members]
        return (
            TypedList(value.go_type, copies, is_nil=value.is_nil) if isinstance(value, TypedList) else copies
        )
    if isinstance(value, dict):
        entries = cast("dict[Value, Value]", value)
        context.budget.step(_COPY_COST * (1 + len(entries)))
        context.budget.make(len(entries) * 2 * _ENTRY_SIZE)
        copied = {key: _copy(context, member, level + 1) for key, member in entries.items()}
        return TypedMap(value.go_type, copied, is_nil=value.is_nil) if isinstance(value, TypedMap) else copied
    return value.copied() if isinstance(value, GoObject) else value


def merge(
    context: Context, target: dict[str, Value] | None, *sources: dict[str, Value] | None
) -> dict[str, Value]:
    """Merge maps recursively; a value of the target is kept unless it is empty."""
    return _merge_all(context, target, sources, overwrite=False)


def merge_overwrite(
    context: Context, target: dict[str, Value] | None, *sources: dict[str, Value] | None
) -> dict[str, Value]:
    """Merge maps recursively; a value of a source replaces that of the target."""
    return _merge_all(context, target, sources, overwrite=True)


def _merge_all(
    context: Context,
    target: dict[str, Value] | None,
    sources: tuple[dict[str, Value] | None, ...],
    *,
    overwrite: bool,
) -> dict[str, Value]:
    present = [source for source in sources if source is not None]
    if target is None and not present:
        return cast("dict[str, Value]", TypedMap(types.MAP, is_nil=True))
    result = {} if target is None else target
    for source in present:
        _merge_into(context, cast("Values", result), cast("Values", source), overwrite=overwrite, level=0)
    return result


def _merge_into(context: Context, target: Values, source: Values, *, overwrite: bool, level: int) -> None:
    if level > _MOST_LEVELS:
        raise FunctionError("the maps are nested too deeply")
    context.budget.step(10 * len(source))
    if source is target:
        source = dict(source)
    for key, value in source.items():
        held = target.get(key)
        if value is None:
            if overwrite:
                _set_typed(target, key, None)
            continue
        inner, held_map = _as_map(value), _as_map(held)
        if inner is not None and held_map is not None:
            _merge_into(context, held_map, inner, overwrite=overwrite, level=level + 1)
            keep = bool(held_map)
        else:
            keep = not empty(held) and not overwrite
        if not keep:
            _set_typed(target, key, value)


def _as_map(value: Value) -> Values | None:
    return cast("Values", value) if isinstance(value, dict) else None


def _set_typed(target: Values, key: Value, value: Value) -> None:
    """Set a key. Raises FunctionError for a value of another type than the map's, as Go would."""
    if isinstance(target, TypedMap):
        element = target.go_type.element
        if element is not None and element != types.ANY and type_of(value) != element:
            raise FunctionError("a map of one type cannot take values of another")
    target[key] = value


FUNCTIONS: Final[FunctionTable] = table(
    {
        "deepCopy": deep_copy,
        "dict": new_dict,
        "dig": dig,
        "get": get,
        "hasKey": has_key,
        "keys": keys,
        "merge": merge,
        "mergeOverwrite": merge_overwrite,
        "mustDeepCopy": deep_copy,
        "mustMerge": merge,
        "mustMergeOverwrite": merge_overwrite,
        "omit": omit,
        "pick": pick,
        "pluck": pluck,
        "set": set_,
        "unset": unset,
        "values": values,
    }
)
