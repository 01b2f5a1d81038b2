"""The connections of one client, in pools, and how a request is sent on one of them."""

import math
import ssl
import time
from collections.abc import Mapping
from typing import Final

import aiohttp
from yarl import URL

from syncret.providers.kit.http.answers import Body
from syncret.providers.kit.http.bodies import BUFFER
from syncret.providers.kit.http.kept import Connection, noting
from syncret.providers.kit.http.resolver import EgressResolver
from syncret.providers.kit.http.targets import Target
from syncret.providers.kit.http.tls import WAITS_FOR_CLOSE_NOTIFY
from syncret.providers.network import Network

_SOON: Final = 0.001
"""Seconds for a request whose time is over; with 0 it would have no limit."""


class Sessions:
    """Sends requests. Each pool is made with its first request; `close` closes all connections.

    Args:
        context: of connections with TLS.
        server_name: the name that certificates must have; empty: that of the URL.
        headers: sent with every request.
        connect: seconds until a connection must be there.
        connections: that each pool may have open.
        network: which servers may be reached.
    """

    def __init__(
        self,
        *,
        context: ssl.SSLContext,
        server_name: str,
        headers: Mapping[str, str],
        connect: float,
        connections: int,
        network: Network | None,
    ) -> None:
        self._context = context
        self._server_name = server_name or None
        self._headers = headers
        self._connect = connect
        self._connections = connections
        self._network = network
        self._pools: dict[tuple[bool, bool], aiohttp.ClientSession] = {}
        self._closed = False

    async def send(
        self,
        method: str,
        target: Target,
        headers: Mapping[str, str],
        body: Body | None,
        *,
        repeats: bool,
        ends: float,
        silence: float | None = None,
    ) -> aiohttp.ClientResponse:
        """The beginning of the response, which is read until `ends` on the clock `time.monotonic`.

        A kept connection may be one that the server is just closing, without a look at the request. A read
        (`repeats`) is sent once more then, on a new connection; anything else may have been carried out.
        """
        keeps = True
        while True:
            connection = Connection()
            left = None if ends == math.inf else max(ends - time.monotonic(), _SOON)
            try:
                return await self._pool(target, keeps=keeps).request(
                    method,
                    URL(target.url, encoded=True),
                    headers=headers,
                    data=None if body is None else body.payload,
                    proxy=target.proxy,
                    server_hostname=self._server_name,
                    allow_redirects=False,
                    skip_auto_headers=("Content-Type",),
                    timeout=aiohttp.ClientTimeout(total=left, sock_connect=self._connect, sock_read=silence),
                    trace_request_ctx=connection,
                )
            except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError):
                if not (repeats and connection.was_kept) or self._closed:
                    raise
            repeats = False
            keeps = self._connections == 1  # it is a new one already, and a login may hold for it

    def _pool(self, target: Target, *, keeps: bool) -> aiohttp.ClientSession:
        """The pool for a server; one that keeps no connection makes a new one for each request.

        A proxy is chosen by the daemon's administrator, and resolves the name.
        """
        network = self._network if target.proxy is None else None
        kind = network is None, keeps
        if kind not in self._pools:
            self._pools[kind] = self._new_pool(network, keeps=keeps)
        return self._pools[kind]

    def _new_pool(self, network: Network | None, *, keeps: bool) -> aiohttp.ClientSession:
        """A pool of connections to servers that the network allows."""
        connector = aiohttp.TCPConnector(
            ssl=self._context,
            force_close=not keeps,
            limit=self._connections,
            resolver=None if network is None else EgressResolver(network),
            socket_factory=None if self._network is None else self._network.connections.open_socket,
            enable_cleanup_closed=WAITS_FOR_CLOSE_NOTIFY,
        )
        session = aiohttp.ClientSession(
            connector=connector,
            trace_configs=[noting()],
            cookie_jar=aiohttp.DummyCookieJar(),
            headers=self._headers,
            read_bufsize=BUFFER,
            auto_decompress=False,  # `read_body` does, in small steps
        )
        # It would repeat a GET, PUT or DELETE without an answer, also on a new connection: see `send`.
        session._retry_connection = False  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  # no option
        return session

    async def close(self) -> None:
        """Close all connections. Nothing can be sent any more."""
        self._closed = True
        for pool in self._pools.values():
            await pool.close()
