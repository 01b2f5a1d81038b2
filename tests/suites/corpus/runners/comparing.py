"""Reading and comparing documents whose shape is not known."""

from collections.abc import Collection, Iterator, Mapping
from typing import TypeGuard

from syncret.config.fields import Json
from syncret.config.meta import Document, is_object


class Unknown(Exception):  # what a case says, not a fault
    """A case says something that the runner does not know: it fails, whatever else it says."""


def knows(said: Mapping[str, Json], known: Collection[str], where: str) -> None:
    """Raise Unknown for a member that nobody would look at."""
    unknown = sorted(said.keys() - set(known))
    if unknown:
        raise Unknown(f"the runner does not know {', '.join(f'{where}.{name}' for name in unknown)}")


def is_list(value: object) -> TypeGuard[list[Json]]:
    """Whether a JSON value is a list."""
    return type(value) is list


def value_in(document: Json, *path: str) -> Json:
    """What stands there; None where nothing does."""
    for name in path:
        document = document.get(name) if is_object(document) else None
    return document


def object_in(document: Json, *path: str) -> Document:
    """The object there; an empty one where there is none."""
    value = value_in(document, *path)
    return value if is_object(value) else {}


def list_in(document: Json, *path: str) -> list[Json]:
    """The list there; an empty one where there is none."""
    value = value_in(document, *path)
    return value if is_list(value) else []


def differences(expected: Json, came: Json, path: str) -> Iterator[str]:
    """Where a document lacks what is expected: mappings may hold more, lists and values are equal."""
    if is_object(expected) and is_object(came):
        for name, member in expected.items():
            if name in came:
                yield from differences(member, came[name], f"{path}.{name}")
            else:
                yield f"expected {path}.{name} = {member!r}; there is none"
    elif is_list(expected) and is_list(came) and len(expected) == len(came):
        for place, (one, other) in enumerate(zip(expected, came, strict=True)):
            yield from differences(one, other, f"{path}[{place}]")
    elif expected != came or isinstance(expected, bool) is not isinstance(came, bool):
        yield f"expected {path} = {expected!r}; came {came!r}"
