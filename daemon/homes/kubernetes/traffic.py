"""Counts writes of objects under way, so that less urgent requests can wait for them."""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager, suppress


class Traffic:
    """Counts the writes of objects that are under way."""

    def __init__(self) -> None:
        self._under_way = 0
        self._quiet = asyncio.Event()
        self._quiet.set()

    @contextmanager
    def writing(self) -> Generator[None]:
        """Around each write."""
        self._under_way += 1
        self._quiet.clear()
        try:
            yield
        finally:
            self._under_way -= 1
            if not self._under_way:
                self._quiet.set()

    async def give_way(self, seconds: float) -> None:
        """Return once nothing is under way, or so many seconds are over."""
        if seconds > 0 and self._under_way:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._quiet.wait()
