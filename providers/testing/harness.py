"""The facts about a provider that the suite needs, and its access to the manager without the provider."""

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from enum import StrEnum
from typing import NamedTuple, Protocol

from syncret.providers.contract import Client


class Ability(StrEnum):
    """What a provider may lack. A harness gives a reason for each: the suite skips nothing without one."""

    READ = "reading"
    ABSENCE = "reporting absence"
    PROPERTY = "properties"
    VERSION = "versions"
    MAP = "reading as a map"
    FIND_NAME = "finding by name"
    FIND_PATH = "finding by path"
    FIND_TAGS = "finding by tags"
    PUSH = "pushing"
    PUSH_PROPERTY = "pushing properties"
    COMPARE = "comparing before a push"
    DELETE = "deleting"
    DELETE_PROPERTY = "deleting properties"
    EXISTS = "looking whether something exists"
    OWN = "recognizing what it made itself"
    PROBE = "probing"
    THROTTLE = "throttling"
    DENY = "denying"
    TIME_OUT = "timing out"
    REFUSE_KEY = "refusing one key of a batch"
    ROTATE = "changing credentials"


class Fault(StrEnum):
    """How the manager can be made to fail."""

    THROTTLE = "throttle"
    DENY = "deny"
    TIME_OUT = "time out"


class Entry(NamedTuple):
    """An entry to store in the manager."""

    key: str
    value: bytes
    version: str = ""
    tags: Mapping[str, str] = {}


class HoldsText:
    """The part of a harness whose manager holds any text, under any simple name."""

    def whole(self, text: str) -> bytes:
        return text.encode()

    def key(self, name: str) -> str:
        return name


class Harness(Protocol):
    """One provider, and a manager for it that the test owns."""

    @property
    def lacks(self) -> Mapping[Ability, str]:
        """What the provider cannot do, each with the documented reason."""
        ...

    @property
    def canaries(self) -> tuple[str, ...]:
        """Credentials in use, and other texts that must never be in an error."""
        ...

    @property
    def versions(self) -> tuple[str, str]:
        """The names of the first and the second version of an entry."""
        ...

    def whole(self, text: str) -> bytes:
        """A value that the manager can hold by itself, and gives back byte for byte, with this text in it."""
        ...

    def key(self, name: str) -> str:
        """A key that the manager accepts, made of a simple name (`a`, `b-1`)."""
        ...

    async def seed(self, *entries: Entry) -> None:
        """Put entries into the manager without the provider, in this order, and without our mark."""
        ...

    async def stored(self, key: str) -> bytes | None:
        """The value in the manager under a key."""
        ...

    async def writes(self) -> int:
        """How many writes the manager has taken from the provider."""
        ...

    def open(self) -> AbstractAsyncContextManager[Client]:
        """A client, as the engine opens it."""
        ...

    def broken(self, fault: Fault) -> AbstractContextManager[None]:
        """Every call fails in this way for as long as it lasts."""
        ...

    def refusing(self, key: str) -> AbstractContextManager[None]:
        """This key is refused, and no other."""
        ...

    async def rotate(self) -> None:
        """Revoke the credentials in use, and replace them by new ones."""
        ...
