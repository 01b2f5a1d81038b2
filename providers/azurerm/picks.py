"""The place of a value in an answer of Azure Resource Manager: a member, or one of a list's entry. Pure."""

from base64 import b64decode
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple, TypeAlias

from syncret.config.fields import Json
from syncret.config.meta import is_list, is_object
from syncret.providers.values import SecretBytes


class Pick(NamedTuple):
    """One value of an answer."""

    path: tuple[str, ...]
    """The members that lead to it, from the answer or from the entry."""
    entries: tuple[str, ...] = ()
    """The members that lead to a list of entries; none: the value is no entry's."""
    by: str = ""
    """The member that identifies an entry; empty: the first entry is meant."""
    named: str = ""
    """The value of that member; empty: it is absent or empty."""
    encoded: bool = False
    """Whether the value is in base64."""


Names: TypeAlias = Mapping[str, Pick]
"""The names that an API serves, and where its answer has them."""

PK4: Final = ("primaryKey", "secondaryKey", "primaryConnectionString", "secondaryConnectionString")


def members(*names: str, **others: str) -> Names:
    """Members of the answer itself, by their own names or by others, which are dotted paths."""
    return {name: Pick((name,)) for name in names} | {
        name: Pick(tuple(path.split("."))) for name, path in others.items()
    }


def entries(where: str, by: str, names: Mapping[str, tuple[str, str]]) -> Names:
    """Values of entries: for each name what the entry is called, and the member that has the value."""
    return {
        name: Pick((member,), tuple(where.split(".")), by, entry) for name, (entry, member) in names.items()
    }


def picked(answer: Json, names: Names) -> dict[str, SecretBytes]:
    """The values by name; one that is absent, empty or of another shape is left out."""
    return {name: SecretBytes(value) for name, pick in names.items() if (value := _picked(answer, pick))}


def _picked(answer: Json, pick: Pick) -> bytes:
    value = next(_candidates(answer, pick), None)
    if not isinstance(value, str):
        return b""
    if not pick.encoded:
        return value.encode("utf-8", "replace")
    try:
        return b64decode(value, validate=True)
    except ValueError:
        return b""


def _candidates(answer: Json, pick: Pick) -> Iterator[Json]:
    if not pick.entries:
        yield _below(answer, pick.path)
        return
    found = _below(answer, pick.entries)
    for entry in found if is_list(found) else ():
        if not pick.by or (_below(entry, (pick.by,)) or "") == pick.named:
            yield _below(entry, pick.path)


def _below(value: Json, path: tuple[str, ...]) -> Json:
    for name in path:
        value = value.get(name) if is_object(value) else None
    return value
