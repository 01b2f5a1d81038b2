"""merge and mergeOverwrite: maps into maps, level by level, with the rules of the library ESO uses."""

from typing import Final, TypeAlias, cast

from syncret.daemon.core.templating import gotypes
from syncret.daemon.core.templating.errors import FunctionError
from syncret.daemon.core.templating.functions.contract import Context, FunctionTable, table
from syncret.daemon.core.templating.functions.defaults import empty
from syncret.daemon.core.templating.values import TypedMap, Value, type_of

Values: TypeAlias = dict[Value, Value]

_MOST_LEVELS: Final = 100


def merge(
    context: Context, target: dict[str, Value] | None, *sources: dict[str, Value] | None
) -> dict[str, Value]:
    """What the target has, it keeps, unless it is empty."""
    return _merged(context, target, sources, overwrite=False)


def merge_overwrite(
    context: Context, target: dict[str, Value] | None, *sources: dict[str, Value] | None
) -> dict[str, Value]:
    """What a source has, the target gets."""
    return _merged(context, target, sources, overwrite=True)


def _merged(
    context: Context,
    target: dict[str, Value] | None,
    sources: tuple[dict[str, Value] | None, ...],
    *,
    overwrite: bool,
) -> dict[str, Value]:
    present = [source for source in sources if source is not None]
    if target is None and not present:
        return cast("dict[str, Value]", TypedMap(gotypes.MAP, is_nil=True))
    result = {} if target is None else target
    for source in present:
        _merge_into(context, cast("Values", result), cast("Values", source), overwrite=overwrite, level=0)
    return result


def _merge_into(context: Context, target: Values, source: Values, *, overwrite: bool, level: int) -> None:
    if level > _MOST_LEVELS:
        raise FunctionError("the maps are nested too deeply")
    context.budget.charge(10 * len(source))
    if source is target:
        source = dict(source)
    for key, value in source.items():
        held = target.get(key)
        if value is None:
            if overwrite:
                _put(target, key, None)
            continue
        inner, held_map = _as_map(value), _as_map(held)
        if inner is not None and held_map is not None:
            _merge_into(context, held_map, inner, overwrite=overwrite, level=level + 1)
            keep = bool(held_map)
        else:
            keep = not empty(held) and not overwrite
        if not keep:
            _put(target, key, value)


def _as_map(value: Value) -> Values | None:
    return cast("Values", value) if isinstance(value, dict) else None


def _put(target: Values, key: Value, value: Value) -> None:
    """Go does not store a value of another type in a map of strings."""
    if isinstance(target, TypedMap):
        element = target.go_type.element
        if element is not None and element != gotypes.ANY and type_of(value) != element:
            raise FunctionError("a map of one type cannot take values of another")
    target[key] = value


FUNCTIONS: Final[FunctionTable] = table(
    {
        "merge": merge,
        "mergeOverwrite": merge_overwrite,
        "mustMerge": merge,
        "mustMergeOverwrite": merge_overwrite,
    }
)
