"""A secret manager in memory: for `fake` stores, and for any store of a simulation."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple, Protocol, TypeAlias

from syncret.providers.errors import Malformed
from syncret.providers.kit.golang import json as gojson
from syncret.providers.work import Work

_LATEST: Final = ""
"""Pushed entries have this empty version; it is no alias for the newest one."""

_Place: TypeAlias = str | tuple[str, str]
"""Key and version; the key alone where the version is empty."""


class Seed(NamedTuple):
    """One entry that exists from the start."""

    key: str
    value: str
    version: str = _LATEST


class Entry(Protocol):
    """An entry of a store's spec, or a `Seed`."""

    @property
    def key(self) -> str: ...
    @property
    def value(self) -> str: ...
    @property
    def version(self) -> str: ...


class SecretManager:
    """Entries by key and version. A value is bytes; if it is a JSON object, its members are its properties.

    Initial and pushed entries live as long as the manager and can be changed. Seeded entries are those of a
    store's spec: they change with the spec alone.
    """

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._values = {_place(each.key, each.version): each.value.encode() for each in entries}
        self._seeded: dict[_Place, str] = {}
        """Texts of the spec, not copies of them: there may be fifty thousand."""

    def __repr__(self) -> str:
        return f"<SecretManager {len(self)} entries, {len(self._seeded)} of them seeded>"

    def __len__(self) -> int:
        return len(self._values) + len(self._seeded)

    def seed(self, seeds: Iterable[Entry]) -> None:
        """Replace all seeded entries. What was pushed stays, unless a seed takes its place."""
        self._seeded = {_place(each.key, each.version): each.value for each in seeds}
        for place in self._values.keys() & self._seeded.keys():
            del self._values[place]

    def get(self, key: str, version: str = _LATEST) -> bytes | None:
        """The value of one version; None if there is none."""
        return self._at(_place(key, version))

    def find(self, wanted: Callable[[str], bool]) -> dict[str, bytes]:
        """The values of all keys that match, each in the version that sorts last. For threads, too."""
        seeded, values = self._seeded, dict(self._values)
        last: dict[str, str] = {}
        for place in (*seeded, *values):
            key, version = (place, _LATEST) if isinstance(place, str) else place
            if wanted(key):
                last[key] = max(version, last.get(key, version))
        places = {key: _place(key, last[key]) for key in sorted(last)}
        return {
            key: seeded[place].encode() if place in seeded else values[place] for key, place in places.items()
        }

    def put(self, key: str, value: bytes, work: Work, name: str = "") -> bool:
        """Store a value, or one property of it; returns whether anything changed. For threads, too.

        Raises Malformed for a seeded key, and for a property of a value that is no JSON object.
        """
        if key in self._seeded:
            hint = "the store's own spec holds this key: push to another one"
            raise Malformed("key already exists", hint=hint)
        new = self._with_property(key, name, value, work) if name else value
        if self._values.get(key) == new:
            return False
        self._values[key] = new
        return True

    def remove(self, key: str, work: Work, name: str = "") -> bool:
        """Remove an entry, or one property of it; returns whether it existed. Seeded ones stay."""
        fields = (_fields(self._values.get(key), work) or {}) if name else {}
        if key not in self._values or (name and name not in fields):
            return False
        fields.pop(name, None)
        if fields:
            self._values[key] = _join(fields, work)
        else:
            del self._values[key]
        return True

    def has(self, key: str, work: Work, name: str = "") -> bool:
        """Whether the entry, or the property, exists. Of a seeded entry every property counts as existing."""
        if name and key not in self._seeded:
            return name in (_fields(self._values.get(key), work) or ())
        return key in self._seeded or key in self._values

    def _at(self, place: _Place) -> bytes | None:
        seeded = self._seeded.get(place)
        return self._values.get(place) if seeded is None else seeded.encode()

    def _with_property(self, key: str, name: str, value: bytes, work: Work) -> bytes:
        fields = _fields(self._values.get(key, b"{}"), work)
        if fields is None:
            raise Malformed(
                f"the value of {key} is not a JSON object, so it has no properties",
                hint="leave the property out, or push to another remoteKey",
            )
        fields[name] = gojson.quote(gojson.text(value), work, escape_html=False)
        return _join(fields, work)


def _place(key: str, version: str) -> _Place:
    return key if version == _LATEST else (key, version)


def _fields(value: bytes | None, work: Work) -> dict[str, str] | None:
    """The members of a JSON object as raw text; None if it is no object."""
    try:
        return None if value is None else gojson.raw_fields(value, work)
    except Malformed:
        return None


def _join(fields: Mapping[str, str], work: Work) -> bytes:
    members = [f"{gojson.quote(name, work, escape_html=False)}:{fields[name]}" for name in sorted(fields)]
    return ("{" + gojson.joined(members, work) + "}").encode("utf-8", "surrogateescape")
