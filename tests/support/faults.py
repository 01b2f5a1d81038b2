"""Lets a test say what a server answers in its place."""

from abc import abstractmethod
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from typing import TypeAlias

from aiohttp import web
from aiohttp.typedefs import Handler

Fault: TypeAlias = Callable[[web.Request], web.StreamResponse | None]
"""What a request is answered in the server's place; None lets it pass."""


class Refusal(Exception):
    """One call fails, and the server has words for it."""

    @abstractmethod
    def response(self) -> web.Response: ...


class Faulty:
    """A server that asks `fault` before it answers a request."""

    def __init__(self) -> None:
        self.fault: Fault = lambda _request: None

    @contextmanager
    def failing(self, fault: Fault) -> Generator[None, None, None]:
        """Every request asks this first, for as long as the block lasts."""
        before, self.fault = self.fault, fault
        try:
            yield
        finally:
            self.fault = before

    def application(self, *routes: Iterable[web.AbstractRouteDef]) -> web.Application:
        """Has these routes, and answers with what they refuse a request with."""

        @web.middleware
        async def edge(request: web.Request, handler: Handler) -> web.StreamResponse:
            answer = self.fault(request)
            if answer is not None:
                return answer
            try:
                return await handler(request)
            except Refusal as refusal:
                return refusal.response()

        app = web.Application(client_max_size=64 * 2**20, middlewares=[edge])
        for some in routes:
            app.router.add_routes(some)
        return app
