"""The place of a key: a folder and a name; and the secrets of an answer."""

import asyncio
import posixpath
from collections.abc import Mapping
from typing import Final, NamedTuple

import msgspec

from syncret.providers.errors import Denied
from syncret.providers.values import SecretBytes

_FRESH: Final = 120.0
"""Seconds for which a value may be kept for the next attempt; Infisical Cloud counts calls by the minute."""


class Place(NamedTuple):
    """A folder from the root, and the name of a secret in it."""

    folder: str
    name: str


def place_of(key: str, folder: str) -> Place:
    """A key with a slash names a folder too: from the root, or below that of the store."""
    above, slash, name = key.rpartition("/")
    if not slash:
        return Place(folder, key)
    return Place(posixpath.join(folder, above or "/") if not key.startswith("/") else above or "/", name)


class Secret(msgspec.Struct, rename="camel"):
    """A secret as the API has it."""

    secret_key: str
    secret_value: str = ""
    secret_path: str = ""
    secret_value_hidden: bool = False

    def value(self) -> SecretBytes:
        """Its value. Raises Denied if the identity may only see that it is there."""
        if self.secret_value_hidden:
            raise Denied(
                f"reading secret {self.secret_key}: the identity may not see its value",
                hint="let the identity's role read the values of secrets, not only describe them",
            )
        return SecretBytes(self.secret_value.encode())


class _Import(msgspec.Struct):
    secrets: list[Secret] = []


class Listed(msgspec.Struct):
    """The secrets of a folder, and of those that it imports."""

    secrets: list[Secret]
    imports: list[_Import] = []

    def all(self) -> list[Secret]:
        """All secrets. Of two with one name the later one counts: the folder's own over its imports.

        Of imports it is the first one, as in the operator's searches; a read by name gives the last one's.
        """
        return [*(secret for each in reversed(self.imports) for secret in each.secrets), *self.secrets]


class Begun:
    """What batches had read one by one when the store was throttled: the next attempt goes on from there.

    Otherwise one of more reads than a minute allows would begin again and again.
    """

    def __init__(self) -> None:
        self._kept: dict[Place, tuple[float, Secret]] = {}

    def keep(self, secrets: Mapping[Place, Secret]) -> None:
        now = asyncio.get_running_loop().time()
        self._kept = {place: kept for place, kept in self._kept.items() if kept[0] > now - _FRESH}
        self._kept.update({place: (now, secret) for place, secret in secrets.items()})

    def take(self, place: Place) -> Secret | None:
        """A secret that was read lately; only once."""
        kept = self._kept.pop(place, None)
        is_fresh = kept is not None and kept[0] > asyncio.get_running_loop().time() - _FRESH
        return kept[1] if kept is not None and is_fresh else None
