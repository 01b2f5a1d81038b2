"""The keys of the chart as the JSON Schema that Helm checks values against, and the same check here."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

from syncret.config.errors import Problem
from syncret.config.meta import Document
from syncret.config.paths import join
from syncret.config.spelling import did_you_mean
from syncret.daemon.install.chart.keys import Key, Keys, Open

_TYPES: Final[dict[str, type | tuple[type, ...]]] = {
    "array": list,
    "boolean": bool,
    "null": type(None),
    "object": dict,
    "string": str,
}


def schema(keys: Keys) -> Document:
    """The schema of a map of keys."""
    found: Document = {
        "type": "object",
        "properties": {name: _of(each) for name, each in keys.items()},
        "additionalProperties": isinstance(keys, Open),
    }
    needed = [name for name, each in keys.items() if _is_needed(each)]
    return {**found, "required": needed} if needed else found


def _of(each: Key | Keys) -> Document:
    return {**each.schema, "description": each.about} if isinstance(each, Key) else schema(each)


def _is_needed(each: Key | Keys) -> bool:
    """Whether a template reads members of it, so that it must not be null."""
    if isinstance(each, Key):
        return each.has_effect and each.schema.get("type") == "object"
    return any(_is_needed(inner) or _has_effect(inner) for inner in each.values())


def _has_effect(each: Key | Keys) -> bool:
    return isinstance(each, Key) and each.has_effect


def check(value: object, schema_: Document, path: str = "") -> Iterator[Problem]:
    """What is wrong with a value by a schema of this module."""
    if "enum" in schema_ and value not in schema_["enum"]:
        known = [str(each).lower() if isinstance(each, bool) else str(each) for each in schema_["enum"]]
        yield _problem(path, f"cannot be {value!r}", did_you_mean(str(value), known))
    types: str | list[str] = schema_.get("type", [])
    wanted = [types] if isinstance(types, str) else types
    if wanted and not any(_is(value, each) for each in wanted):
        yield _problem(path, f"is no {' or '.join(wanted)}", "look it up in values.yaml")
    elif isinstance(value, Mapping):
        yield from _check_map(cast("Mapping[str, object]", value), schema_, path)
    elif isinstance(value, list) and "items" in schema_:
        for index, each in enumerate(cast("Sequence[object]", value)):
            yield from check(each, schema_["items"], f"{path}[{index}]")
    elif isinstance(value, int) and value < schema_.get("minimum", value):
        yield _problem(path, f"is less than {schema_['minimum']}", "write a larger number")


def _problem(path: str, message: str, hint: str) -> Problem:
    return Problem(path=path, message=message, hint=hint)


def _is(value: object, type_: str) -> bool:
    if type_ == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, _TYPES[type_])


def _check_map(value: Mapping[str, object], schema_: Document, path: str) -> Iterator[Problem]:
    known: Mapping[str, Any] = schema_.get("properties", {})
    others: Any = schema_.get("additionalProperties", True)
    for name, each in value.items():
        where = join(path, name)
        if name in known:
            yield from check(each, known[name], where)
        elif others is False:
            yield _problem(where, "is no value of the chart", did_you_mean(name, sorted(known)))
        elif others is not True:
            yield from check(each, others, where)
    for name in schema_.get("required", ()):
        if name not in value:
            yield _problem(join(path, name), "is missing", "leave the null out")
