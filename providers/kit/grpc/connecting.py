"""Opens the connections that calls are made on: an address that may be reached, perhaps a proxy, and TLS."""

import asyncio
import re
import socket
import ssl
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final, NamedTuple
from urllib.parse import unquote, urlsplit

from syncret.config.addresses import Address
from syncret.providers.errors import Denied, Malformed, SyncError
from syncret.providers.kit.environment import ADDRESSES
from syncret.providers.kit.host_names import in_ascii
from syncret.providers.kit.http.answers import NoAddress, NotReached
from syncret.providers.kit.http.proxies import proxy_for
from syncret.providers.kit.http.tls import Tls
from syncret.providers.network import Network

_HTTPS: Final = 443
_PROTOCOL: Final = "h2"
_ADDRESS: Final = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s/@:\[\]?#%\\]+)(?::(\d{1,5}))?")
_LONGEST: Final = 16 * 1024
"""Bytes of a proxy's answer."""

_HIGHEST_PORT: Final = 65_535
_HEAD_START: Final = 0.25
"""Seconds that an address has before the next one is tried, too: it may swallow what is sent to it."""


class Server(NamedTuple):
    """The host and port of a server."""

    host: str
    port: int

    def __str__(self) -> str:
        return self.name if self.port == _HTTPS else f"{self.name}:{self.port}"

    @property
    def name(self) -> str:
        """The host as it stands before a port: an address of IPv6 in brackets."""
        return f"[{self.host}]" if ":" in self.host else self.host


def server_at(address: str) -> Server:
    """The server at a host, with or without a port. Raises Malformed."""
    found = _ADDRESS.fullmatch(address.strip())
    host = "" if found is None else in_ascii(found[1].strip("[]"))
    if found is not None and host and 0 < int(found[2] or _HTTPS) <= _HIGHEST_PORT:
        return Server(host, int(found[2] or _HTTPS))
    raise Malformed(
        f"{address!r} is no address of a server",
        hint=f"write a host, or host:port, with a port up to {_HIGHEST_PORT}",
    )


@dataclass(frozen=True, slots=True)
class Connected:
    """An open connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter


def trust(tls: Tls) -> ssl.SSLContext:
    """The context of connections. Raises Malformed."""
    return tls.for_protocol(_PROTOCOL)


async def connect(server: Server, context: ssl.SSLContext, network: Network) -> Connected:
    """A connection over TLS that speaks HTTP/2. Raises SyncError, OSError and TimeoutError."""
    network.egress.check_host(server.host)
    proxy = proxy_for("https", server.host, server.port, ADDRESSES)
    opened = await _dial(server, network) if proxy is None else await _through(proxy, server, network)
    # The socket belongs to asyncio now: if it were closed beneath it, another would get its number.
    reader, writer = await asyncio.open_connection(sock=opened, ssl=context, server_hostname=server.host)
    secured = writer.get_extra_info("ssl_object")
    if not isinstance(secured, ssl.SSLObject) or secured.selected_alpn_protocol() != _PROTOCOL:
        writer.transport.abort()
        raise Malformed(
            f"{server} does not speak HTTP/2", hint="does the address lead to the API, and not to a web page?"
        )
    return Connected(reader, writer)


async def _dial(server: Server, network: Network) -> socket.socket:
    """A connection to one of the server's addresses."""
    try:
        addresses = await network.addresses(server.host)
    except (OSError, UnicodeError):  # a name that DNS cannot have
        addresses = []
    opened = await _first(addresses, server.port, network)
    if opened is not None:
        return opened
    if addresses:
        raise NotReached(f"{server} refuses connections", hint="is it up, and the port right?")
    raise NoAddress(f"{server} has no address", hint="check the host, and DNS")


async def _first(addresses: Sequence[Address], port: int, network: Network) -> socket.socket | None:
    """A connection to the address that accepts one first; each has a head start. None if all refuse."""
    opened: list[socket.socket] = []
    attempts: list[asyncio.Task[None]] = []

    async def attempt(address: Address) -> None:
        made = await _open(address, port, network)
        if made is not None:
            opened.append(made)
            for each in attempts:
                each.cancel()

    try:
        async with asyncio.TaskGroup() as group:
            for address in addresses:
                attempts.append(group.create_task(attempt(address), name=f"connect {address}"))
                await asyncio.wait(attempts[-1:], timeout=_HEAD_START)
                if opened:
                    break
    except BaseException:  # raised again: cancelled, perhaps with a socket that is open
        for each in opened:
            each.close()
        raise
    return opened[0] if opened else None


async def _open(address: Address, port: int, network: Network) -> socket.socket | None:
    """A socket that is connected; None if the address refuses the connection."""
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6  # noqa: PLR2004  # IP
    try:
        opened = network.connections.open_socket((family, socket.SOCK_STREAM, socket.IPPROTO_TCP))
    except OSError:  # such as a kernel without IPv6
        return None
    opened.settimeout(0)
    try:
        await asyncio.get_running_loop().sock_connect(opened, (str(address), port))
    except OSError:
        opened.close()
        return None
    except BaseException:  # raised again: cancelled, with a socket that is open
        opened.close()
        raise
    return opened


async def _through(proxy: str, server: Server, network: Network) -> socket.socket:
    """A tunnel through a proxy, which is chosen by the daemon's administrator, and resolves the name."""
    try:
        parts = urlsplit(proxy)
        port = parts.port or 80
    except ValueError:
        parts, port = urlsplit(""), 0
    if parts.scheme != "http" or not parts.hostname:
        raise Malformed("the proxy is none for gRPC", hint="write HTTPS_PROXY with http:// and a host")
    hint = "see HTTPS_PROXY and NO_PROXY"
    try:
        found = await asyncio.get_running_loop().getaddrinfo(parts.hostname, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):  # as above
        found = []
    addresses = [ip_address(str(place[0]).partition("%")[0]) for *_, place in found]
    opened = await _first(addresses, port, network)
    if opened is None:
        raise NotReached(f"the proxy on the way to {server} cannot be reached", hint=hint)
    try:
        refused = await _tunnelled(opened, server, _login(parts.username, parts.password))
    except BaseException:  # raised again: cancelled or not, the socket is not left open
        opened.close()
        raise
    if refused is not None:
        opened.close()
        raise refused
    return opened


def _login(user: str | None, password: str | None) -> str:
    if user is None:
        return ""
    login = b64encode(f"{unquote(user)}:{unquote(password or '')}".encode()).decode()
    return f"Proxy-Authorization: Basic {login}\r\n"


async def _tunnelled(opened: socket.socket, server: Server, login: str) -> SyncError | None:
    """Ask the proxy to connect; its answer is read byte by byte, as what follows is the server's."""
    loop = asyncio.get_running_loop()
    host = f"{server.name}:{server.port}"
    asked = f"CONNECT {host} HTTP/1.1\r\nHost: {host}\r\n{login}\r\n"
    await loop.sock_sendall(opened, asked.encode())
    answer = bytearray()
    while not answer.endswith(b"\r\n\r\n") and len(answer) < _LONGEST:
        byte = await loop.sock_recv(opened, 1)
        if not byte:
            break
        answer += byte
    status = answer.split(b" ", 2)[1:2]
    if status == [b"200"]:
        return None
    if status == [b"407"]:
        return Denied("the proxy wants a login", hint="write it into HTTPS_PROXY")
    return NotReached(f"the proxy does not connect to {server}", hint="see HTTPS_PROXY and NO_PROXY")
