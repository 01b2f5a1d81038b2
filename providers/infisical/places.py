"""The place of a key: a folder and a name; and the secrets of an answer."""

import posixpath
from typing import NamedTuple

import msgspec

from syncret.providers.errors import Denied
from syncret.providers.values import SecretBytes


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
        """All secrets. Of two with one name the later one counts: the folder's own over its imports."""
        return [*(secret for each in reversed(self.imports) for secret in each.secrets), *self.secrets]
