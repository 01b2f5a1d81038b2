"""Where a request goes: its URL as it is sent, the server for messages, and the proxy."""

import re
from contextlib import suppress
from typing import Final, NamedTuple
from urllib.parse import quote, urlsplit, urlunsplit

from syncret.providers.errors import Malformed
from syncret.providers.kit.environment import ADDRESSES
from syncret.providers.kit.host_names import in_ascii
from syncret.providers.kit.http.proxies import proxy_for

_PORTS: Final = {"http": 80, "https": 443}
_AS_WRITTEN: Final = "!#$%&'()*+,/:;=?@[]~"
_SENDABLE: Final = re.compile(rf"[A-Za-z0-9_.\-{re.escape(_AS_WRITTEN)}]*")


class Target(NamedTuple):
    """Where a request goes."""

    url: str
    origin: str
    server: str
    host: str
    proxy: str | None


def target_of(url: str, doing: str, proxy: str = "") -> Target:
    """The URL as it is sent: characters that are invalid in a request line are quoted. Raises Malformed.

    Without a proxy, the one that the environment names for the server.
    """
    try:
        parts = urlsplit(url)
        port = parts.port or _PORTS.get(parts.scheme, 0)
    except ValueError:
        parts, port = urlsplit(""), 0
    host = in_ascii(parts.hostname or "")
    if parts.scheme not in _PORTS or not host:
        raise Malformed(
            f"{doing}: the URL is not one of an HTTP server", hint="write it with https:// and the host"
        )
    origin = f"{parts.scheme}://{host}:{port}"
    server = host if port == _PORTS[parts.scheme] else f"{host}:{port}"
    if host != parts.hostname:
        user, at, _ = parts.netloc.rpartition("@")
        shown = f":{parts.port}" if parts.port else ""
        url = urlunsplit(parts._replace(netloc=f"{user}{at}{host}{shown}"))
    through = proxy or proxy_for(parts.scheme, host, port, ADDRESSES)
    return Target(_sendable(url.partition("#")[0], doing), origin, server, host, through)


def _sendable(url: str, doing: str) -> str:
    if _SENDABLE.fullmatch(url):
        return url
    with suppress(UnicodeEncodeError):
        return quote(url, safe=_AS_WRITTEN)
    raise Malformed(f"{doing}: the URL holds bytes that are no text", hint="leave them out, or encode them")
