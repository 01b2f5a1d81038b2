"""A secret manager in memory: for `fake` stores, and for any store of a simulation."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple

from syncret.providers.errors import Malformed
from syncret.providers.kit.golang import json as gojson
from syncret.providers.work import Work

_LATEST: Final = ""
"""Pushed entries have this empty version; it is no alias for the newest one."""


class Seed(NamedTuple):
    """One entry that exists from the start."""

    key: str
    value: str
    version: str = _LATEST


class SecretManager:
    """Entries by key and version. A value is bytes; if it is a JSON object, its members are its properties.

    Initial and pushed entries live as long as the manager and can be changed. Seeded entries are those of a
    store's spec: they change with the spec alone.
    """

    def __init__(self, entries: Iterable[Seed] = ()) -> None:
        self._values = _by_version(entries)
        self._seeded: frozenset[tuple[str, str]] = frozenset()

    def __repr__(self) -> str:
        return f"<SecretManager {len(self._values)} entries, {len(self._seeded)} of them seeded>"

    def __len__(self) -> int:
        return len(self._values)

    def seed(self, seeds: Iterable[Seed]) -> None:
        """Replace all seeded entries. What was pushed stays, unless a seed takes its place."""
        for old in self._seeded:
            del self._values[old]
        entries = _by_version(seeds)
        self._values |= entries
        self._seeded = frozenset(entries)

    def get(self, key: str, version: str = _LATEST) -> bytes | None:
        """The value of one version; None if there is none."""
        return self._values.get((key, version))

    def find(self, wanted: Callable[[str], bool]) -> dict[str, bytes]:
        """The values of all keys that match, each in the version that sorts last. For threads, too."""
        held = dict(self._values)
        return {key: held[key, version] for key, version in sorted(held) if wanted(key)}

    def put(self, key: str, value: bytes, work: Work, name: str = "") -> bool:
        """Store a value, or one property of it; returns whether anything changed. For threads, too.

        Raises Malformed for a seeded key, and for a property of a value that is no JSON object.
        """
        place = (key, _LATEST)
        if place in self._seeded:
            hint = "the store's own spec holds this key: push to another one"
            raise Malformed("key already exists", hint=hint)
        new = self._with_property(key, name, value, work) if name else value
        if self._values.get(place) == new:
            return False
        self._values[place] = new
        return True

    def remove(self, key: str, work: Work, name: str = "") -> bool:
        """Remove an entry, or one property of it; returns whether it existed. Seeded ones stay."""
        place = (key, _LATEST)
        fields = (_fields(self._values.get(place), work) or {}) if name else {}
        if place in self._seeded or place not in self._values or (name and name not in fields):
            return False
        fields.pop(name, None)
        if fields:
            self._values[place] = _join(fields, work)
        else:
            del self._values[place]
        return True

    def has(self, key: str, work: Work, name: str = "") -> bool:
        """Whether the entry, or the property, exists. Of a seeded entry every property counts as existing."""
        place = (key, _LATEST)
        if name and place not in self._seeded:
            return name in (_fields(self._values.get(place), work) or ())
        return place in self._values

    def _with_property(self, key: str, name: str, value: bytes, work: Work) -> bytes:
        fields = _fields(self._values.get((key, _LATEST), b"{}"), work)
        if fields is None:
            raise Malformed(
                f"the value of {key} is not a JSON object, so it has no properties",
                hint="leave the property out, or push to another remoteKey",
            )
        fields[name] = gojson.quote(gojson.text(value), work, escape_html=False)
        return _join(fields, work)


def _by_version(entries: Iterable[Seed]) -> dict[tuple[str, str], bytes]:
    return {(entry.key, entry.version): entry.value.encode() for entry in entries}


def _fields(value: bytes | None, work: Work) -> dict[str, str] | None:
    """The members of a JSON object as raw text; None if it is no object."""
    try:
        return None if value is None else gojson.raw_fields(value, work)
    except Malformed:
        return None


def _join(fields: Mapping[str, str], work: Work) -> bytes:
    members = [f"{gojson.quote(name, work, escape_html=False)}:{fields[name]}" for name in sorted(fields)]
    return ("{" + gojson.joined(members, work) + "}").encode("utf-8", "surrogateescape")
