"""A proxy that leads whatever host it is asked for to one port of loopback."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress


class Tunnel:
    """The proxy; `url` is what HTTPS_PROXY says."""

    def __init__(self) -> None:
        self.url = ""
        self.asked: list[str] = []
        """The first line of each request."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: list[asyncio.StreamWriter] = []

    async def wait_closed(self) -> None:
        """Until both ends of every connection are closed."""
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def close(self) -> None:
        """Break what is still open."""
        for each in self._tasks:
            each.cancel()
        await self.wait_closed()
        for writer in self._writers:
            writer.transport.abort()
        # The end of one that a task above was waiting for was cancelled with the task, and says so.
        await asyncio.gather(*(each.wait_closed() for each in self._writers), return_exceptions=True)

    async def lead(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int) -> None:
        """Serve one connection."""
        self._writers.append(writer)
        task = asyncio.create_task(self._lead(reader, writer, port), name="tunnel")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _lead(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int) -> None:
        self.asked.append((await reader.readuntil(b"\r\n\r\n")).partition(b"\r\n")[0].decode())
        inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", port)
        self._writers.append(inner_writer)
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await asyncio.gather(_pass(reader, inner_writer), _pass(inner_reader, writer))


@asynccontextmanager
async def tunnel_to(port: int) -> AsyncGenerator[Tunnel, None]:
    """A proxy to the server at this port."""
    tunnel = Tunnel()

    async def lead(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await tunnel.lead(reader, writer, port)

    proxy = await asyncio.start_server(lead, "127.0.0.1", 0)
    async with proxy:
        tunnel.url = f"http://127.0.0.1:{proxy.sockets[0].getsockname()[1]}"
        try:
            yield tunnel
        finally:
            await tunnel.close()


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await reader.read(65536):
            writer.write(data)
    writer.close()
    with suppress(ConnectionError):
        await writer.wait_closed()
