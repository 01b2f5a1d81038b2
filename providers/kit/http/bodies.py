"""Reads the bodies of responses, bounded in size: those of `Http`, and those of the AWS SDK."""

from io import BytesIO
from typing import TYPE_CHECKING, Final

from syncret.providers.errors import Malformed

if TYPE_CHECKING:  # aiohttp takes 200 ms to import, and most commands call no server
    import aiohttp

LARGEST: Final = 8 * 2**20
"""The largest response in bytes, uncompressed; a larger one is an error, as half a secret would be wrong."""

BUFFER: Final = 64 * 1024
"""Bytes that a connection receives ahead of its reader (aiohttp's `read_bufsize`), and of one step of it."""

_NO_BODY: Final = {204, 304}


class TooLarge(Malformed):
    """A response is larger than its reader takes. A smaller page of a list may help."""


async def read_body(response: "aiohttp.ClientResponse", largest: int = LARGEST) -> bytes:
    """The whole body. Raises TooLarge, before anything is read if its length is declared."""
    if _declared(response) > largest:
        raise _too_large(response, largest)
    content = BytesIO()
    async for chunk in response.content.iter_chunked(BUFFER):
        if content.tell() + len(chunk) > largest:
            raise _too_large(response, largest)
        content.write(chunk)
    return content.getvalue()


def _declared(response: "aiohttp.ClientResponse") -> int:
    """Content-Length; compressed, it is smaller than what is read."""
    if response.method == "HEAD" or response.status in _NO_BODY:
        return 0
    return response.content_length or 0


def _too_large(response: "aiohttp.ClientResponse", largest: int) -> TooLarge:
    """The error; the connection is closed, since the rest of the body is still to come."""
    response.close()
    return TooLarge(
        f"the answer is larger than {largest} bytes",
        hint="no secret is that large: does the URL lead to the right place?",
    )
