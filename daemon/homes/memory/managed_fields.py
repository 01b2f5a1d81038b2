"""Which manager wrote which key, as `metadata.managedFields` tells it.

An API server tracks every field; here it is the entries of data, labels and annotations, which our writers
ask about. A key belongs to whoever changed it last; a write without a manager's name takes the keys that it
changes from everyone.
"""

from collections.abc import Mapping
from typing import Final, TypeAlias

from syncret.config.meta import Document, member

_Place: TypeAlias = tuple[str, ...]
_PLACES: Final[Mapping[_Place, _Place]] = {
    place: tuple(f"f:{step}" for step in place)
    for place in (("data",), ("metadata", "labels"), ("metadata", "annotations"))
}
"""Where the entries stand in a document, and where managedFields speak of them."""


def update(document: Document, previous: Document | None, manager: str, *, timestamp: str) -> None:
    """Bring the document's managedFields up to date with what this write changed."""
    entries = [] if previous is None else list(previous["metadata"].get("managedFields") or ())
    changed = {place: keys for place in _PLACES if (keys := _changed(document, previous, place))}
    kept: list[Document] = []
    mine: Document = {}
    for entry in entries:
        fields = _without(entry["fieldsV1"], document, changed)
        if entry["manager"] == manager:
            mine = fields
        elif fields:
            kept.append({**entry, "fieldsV1": fields})
    if manager:
        mine = _with(mine, changed)
        if mine:
            kept.append(
                {
                    "manager": manager,
                    "operation": "Update",
                    "apiVersion": document["apiVersion"],
                    "time": timestamp,
                    "fieldsType": "FieldsV1",
                    "fieldsV1": mine,
                }
            )
    document["metadata"].pop("managedFields", None)
    if kept:
        document["metadata"]["managedFields"] = kept


def _changed(document: Document, previous: Document | None, place: _Place) -> frozenset[str]:
    new = member(document, *place)
    if previous is None:
        return frozenset(new)
    old = member(previous, *place)
    return frozenset(key for key, value in new.items() if key not in old or old[key] != value)


def _without(fields: Document, document: Document, changed: dict[_Place, frozenset[str]]) -> Document:
    """A manager's fields less those that are gone or that this write changed."""
    left: Document = {}
    for place, told in _PLACES.items():
        owned = {key.removeprefix("f:") for key in member(fields, *told)}
        left = _put(left, place, (owned & member(document, *place).keys()) - changed.get(place, frozenset()))
    return left


def _with(fields: Document, changed: dict[_Place, frozenset[str]]) -> Document:
    for place, keys in changed.items():
        owned = {key.removeprefix("f:") for key in member(fields, *_PLACES[place])}
        fields = _put(fields, place, owned | keys)
    return fields


def _put(fields: Document, place: _Place, keys: frozenset[str] | set[str]) -> Document:
    if not keys:
        return fields
    made: Document = {f"f:{key}": {} for key in sorted(keys)}
    for step in reversed(place[1:]):
        made = {**member(fields, f"f:{place[0]}"), f"f:{step}": made}
    return {**fields, f"f:{place[0]}": made}
