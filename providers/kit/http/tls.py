"""TLS contexts from PEM: the CAs to trust, and a client certificate."""

import os
import ssl
import sys
from asyncio import sslproto
from dataclasses import dataclass, field
from functools import lru_cache
from threading import Lock
from typing import Final
from weakref import WeakSet

from syncret.providers.errors import Malformed

WAITS_FOR_CLOSE_NOTIFY: Final = sys.version_info < (3, 12, 8) or (3, 13) <= sys.version_info < (3, 13, 1)
"""Whether a closed connection stays open until its server sends close_notify (a bug of asyncio)."""

_BUFFER: Final = 32 * 1024
"""Bytes that a connection reads at once: two records of TLS."""

_HTTP: Final = "http/1.1"
"""What aiohttp speaks, by its name in ALPN."""

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

    def of_session(self) -> ssl.SSLContext:
        """A context for aiohttp. Raises Malformed for invalid PEM.

        For each connection asyncio takes 256 kB to read into; a home in a cluster has a hundred of them.
        """
        sslproto.SSLProtocol.max_size = _BUFFER
        return self.for_protocol(_HTTP)

    def for_protocol(self, protocol: str) -> ssl.SSLContext:
        """A context that asks for a protocol (ALPN); those without a client certificate are shared.

        Raises Malformed for invalid PEM.
        """
        if not (self.certificate or self.key):
            return _trust(self.ca, self.verify, protocol)
        context = _trust.__wrapped__(self.ca, self.verify, protocol)
        identify(context, self.certificate, self.key)
        return context


SYSTEM: Final = Tls()
"""The system's trust store, and no client certificate."""


class _Beside:
    """Authorities that are trusted beside the system's, and the contexts that trust the system's.

    The contexts of clients that are open learn of new ones, too: each connection asks its context anew.
    """

    def __init__(self) -> None:
        self._known: list[str] = []
        self._contexts: WeakSet[ssl.SSLContext] = WeakSet()
        self._lock = Lock()

    def join(self, context: ssl.SSLContext) -> None:
        """Let a context trust them from now on."""
        with self._lock:
            for each in self._known:
                context.load_verify_locations(cadata=each)
            self._contexts.add(context)

    def add(self, authorities: bytes) -> None:
        """Trust these, in PEM, from the next connection on. Raises Malformed."""
        text = _text(authorities)
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cadata=text)
        except (ssl.SSLError, ValueError):
            text = ""
        if not text:
            hint = "it must be -----BEGIN CERTIFICATE----- blocks"
            raise Malformed("the file holds no readable PEM certificate", hint=hint)
        with self._lock:
            if text in self._known:
                return
            self._known.append(text)
            for context in self._contexts:
                context.load_verify_locations(cadata=text)


beside: Final = _Beside()
"""Those of this process: the setting `trustedCaFile`."""


@lru_cache(maxsize=_CONTEXTS)
def _trust(ca: bytes, verify: bool, protocol: str) -> ssl.SSLContext:  # noqa: FBT001  # part of the cache's key
    bad = False
    context: ssl.SSLContext | None = None
    try:
        context = ssl.create_default_context(cadata=_text(ca) if ca else None)
    except (ssl.SSLError, ValueError):
        bad = True
    if bad or context is None:
        raise Malformed(
            "the CA bundle holds no readable PEM certificate",
            hint="it must be -----BEGIN CERTIFICATE----- blocks (in caBundle: base64 of them)",
        )
    # As in Go: an intermediate in the bundle is trusted, and extensions that old CAs lack are not required.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    context.set_alpn_protocols([protocol])
    if not verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    elif not ca:
        beside.join(context)
    return context


def _text(pem: bytes) -> str:
    """PEM as OpenSSL reads it: comments between the blocks may be in any language, blocks are ASCII."""
    return pem.decode("ascii", "replace").replace("\ufffd", "?")


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
