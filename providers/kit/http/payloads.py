"""A body that checks, just before it is sent, whether its request may still be sent."""

import warnings
from collections.abc import Callable

from aiohttp import BytesPayload
from aiohttp.abc import AbstractStreamWriter


class GuardedBytes(BytesPayload):
    """Headers wait for the first bytes of the body: if those may not leave, nothing does."""

    def __init__(self, content: bytes, may_leave: Callable[[], bool]) -> None:
        with warnings.catch_warnings():  # a large one is sent at once, too: what may leave leaves whole
            warnings.simplefilter("ignore", ResourceWarning)
            super().__init__(content)
        self._may_leave = may_leave

    async def write_with_length(self, writer: AbstractStreamWriter, content_length: int | None) -> None:
        if not self._may_leave():
            raise ConnectionAbortedError("the request may not be sent any more")
        await super().write_with_length(writer, content_length)
