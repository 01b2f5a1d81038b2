"""TLS contexts from PEM: the CAs to trust, and a client certificate."""

import os
import ssl
import sys
from asyncio import sslproto
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from syncret.providers.errors import Malformed

WAITS_FOR_CLOSE_NOTIFY: Final = sys.version_info < (3, 12, 8) or (3, 13) <= sys.version_info < (3, 13, 1)
"""Whether a closed connection stays open until its server sends close_notify (a bug of asyncio)."""

_BUFFER: Final = 32 * 1024
"""Bytes that a connection reads at once: two records of TLS."""

_CONTEXTS: Final = 64
"""How many trust stores are cached; a parsed bundle takes some 10 kB to 1 MB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tls:
    """PEM bytes: the CAs to trust instead of the system's, and a client certificate with its key."""

    ca: bytes = b""
    certificate: bytes = field(default=b"", repr=False)
    key: bytes = field(default=b"", repr=False)
    verify: bool = True
    """False accepts any certificate: only if the store's spec asks for it."""
    server_name: str = ""
    """The name that the server's certificate must have; empty: that of the URL."""

    @property
    def plain(self) -> bool:
        """Whether only the system's trust store is used, without a client certificate."""
        return self == SYSTEM

    def of_session(self) -> ssl.SSLContext | bool:
        """What aiohttp takes: True for its own trust in the system's store. Raises Malformed.

        For each connection asyncio takes 256 kB to read into; a home in a cluster has a hundred of them.
        """
        sslproto.SSLProtocol.max_size = _BUFFER
        return extended.context or True if self.plain else self.context()

    def context(self) -> ssl.SSLContext:
        """A context; those without a client certificate are shared. Raises Malformed for invalid PEM."""
        if not (self.certificate or self.key):
            return _trust(self.ca, self.verify)
        context = _trust.__wrapped__(self.ca, self.verify)
        identify(context, self.certificate, self.key)
        return context

    def for_protocol(self, protocol: str) -> ssl.SSLContext:
        """A context that asks for a protocol (ALPN); those without a client certificate are shared.

        Raises Malformed for invalid PEM.
        """
        more = extended.context if self.plain else None
        if not (self.certificate or self.key):
            return _asking(self.ca, self.verify, protocol, more)
        context = _asking.__wrapped__(self.ca, self.verify, protocol, more)
        identify(context, self.certificate, self.key)
        return context


SYSTEM: Final = Tls()
"""The system's trust store, and no client certificate."""


class _Extended:
    """The system's trust store with more authorities, one for the process; None until there are any."""

    context: ssl.SSLContext | None = None


extended: Final = _Extended()
"""That of this process."""


def trust_also(authorities: bytes) -> None:
    """Trust these, in PEM, wherever the system's are trusted: connections that are made from now on do.

    None is ever taken away again. Raises Malformed.
    """
    try:
        context = extended.context or ssl.create_default_context()
        context.load_verify_locations(cadata=authorities.decode("ascii"))
    except (ssl.SSLError, ValueError):
        bad = True
    else:
        bad, extended.context = False, context
        _asking.cache_clear()  # they were made of fewer
    if bad:
        hint = "it must be -----BEGIN CERTIFICATE----- blocks"
        raise Malformed("the file holds no readable PEM certificate", hint=hint)


@lru_cache(maxsize=_CONTEXTS)
def _trust(ca: bytes, verify: bool) -> ssl.SSLContext:  # noqa: FBT001  # part of the cache's key
    bad = False
    context: ssl.SSLContext | None = None
    try:
        context = ssl.create_default_context(cadata=ca.decode("ascii", "replace") if ca else None)
    except (ssl.SSLError, ValueError, TypeError):  # TypeError: it is not ASCII
        bad = True
    if bad or context is None:
        raise Malformed(
            "the CA bundle holds no readable PEM certificate",
            hint="it must be -----BEGIN CERTIFICATE----- blocks (in caBundle: base64 of them)",
        )
    # As in Go: an intermediate in the bundle is trusted, and extensions that old CAs lack are not required.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if not verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


@lru_cache(maxsize=_CONTEXTS)
def _asking(
    ca: bytes,
    verify: bool,  # noqa: FBT001  # part of the cache's key
    protocol: str,
    more: ssl.SSLContext | None,
) -> ssl.SSLContext:
    context = _trust.__wrapped__(ca, verify)
    if more is not None:
        context.load_verify_locations(cadata=b"".join(more.get_ca_certs(binary_form=True)))
    context.set_alpn_protocols([protocol])
    return context


def identify(
    context: ssl.SSLContext, certificate: bytes, key: bytes, *, whose: str = "the client certificate"
) -> None:
    """Load a pair. Raises Malformed.

    OpenSSL reads files only, so it is in an anonymous memory file for a moment.
    """
    descriptor = os.memfd_create("certificate", os.MFD_CLOEXEC)
    bad = False
    try:
        with os.fdopen(descriptor, "wb", closefd=False) as file:
            file.write(certificate + b"\n" + key)
        path = f"/proc/self/fd/{descriptor}"
        context.load_cert_chain(path, password=_no_password)
    except (ssl.SSLError, ValueError):
        bad = True
    finally:
        os.close(descriptor)
    if bad:
        raise Malformed(
            f"{whose} and its key cannot be used",
            hint="both must be PEM, without a password, and belong to each other",
        )


def _no_password() -> str:
    """The password callback of OpenSSL, which would otherwise prompt on a terminal."""
    return ""
