"""A directory that knows one user: answers LDAP's simple bind, and nothing else (RFC 4511)."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

_BIND, _BOUND, _UNBIND = 0x60, 0x61, 0x42
_SUCCESS, _INVALID_CREDENTIALS = 0, 49


@asynccontextmanager
async def ldap(name: str, password: str) -> AsyncGenerator[str, None]:
    """Its URL. `name` is the distinguished name that may bind."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while message := await _message(reader):
            number, operation = message[:3], message[3:]
            if operation[0] != _BIND:
                break
            known = name.encode() in operation and operation.endswith(password.encode())
            code = _SUCCESS if known else _INVALID_CREDENTIALS
            answer = number + bytes([_BOUND, 7, 0x0A, 1, code, 4, 0, 4, 0])
            writer.write(bytes([0x30, len(answer)]) + answer)
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        yield f"ldap://127.0.0.1:{port}"


async def _message(reader: asyncio.StreamReader) -> bytes:
    """The content of one message; empty at the end. All of ours are short, and so are their lengths."""
    try:
        _, length = await reader.readexactly(2)
        return await reader.readexactly(length)
    except asyncio.IncompleteReadError:
        return b""
