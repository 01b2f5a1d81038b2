"""What servers of REST APIs share: who may call, what was called, answers in JSON, one refused entry."""

import ssl
from abc import abstractmethod
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import TypeVar

import msgspec
from aiohttp import web

from syncret.config.fields import Json
from tests.support.faults import Faulty, Refusal
from tests.support.served import served


class Refused(Refusal):
    """A call is answered with a status and a document."""

    def __init__(self, status: int, document: Json, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(status)
        self.status = status
        self.document = document
        self.headers = headers

    def response(self) -> web.Response:
        return web.json_response(self.document, status=self.status, headers=self.headers)


class RestServer(Faulty):
    """A manager with tokens and entries."""

    def __init__(self) -> None:
        super().__init__()
        self.url = ""
        self.token = "canary-token-1"
        """The one that is good."""
        self.calls: list[str] = []
        """Method, path and query of each call that was let in."""
        self.refused: set[str] = set()
        """Keys that nobody may read."""

    @abstractmethod
    def routes(self) -> Iterable[web.AbstractRouteDef]:
        """The API."""

    @abstractmethod
    def refusal(self, status: int, message: str) -> Refused:
        """How the vendor refuses a call."""

    @abstractmethod
    def token_of(self, request: web.Request) -> str:
        """The token that a request carries."""

    def enter(self, request: web.Request, key: str = "") -> None:
        """Let a request in, for an entry. Raises Refused."""
        if self.token_of(request) != self.token:
            raise self.refusal(HTTPStatus.UNAUTHORIZED, "the token is not valid")
        self.calls.append(f"{request.method} {request.rel_url}")
        if key in self.refused:
            raise self.refusal(HTTPStatus.FORBIDDEN, "no access")

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    @property
    def writes(self) -> int:
        """How many calls were no reads."""
        return sum(not call.startswith("GET ") for call in self.calls)

    def throttled(self, _request: web.Request) -> web.StreamResponse:
        """Too many calls, for seven seconds."""
        refused = self.refusal(HTTPStatus.TOO_MANY_REQUESTS, "too many requests")
        refused.headers = {"Retry-After": "7"}
        return refused.response()

    def denied(self, _request: web.Request) -> web.StreamResponse:
        """The caller may not."""
        return self.refusal(HTTPStatus.FORBIDDEN, "no access").response()


async def body_of(request: web.Request) -> dict[str, Json]:
    """The JSON object that a request carries."""
    return msgspec.json.decode(await request.read(), type=dict[str, Json])


S = TypeVar("S", bound=RestServer)


@asynccontextmanager
async def running(server: S, tls: ssl.SSLContext | None = None, port: int = 0) -> AsyncGenerator[S, None]:
    """The server, at its `url`."""
    async with served(server.application(server.routes()), tls, port) as server.url:
        yield server
