"""Whether two specs of a child mean the same: another operator writes durations and empty fields its own way.

Go writes `1h` as `1h0m0s` and leaves out empty fields. An update for that alone would sync the child again.
"""

from contextlib import suppress
from typing import Any

import msgspec

from syncret.config.durations import DurationError, parse_duration
from syncret.config.fields import Json
from syncret.config.meta import Document, member
from syncret.config.resources.kinds import Kind


def says_the_same(kind: Kind, one: Json, other: Json) -> bool:
    """Whether both specs of that kind are equal once they are read."""
    if one == other:
        return True
    try:
        return _read(kind, one) == _read(kind, other)
    except msgspec.ValidationError:
        return False


def _read(kind: Kind, spec: Json) -> Document:
    resource: Any = msgspec.convert(
        {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": "child"}, "spec": spec},
        type=kind.model,
    )
    read: Document = {**msgspec.to_builtins(resource.spec), "refreshInterval": resource.spec.refresh_interval}
    _in_seconds(read, "refreshInterval")
    for window in member(read, "syncWindows").get("windows") or ():
        _in_seconds(window, "duration")
    return read


def _in_seconds(fields: Document, name: str) -> None:
    with suppress(DurationError):  # one that is malformed is equal to itself alone
        fields[name] = parse_duration(str(fields.get(name)))
