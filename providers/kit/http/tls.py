"""Whom a session trusts and how it proves who it is: TLS contexts from PEM bytes."""

import os
import ssl
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from syncret.providers.errors import Malformed

_CONTEXTS: Final = 64
"""How many trust stores are kept for sharing; a parsed bundle takes some 10 kB to 1 MB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tls:
    """PEM bytes: the authorities to trust in place of the system's, and a client certificate with its key."""

    ca: bytes = b""
    certificate: bytes = field(default=b"", repr=False)
    key: bytes = field(default=b"", repr=False)
    verify: bool = True
    """False trusts whoever answers: only where the store's own spec asks for that."""

    @property
    def plain(self) -> bool:
        """Whether the system's own trust is all that is asked."""
        return self == SYSTEM

    def context(self) -> ssl.SSLContext:
        """A context; those without a client certificate are shared. Raises Malformed for what is no PEM."""
        if not (self.certificate or self.key):
            return _trust(self.ca, self.verify)
        context = _trust.__wrapped__(self.ca, self.verify)
        _identify(context, self.certificate, self.key)
        return context


SYSTEM: Final = Tls()
"""The system's own trust, and no certificate of ours."""


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
    # As Go judges: an intermediate in the bundle is trust enough, and extensions that old authorities lack
    # are not asked for.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if not verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _identify(context: ssl.SSLContext, certificate: bytes, key: bytes) -> None:
    """Load the pair. OpenSSL reads files only, so they stand for a moment in memory that has no name."""
    descriptor = os.memfd_create("client-certificate", os.MFD_CLOEXEC)
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
            "the client certificate and its key cannot be used",
            hint="both must be PEM, without a password, and belong to each other",
        )


def _no_password() -> str:
    """Answers for OpenSSL, which would otherwise ask a terminal."""
    return ""
