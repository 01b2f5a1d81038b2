"""The part of a harness that is the same for all servers of REST APIs."""

import json
from collections.abc import Callable, Generator, Mapping
from contextlib import AbstractAsyncContextManager, AbstractContextManager, contextmanager
from typing import Final, Generic, TypeVar

import msgspec
from aiohttp import web

from syncret.config.meta import Document
from syncret.providers.contract import Client
from syncret.providers.registry import Registry
from syncret.providers.testing import Ability, Entry, Fault, HoldsText
from tests.support.opened import NOW, Given, context
from tests.support.servers.gate import broken
from tests.support.servers.rest import RestServer

S = TypeVar("S", bound=RestServer)

LOGIN: Final = {"name": "login", "key": "token"}
"""The selector of the token."""


def read_only(reason: str) -> dict[Ability, str]:
    """What a provider lacks that writes nothing."""
    writes = (Ability.PUSH, Ability.PUSH_PROPERTY, Ability.COMPARE, Ability.DELETE, Ability.DELETE_PROPERTY)
    return dict.fromkeys((*writes, Ability.EXISTS, Ability.OWN), reason)


def finds_nothing(reason: str) -> dict[Ability, str]:
    """What a provider lacks that has no searches."""
    return dict.fromkeys((Ability.FIND_NAME, Ability.FIND_PATH, Ability.FIND_TAGS), reason)


def texts_of(value: bytes) -> dict[str, str]:
    """The members of a JSON object as texts, for managers whose entries have fields."""
    return {name: _text(each) for name, each in json.loads(value).items()}


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, separators=(",", ":"))


class HoldsFields:
    """The part of a harness whose manager holds fields: a value by itself is an object with one."""

    def whole(self, text: str) -> bytes:
        return json.dumps({"value": text}, separators=(",", ":")).encode()


class RestHarness(HoldsText, Generic[S]):
    """A store of one provider, on a server that the test owns."""

    provider: str
    lacks: Mapping[Ability, str] = {}
    versions: tuple[str, str] = ("", "")

    def __init__(self, server: S) -> None:
        self.server = server
        self.given = Given(secrets={"login": {"token": server.token.encode()}})
        self.now: Callable[[], float] = lambda: NOW

    def spec(self) -> Document:
        """The part of the store's manifest that is the provider's."""
        raise AssertionError("each harness has its own")

    async def seed(self, *entries: Entry) -> None:
        """Put entries there, past the provider."""
        raise AssertionError(f"each harness has its own way for {entries}")

    async def stored(self, key: str) -> bytes | None:
        """What stands in the manager under a key."""
        raise AssertionError(f"nothing is pushed: {key}")

    @property
    def canaries(self) -> tuple[str, ...]:
        return (self.server.token,)

    async def writes(self) -> int:
        return self.server.writes

    def open(self) -> AbstractAsyncContextManager[Client]:
        provider = Registry().provider(self.provider)
        assert provider.open is not None
        opened = context(self.given, now=self.now)
        return provider.open(msgspec.convert(self.spec(), provider.spec.model), opened)

    def broken(self, fault: Fault) -> AbstractContextManager[None]:
        answers: Mapping[Fault, Callable[[web.Request], web.StreamResponse]] = {
            Fault.THROTTLE: self.server.throttled,
            Fault.DENY: self.server.denied,
            Fault.TIME_OUT: broken,
        }
        return self.server.failing(answers[fault])

    @contextmanager
    def refusing(self, key: str) -> Generator[None, None, None]:
        self.server.refused.add(key)
        yield
        self.server.refused.clear()

    async def rotate(self) -> None:
        self.server.token = "canary-token-2"
        self.given.secrets["login"] = {"token": self.server.token.encode()}
