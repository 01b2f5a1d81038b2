"""Renames fetched values, and merges JSON values: `spec.dataFrom[].rewrite`."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from syncret.config.fields import Json
from syncret.config.resources.external_secret import Rewrite, RewriteMerge
from syncret.providers.errors import Malformed
from syncret.providers.kit import gojson, goregexp

Transform: TypeAlias = Callable[[str], Callable[[str], str]]
"""Compiles a template into a function from the old key to the new one. Both raise Malformed."""


def rewrite(
    operations: Sequence[Rewrite], values: Mapping[str, bytes], *, transform: Transform
) -> dict[str, bytes]:
    """The values after all operations, one upon the other. Raises Malformed with the operation's place.

    Where several keys become one, the value of the last of them in alphabetical order stays.
    """
    current = dict(values)
    for index, operation in enumerate(operations):
        try:
            current = _apply(operation, current, transform)
        except Malformed as error:
            problem = f"failed rewrite operation[{index}]: {error.message}"
            raise Malformed(problem, hint=error.hint) from error
    return current


def _apply(operation: Rewrite, values: dict[str, bytes], transform: Transform) -> dict[str, bytes]:
    if operation.merge is not None:
        return _merge(operation.merge, values)
    if operation.regexp is not None:
        pattern, target = goregexp.compile(operation.regexp.source), operation.regexp.target
        return {pattern.replace_all(key, target): values[key] for key in sorted(values)}
    if operation.transform is not None:
        rename = transform(operation.transform.template)
        return {rename(key): values[key] for key in sorted(values)}
    return values


def _merge(operation: RewriteMerge, values: dict[str, bytes]) -> dict[str, bytes]:
    merged, conflicts = _merged(operation, values)
    if conflicts and operation.conflict_policy != "Ignore":
        raise Malformed(
            f"merge failed with conflicts: {', '.join(conflicts)}",
            hint="conflictPolicy: Ignore lets the last one win",
        )
    if operation.strategy != "JSON":
        return {key: gojson.byte_value(value) for key, value in merged.items()}
    if not operation.into:
        raise Malformed(
            "merge failed with missing 'into' field", hint="name the key that takes the merged object"
        )
    return {**values, operation.into: gojson.marshal(merged, escape_html=False).encode()}


def _merged(operation: RewriteMerge, values: dict[str, bytes]) -> tuple[dict[str, Json], list[str]]:
    """All members of all values, and the names of those met twice: a later value wins over an earlier one."""
    merged: dict[str, Json] = {}
    conflicts: list[str] = []
    for key in [*sorted(set(values).difference(operation.priority)), *operation.priority]:
        if key not in values:
            if operation.priority_policy == "IgnoreNotFound":
                continue
            raise Malformed(f'merge failed with key "{key}" not found in input map')
        try:
            members = gojson.unmarshal_object(values[key])
        except Malformed as error:
            raise Malformed(f"merge failed: key {key!r}: {error.message}") from error
        conflicts += sorted(merged.keys() & members.keys())
        merged |= members
    return merged, conflicts
