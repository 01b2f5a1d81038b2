"""A proxy that leads the hosts that it is asked for to ports of loopback."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress


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

    async def lead(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, ports: Mapping[str, int]
    ) -> None:
        """Serve one connection."""
        self._writers.append(writer)
        task = asyncio.create_task(self._lead(reader, writer, ports), name="tunnel")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _lead(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, ports: Mapping[str, int]
    ) -> None:
        self.asked.append((await reader.readuntil(b"\r\n\r\n")).partition(b"\r\n")[0].decode())
        try:
            port = ports[self.asked[-1].split()[1].rpartition(":")[0]]
        except KeyError:
            writer.write(b"HTTP/1.1 502 Bad Gateway\r\n\r\n")
            writer.close()
            return
        inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", port)
        self._writers.append(inner_writer)
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await asyncio.gather(_pass(reader, inner_writer), _pass(inner_reader, writer))


def tunnel_to(port: int) -> AbstractAsyncContextManager[Tunnel]:
    """A proxy that leads every host to the server at this port."""
    return tunnel(defaultdict(lambda: port))


@asynccontextmanager
async def tunnel(ports: Mapping[str, int]) -> AsyncGenerator[Tunnel, None]:
    """A proxy that leads each host to the server at its port."""
    running = Tunnel()

    async def lead(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await running.lead(reader, writer, ports)

    proxy = await asyncio.start_server(lead, "127.0.0.1", 0)
    async with proxy:
        running.url = f"http://127.0.0.1:{proxy.sockets[0].getsockname()[1]}"
        try:
            yield running
        finally:
            await running.close()


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await reader.read(65536):
            writer.write(data)
    writer.close()
    with suppress(ConnectionError):
        await writer.wait_closed()
