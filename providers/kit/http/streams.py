"""Responses that never end: read line by line while the server writes them."""

from collections.abc import AsyncGenerator, Mapping
from typing import TYPE_CHECKING, Final

from syncret.providers.errors import Unavailable

if TYPE_CHECKING:  # aiohttp takes 200 ms to import, and most commands call no server
    import aiohttp

LARGEST_LINE: Final = 8 * 2**20
"""Bytes of one line: an object of an API server has at most 3 MiB, and its metadata may come twice."""


class Stream:
    """A response whose status is known, and whose body is still coming."""

    def __init__(self, response: "aiohttp.ClientResponse", doing: str, server: str) -> None:
        self._response = response
        self._doing = doing
        self._server = server

    @property
    def status(self) -> int:
        """The status of HTTP."""
        return self._response.status

    @property
    def headers(self) -> Mapping[str, str]:
        """Headers, by names in any case."""
        return self._response.headers

    async def start(self, most: int) -> bytes:
        """The first bytes of the body, for one that ends: an error's."""
        from syncret.providers.kit.http.failures import FAILURES, failure  # imports aiohttp

        try:
            return await self._response.content.read(most)
        except FAILURES as error:
            failed = failure(error, self._doing, self._server)
        raise failed

    async def lines(self) -> AsyncGenerator[bytes, None]:
        """Each line without its end, as soon as it is whole. Raises Unavailable where the stream breaks."""
        from syncret.providers.kit.http.failures import FAILURES, failure  # imports aiohttp

        parts: list[bytes] = []
        size = 0
        chunks = self._response.content.iter_any()
        while True:
            try:
                chunk = await anext(chunks)
            except StopAsyncIteration:
                return
            except FAILURES as error:
                failed = failure(error, self._doing, self._server)
            else:
                *ends, rest = chunk.split(b"\n")
                for end in ends:
                    yield b"".join((*parts, end))
                    parts.clear()
                    size = 0
                if rest:
                    parts.append(rest)
                    size += len(rest)
                if size > LARGEST_LINE:
                    raise Unavailable(f"{self._doing}: {self._server} sent a line without an end")
                continue
            raise failed  # outside of the handler: an error that quotes the URL must not become the context
