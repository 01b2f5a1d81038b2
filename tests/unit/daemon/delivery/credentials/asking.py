"""Asks for a credential as systemd does: from an abstract name that says which unit asks for what."""

import asyncio
import itertools
import os
import socket
from pathlib import Path

_NUMBERS = itertools.count(os.getpid() << 16)


async def ask(path: Path, unit: str, credential: str, *, name: str = "") -> bytes:
    """All that is answered until the connection is closed."""
    reader, writer = await asking(path, unit, credential, name=name)
    try:
        return await reader.read()
    finally:
        writer.close()
        await writer.wait_closed()


async def asking(
    path: Path, unit: str, credential: str, *, name: str = ""
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """The connection of a unit that waits for its answer."""
    client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    client.bind(name or f"\0{next(_NUMBERS):x}/unit/{unit}/{credential}")
    client.connect(str(path))
    return await asyncio.open_unix_connection(sock=client, limit=1 << 22)
