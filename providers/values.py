"""Secret values, the keys and properties by which they are read, and searches."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias


@dataclass(frozen=True, slots=True)
class SecretBytes:
    """A secret value, which cannot be printed by accident; `raw` has the bytes."""

    raw: bytes = field(repr=False)

    def __str__(self) -> str:
        return "<secret>"

    def __len__(self) -> int:
        return len(self.raw)


SecretMap: TypeAlias = Mapping[str, SecretBytes]


class RemoteKey(NamedTuple):
    """One entry of a secret manager in one version, which is what a call fetches. Equal keys share one call.

    `property` is empty unless the request itself depends on it: a provider of that kind is `Keyed`.
    """

    key: str
    version: str = ""
    metadata: bool = False
    property: str = ""


class RemoteRef(NamedTuple):
    """One value in a secret manager, or one property of it."""

    key: str
    property: str = ""
    version: str = ""
    metadata: bool = False

    def remote_key(self) -> RemoteKey:
        """The key to fetch for this ref."""
        return RemoteKey(self.key, self.version, self.metadata)


class FindQuery(NamedTuple):
    """A search for entries: by name (a regular expression), under a path, by tags."""

    name: str | None = None
    path: str | None = None
    tags: tuple[tuple[str, str], ...] | None = None
    conversion: Literal["Default", "Unicode"] = "Default"
