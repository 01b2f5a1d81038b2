"""Lets a test say what a server answers in its place."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TypeAlias

from aiohttp import web

Fault: TypeAlias = Callable[[web.Request], web.StreamResponse | None]
"""What a request is answered in the server's place; None lets it pass."""


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
