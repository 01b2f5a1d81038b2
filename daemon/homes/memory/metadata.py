"""Metadata of objects: what clients may write, what only the server writes, and what survives an update."""

import re
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import count
from random import Random
from typing import Final, TypeAlias
from uuid import UUID

import msgspec

from syncret.config.errors import Problem
from syncret.config.fields import DNS_LABEL
from syncret.config.meta import Document, Metadata, ObjectRef, is_object, member
from syncret.daemon.homes.contract import Conflict

_SERVERS_OWN: Final = (
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "managedFields",
)
_EMPTY: Final[tuple[object, ...]] = (None, {}, [])
_NOT_KEPT: Final = ("managedFields", "selfLink")
_CHANCE: Final = Random()  # noqa: S311  # uids are unique, not secret: no system call for each
_VERSION_4: Final = UUID(int=0, version=4).int
_RANDOM_BITS: Final = UUID(int=2**128 - 1, version=4).int & ~_VERSION_4
_UNSAFE_NAMES: Final = (".", "..")


def random_uid() -> str:
    """A uid that no other object of any cluster has."""
    digits = f"{_CHANCE.getrandbits(128) & _RANDOM_BITS | _VERSION_4:032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def counted_uids() -> Callable[[], str]:
    """Uids by count, for simulations that must come out the same each time."""
    numbers = count(1)
    return lambda: str(UUID(int=next(numbers), version=4))


def normalized(document: Document) -> Document:
    """A copy to work on: top level and metadata are fresh, nulls and empty collections in the latter gone."""
    given = document.get("metadata")
    kept: Document = {}
    if is_object(given):
        kept = {key: value for key, value in given.items() if value not in _EMPTY and key not in _NOT_KEPT}
    return {**document, "metadata": kept}


def is_named(document: Document) -> bool:
    """Whether a document has an API version, a kind and a name."""
    metadata = document.get("metadata")
    if not is_object(metadata):
        return False
    namespace = metadata.get("namespace")
    texts = (document.get("apiVersion"), document.get("kind"), metadata.get("name"))
    return all(isinstance(text, str) and text for text in texts) and isinstance(namespace, str | None)


def problems_of(document: Document) -> tuple[Problem, ...]:
    """The problems for which a normalized document cannot be stored as an object."""
    missing = [
        Problem(path=key, message="Required value", hint=f"say what {key} this object has")
        for key in ("apiVersion", "kind")
        if not isinstance(document.get(key), str) or not document[key]
    ]
    try:
        metadata = msgspec.convert(document["metadata"], Metadata)
    except msgspec.ValidationError as error:
        message, _, place = str(error).partition(" - at `$")
        return (*missing, Problem(path=f"metadata{place.rstrip('`')}", message=message))
    except UnicodeEncodeError:
        message = "has a name that is not text (half of a surrogate pair)"
        return (*missing, Problem(path="metadata", message=message, hint="write the whole character"))
    return (*missing, *_name_problems(metadata))


def _name_problems(metadata: Metadata) -> list[Problem]:
    problems: list[Problem] = []
    if not metadata.name:
        problems.append(Problem(path="metadata.name", message="Required value: name is required"))
    elif metadata.name in _UNSAFE_NAMES or re.search(r"[/%\0]", metadata.name):
        problems.append(
            Problem(path="metadata.name", message="Invalid value: may not be '.', '..' or contain '/' or '%'")
        )
    if metadata.namespace and not re.fullmatch(DNS_LABEL, metadata.namespace):
        problems.append(
            Problem(path="metadata.namespace", message="Invalid value: must be a lowercase DNS label")
        )
    return problems


def set_on_create(document: Document, *, uid: str, timestamp: str, counted: bool) -> None:
    """Set the fields that the server sets on creation; `counted` kinds have a generation."""
    metadata = document["metadata"]
    if not metadata.keys().isdisjoint(_SERVERS_OWN):
        for key in _SERVERS_OWN:
            metadata.pop(key, None)
    metadata |= {"uid": uid, "creationTimestamp": timestamp}
    if counted:
        metadata["generation"] = 1


def carry_over(document: Document, previous: Document) -> None:
    """Copy the fields that only the server writes from the previous version."""
    metadata, old = document["metadata"], previous["metadata"]
    for key in _SERVERS_OWN:
        metadata.pop(key, None)
        if key in old:
            metadata[key] = old[key]


