"""Errors of the network, of TLS and of aiohttp as our errors, with hints."""

import ssl
from http.client import PROXY_AUTHENTICATION_REQUIRED
from typing import Final

import aiohttp

from syncret.providers.errors import Denied, Malformed, SyncError, Unavailable
from syncret.providers.kit.http.answers import NoAddress, NotReached

FAILURES: Final = (aiohttp.ClientError, TimeoutError, OSError, ValueError)
"""The exceptions that a request may raise."""

_EXPIRED: Final = {10}
_OTHER_NAME: Final = {62, 64}
_PLAIN: Final = {"WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE", "UNEXPECTED_MESSAGE"}
_WANTS_CLIENT: Final = ("CERTIFICATE_REQUIRED", "BAD_CERTIFICATE", "UNKNOWN_CA", "HANDSHAKE_FAILURE")


_PROXY: Final = "see HTTPS_PROXY and NO_PROXY"
_CLOSED: Final = "with TLS, this is also how a server asks for a client certificate"
_TABLE: Final[tuple[tuple[type[BaseException], type[SyncError], str, str], ...]] = (
    (aiohttp.ClientHttpProxyError, NotReached, "the proxy does not connect to {}", _PROXY),
    (aiohttp.ClientProxyConnectionError, NotReached, "the proxy on the way to {} cannot be reached", _PROXY),
    (aiohttp.ClientConnectorDNSError, NoAddress, "{} has no address", "check the host in the URL, and DNS"),
    (aiohttp.ConnectionTimeoutError, NotReached, "{} accepts no connection in time", "is there a firewall?"),
    (aiohttp.ServerDisconnectedError, Unavailable, "{} closed the connection", _CLOSED),
    (TimeoutError, Unavailable, "{} gave no answer in time", ""),
    (aiohttp.ClientConnectorError, NotReached, "{} refuses connections", "is it up, and the port right?"),
    (ValueError, Malformed, "the URL for {} or a header cannot be sent", "check the store's URL and headers"),
)
"""The first row whose class matches counts; subclasses come before their base classes."""


def failure(error: BaseException, doing: str, server: str) -> SyncError:
    """Our error for one of FAILURES. It names the server, and quotes nothing of the original."""
    found = _problem(error, server)
    if isinstance(found, Unavailable):
        found.problem = found.message
    return found.within(doing)


def _problem(error: BaseException, server: str) -> SyncError:
    """The error without what was being done."""
    tls = _tls_error(error)
    if isinstance(tls, ssl.SSLCertVerificationError):
        return _untrusted(tls, server)
    if tls is not None:
        return _handshake(tls, server)
    if isinstance(error, aiohttp.ClientHttpProxyError) and error.status == PROXY_AUTHENTICATION_REQUIRED:
        return Denied(f"the proxy on the way to {server} wants a login", hint="write it into HTTPS_PROXY")
    for kinds, error_type, problem, hint in _TABLE:
        if isinstance(error, kinds):
            return error_type(problem.format(server), hint=hint)
    return Unavailable(f"{server} broke the connection: {type(error).__name__}")


def _tls_error(error: BaseException) -> ssl.SSLError | None:
    """The TLS error behind an error; what aiohttp's exceptions wrap has more details than they have."""
    found: ssl.SSLError | None = None
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, ssl.SSLError):
            found = seen
        inner = getattr(seen, "certificate_error", None) or getattr(seen, "os_error", None)
        seen = inner if isinstance(inner, BaseException) else seen.__cause__
    return found


def _untrusted(error: ssl.SSLCertVerificationError, server: str) -> SyncError:
    if error.verify_code in _EXPIRED:
        return Unavailable(f"{server}: its certificate has expired", hint="renew the server's certificate")
    if error.verify_code in _OTHER_NAME:
        return Malformed(
            f"{server}: its certificate is for another name", hint="write the URL with the certificate's name"
        )
    return Malformed(
        f"{server}: its certificate is not trusted",
        hint="set caBundle or caProvider to the authority that signed it, or trustedCaFile for all stores",
    )


def _handshake(error: ssl.SSLError, server: str) -> SyncError:
    reason = error.reason or ""
    if reason in _PLAIN:
        return Malformed(f"{server} does not speak TLS", hint="write http:// or another port")
    if reason.endswith(_WANTS_CLIENT):
        return Denied(
            f"{server} does not accept our client certificate", hint="does the store give the right one?"
        )
    return Unavailable(f"{server}: TLS failed")
