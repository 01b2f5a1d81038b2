"""A secret manager in memory: for `fake` stores, and for any store of a simulation."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from syncret.providers.errors import Malformed
from syncret.providers.kit import gojson

_LATEST: Final = ""
"""What is pushed has no version; it is no alias for the newest one."""


class Seed(NamedTuple):
    """One entry that is there from the start."""

    key: str
    value: str
    version: str = _LATEST


class SecretManager:
    """Entries by key and version. Seeded ones cannot be changed; pushed ones live as long as the object.

    A value is bytes. Properties are the members of a value that is a JSON object.
    """

    def __init__(self, seeds: Iterable[Seed] = ()) -> None:
        self._pushed: dict[str, bytes] = {}
        self._seeded: Mapping[tuple[str, str], bytes] = {}
        self.seed(seeds)

    def __repr__(self) -> str:
        return f"<SecretManager {len(self._seeded)} seeded, {len(self._pushed)} pushed>"

    def seed(self, seeds: Iterable[Seed]) -> None:
        """Replace all seeded entries. What was pushed stays, unless a seed takes its key."""
        self._seeded = {(seed.key, seed.version): seed.value.encode() for seed in seeds}
        for key, _ in self._seeded:
            self._pushed.pop(key, None)

    def get(self, key: str, version: str = _LATEST) -> bytes | None:
        """The value of one version; None where there is none."""
        if version == _LATEST and key in self._pushed:
            return self._pushed[key]
        return self._seeded.get((key, version))

    def find(self, wanted: Callable[[str], bool]) -> dict[str, bytes]:
        """The values of all keys that are wanted, each in the version that sorts last."""
        found: dict[str, tuple[str, bytes]] = {}
        for key, version, value in self._entries():
            if wanted(key) and (key not in found or found[key][0] < version):
                found[key] = (version, value)
        return {key: value for key, (_, value) in sorted(found.items())}

    def put(self, key: str, value: bytes, name: str = "") -> bool:
        """Store a value, or one property of it; says whether anything changed.

        Raises Malformed for a seeded key, and for a property of a value that is no JSON object.
        """
        if (key, _LATEST) in self._seeded:
            raise Malformed(
                "key already exists", hint="the store's own spec holds this key: push to another one"
            )
        new = self._with_property(key, name, value) if name else value
        if self._pushed.get(key) == new:
            return False
        self._pushed[key] = new
        return True

    def remove(self, key: str, name: str = "") -> bool:
        """Remove a pushed entry, or one property of it; says whether anything was there. Seeded ones stay."""
        if not name:
            return self._pushed.pop(key, None) is not None
        fields = _fields(self._pushed.get(key))
        if fields is None or name not in fields:
            return False
        del fields[name]
        if fields:
            self._pushed[key] = _join(fields)
        else:
            del self._pushed[key]
        return True

    def has(self, key: str, name: str = "") -> bool:
        """Whether the entry is there, and of a pushed one the property. Seeded ones count as a whole."""
        if (key, _LATEST) in self._seeded:
            return True
        if not name:
            return key in self._pushed
        return name in (_fields(self._pushed.get(key)) or ())

    def _with_property(self, key: str, name: str, value: bytes) -> bytes:
        fields = _fields(self._pushed.get(key, b"{}"))
        if fields is None:
            raise Malformed(
                f"the value of {key} is not a JSON object, so it has no properties",
                hint="leave the property out, or push to another remoteKey",
            )
        fields[name] = gojson.quote(gojson.text(value), escape_html=False)
        return _join(fields)

    def _entries(self) -> Iterator[tuple[str, str, bytes]]:
        for (key, version), value in self._seeded.items():
            yield key, version, value
        for key, value in self._pushed.items():
            yield key, _LATEST, value


def _fields(value: bytes | None) -> dict[str, str] | None:
    """The members of a JSON object as raw text; None where there is no object."""
    if value is None:
        return None
    try:
        return gojson.raw_fields(value)
    except Malformed:
        return None


def _join(fields: Mapping[str, str]) -> bytes:
    members = (f"{gojson.quote(name, escape_html=False)}:{fields[name]}" for name in sorted(fields))
    return ("{" + ",".join(members) + "}").encode("utf-8", "surrogateescape")