def check_preconditions(ref: ObjectRef, document: Document, previous: Document) -> None:
    """Raise Conflict if the document was made from another resource version or uid than this one's."""
    metadata, old = document["metadata"], previous["metadata"]
    if (metadata.get("uid") or old["uid"]) != old["uid"]:
        raise Conflict(f"{ref}: the object of that name is another one now; read it again")
    if (metadata.get("resourceVersion") or old["resourceVersion"]) != old["resourceVersion"]:
        raise Conflict(
            f"{ref}: the object has been modified; apply your changes to the latest version and try again"
        )


def finalizer_problems(document: Document, previous: Document) -> Sequence[Problem]:
    """An object that is being deleted takes no new finalizers."""
    old = previous["metadata"]
    if "deletionTimestamp" not in old:
        return ()
    new = [
        name for name in document["metadata"].get("finalizers", ()) if name not in old.get("finalizers", ())
    ]
    if not new:
        return ()
    found = "no new finalizers can be added if the object is being deleted, found new finalizers"
    return [Problem(path="metadata.finalizers", message=f"Forbidden: {found} {new}")]


def marked_for_deletion(document: Document, *, timestamp: str) -> None:
    """Set the fields that the server sets when a deleted object waits for its finalizers."""
    metadata = document["metadata"]
    metadata |= {"deletionTimestamp": timestamp, "deletionGracePeriodSeconds": 0}
    if "generation" in metadata:
        metadata["generation"] += 1


def is_being_deleted(document: Document) -> bool:
    return "deletionTimestamp" in document["metadata"]


_Place: TypeAlias = tuple[str, ...]
_Keys: TypeAlias = Mapping[_Place, AbstractSet[str]]
_PLACES: Final[Mapping[_Place, _Place]] = {
    place: tuple(f"f:{step}" for step in place)
    for place in (("data",), ("metadata", "labels"), ("metadata", "annotations"))
}
"""The paths of entries in a document, and in managedFields."""


def update_managers(document: Document, previous: Document | None, manager: str, *, timestamp: str) -> None:
    """Bring `metadata.managedFields` up to date: which manager wrote which key.

    An API server tracks every field; here it is the entries of data, labels and annotations, which our
    writers ask about. A key belongs to the manager that changed it last; a write without a manager takes the
    keys that it changes from all.
    """
    entries: Sequence[Document] = () if previous is None else previous["metadata"].get("managedFields") or ()
    changed: _Keys = {place: _changed(document, previous, place) for place in _PLACES}
    mine = changed
    kept: list[Document] = []
    for entry in entries:
        left = _left(entry["fieldsV1"], document, changed)
        if entry["manager"] == manager:
            mine = {place: left[place] | changed[place] for place in _PLACES}
        elif any(left.values()):
            kept.append({**entry, "fieldsV1": _fields(left)})
    if manager and any(mine.values()):
        kept.append(
            {
                "manager": manager,
                "operation": "Update",
                "apiVersion": document["apiVersion"],
                "time": timestamp,
                "fieldsType": "FieldsV1",
                "fieldsV1": _fields(mine),
            }
        )
    document["metadata"].pop("managedFields", None)
    if kept:
        document["metadata"]["managedFields"] = kept


def _changed(document: Document, previous: Document | None, place: _Place) -> AbstractSet[str]:
    new = member(document, *place)
    if previous is None:
        return new.keys()
    old = member(previous, *place)
    return {key for key, value in new.items() if key not in old or old[key] != value}


def _left(fields: Document, document: Document, changed: _Keys) -> _Keys:
    """The keys of a manager less those that are gone or that this write changed."""
    left: dict[_Place, set[str]] = {}
    for place, path in _PLACES.items():
        owned = {key.removeprefix("f:") for key in member(fields, *path)}
        left[place] = (owned & member(document, *place).keys()) - changed[place]
    return left


def _fields(keys: _Keys) -> Document:
    """The keys as managedFields write them."""
    fields: Document = {}
    for place, owned in keys.items():
        if owned:
            below = fields
            for step in _PLACES[place]:
                below = below.setdefault(step, {})
            below |= {f"f:{key}": {} for key in owned}
    return fields
