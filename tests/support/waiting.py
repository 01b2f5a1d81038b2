"""Waits for what the engine does on a real API server."""

import asyncio
from collections.abc import Callable
from typing import Final

_WITHIN: Final = 60.0


async def until(condition: Callable[[], object]) -> None:
    """Wait for what the engine does; nothing on the server could call us."""
    async with asyncio.timeout(_WITHIN):
        while not condition():  # noqa: ASYNC110  # see above
            await asyncio.sleep(0.02)
