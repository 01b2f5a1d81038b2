"""Makes one HTTP request to a server on this host, or fetches the certificate that a TLS server here serves.

There are no proxies, redirects or cookies: it connects to the given address, the loopback or a socket file.
"""

import asyncio
import ssl
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final
from urllib.parse import urlsplit

from syncret.config.resources.delivery.local import LOCALHOST, host_and_port, socket_path
from syncret.config.resources.delivery.steps import DeliveryRequest, ServedCertificate
from syncret.daemon.delivery.trusted import check_trusted_folder

_STATUS_LINE: Final = 4096
_POSTGRES_REQUEST: Final = bytes.fromhex("0000000804d2162f")
_BEGIN: Final = "-----BEGIN CERTIFICATE-----"
_END: Final = "-----END CERTIFICATE-----"


class RequestFailed(Exception):
    """The server gave another answer than expected."""


async def request(wanted: DeliveryRequest) -> None:
    """Make the request. Raises RequestFailed, and OSError if no server answers."""
    parts = urlsplit(wanted.url)
    path = socket_path(wanted.url)
    target = "/" if path else (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    tls = ssl.create_default_context() if parts.scheme == "https" else None
    address = wanted.url if path else f"{parts.hostname}:{parts.port or (443 if tls else 80)}"
    if parts.hostname and ":" in parts.hostname:
        address = f"[{parts.hostname}]:{parts.port or (443 if tls else 80)}"
    async with _connected(address) as (reader, writer):
        if tls is not None:
            await writer.start_tls(tls, server_hostname=parts.hostname)
        headers = {"Host": parts.netloc if not path else LOCALHOST, **wanted.headers}
        lines = [f"{wanted.method} {target} HTTP/1.1", *(f"{name}: {text}" for name, text in headers.items())]
        lines += ["Content-Length: 0", "Connection: close", "", ""]
        writer.write("\r\n".join(lines).encode("latin-1", "replace"))
        await writer.drain()
        status = _status_of(await reader.readline())
    least, _, most = wanted.expect.partition("-")
    if not int(least) <= status <= int(most or least):
        raise RequestFailed(f"status {status}, not {wanted.expect}")


async def served_certificate(wanted: ServedCertificate) -> bytes:
    """The certificate that the server serves now, as DER. Raises RequestFailed and OSError."""
    anything = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    anything.check_hostname = False
    anything.verify_mode = ssl.CERT_NONE  # it is compared, not trusted
    async with _connected(wanted.address) as (reader, writer):
        if wanted.start_tls == "postgres":
            writer.write(_POSTGRES_REQUEST)
            await writer.drain()
            if await reader.read(1) != b"S":
                raise RequestFailed("the server has no TLS")
        await writer.start_tls(anything, server_hostname=wanted.server_name or None)
        session = writer.get_extra_info("ssl_object")
        served: bytes | None = None if session is None else session.getpeercert(binary_form=True)
    if served is None:
        raise RequestFailed("the server serves no certificate")
    return served


def first_certificate(content: bytes) -> bytes:
    """The first certificate of a PEM file, as DER. Raises RequestFailed."""
    text = content.decode(errors="replace")
    begin, end = text.find(_BEGIN), text.find(_END)
    if begin < 0 or end < begin:
        raise RequestFailed("the file holds no certificate")
    try:
        return ssl.PEM_cert_to_DER_cert(text[begin : end + len(_END)])
    except ValueError:
        raise RequestFailed("the file holds no certificate that can be read") from None


@asynccontextmanager
async def _connected(address: str) -> AsyncGenerator[tuple[StreamReader, StreamWriter], None]:
    path = socket_path(address)
    if path:
        check_trusted_folder(path)
        reader, writer = await asyncio.open_unix_connection(path, limit=_STATUS_LINE)
    else:
        host, port = host_and_port(address)
        reader, writer = await asyncio.open_connection(host, port, limit=_STATUS_LINE)
    try:
        yield reader, writer
    finally:
        writer.transport.abort()


def _status_of(line: bytes) -> int:
    parts = line.split()
    if len(parts) < 2 or not parts[0].startswith(b"HTTP/") or not parts[1].isdigit():  # noqa: PLR2004  # as it is
        raise RequestFailed("no HTTP answer")
    return int(parts[1])
