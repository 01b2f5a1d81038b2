"""PKCS#12 files as ESO writes them: AES-256 with PBKDF2 and SHA-256, for an empty password too."""

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from syncret.daemon.core.templating.functions import der
from syncret.daemon.core.templating.functions.ciphers import aes_cbc, padded
from syncret.daemon.core.templating.functions.contract import Context

_ITERATIONS: Final = 2048
_SALT: Final = 16
_MAC_BLOCK: Final = 64
_MAC_PURPOSE: Final = b"\x03"

_DATA: Final = der.object_id("1.2.840.113549.1.7.1")
_ENCRYPTED_DATA: Final = der.object_id("1.2.840.113549.1.7.6")
_SHROUDED_KEY_BAG: Final = der.object_id("1.2.840.113549.1.12.10.1.2")
_CERTIFICATE_BAG: Final = der.object_id("1.2.840.113549.1.12.10.1.3")
_X509: Final = der.object_id("1.2.840.113549.1.9.22.1")
_LOCAL_KEY_ID: Final = der.object_id("1.2.840.113549.1.9.21")
_FRIENDLY_NAME: Final = der.object_id("1.2.840.113549.1.9.20")
_TRUSTED: Final = der.object_id("2.16.840.1.113894.746875.1.1")
_ANY_USAGE: Final = der.object_id("2.5.29.37.0")
_PBES2: Final = der.object_id("1.2.840.113549.1.5.13")
_PBKDF2: Final = der.object_id("1.2.840.113549.1.5.12")
_HMAC_SHA256: Final = der.object_id("1.2.840.113549.2.9")
_AES256: Final = der.object_id("2.16.840.1.101.3.4.1.42")
_SHA256: Final = der.object_id("2.16.840.1.101.3.4.2.1")


@dataclass(frozen=True)
class Writer:
    """Writes files under one password."""

    context: Context
    password: str

    def key_store(self, key: bytes, certificates: Sequence[bytes]) -> bytes:
        """A PKCS#8 key, its certificate, and those above it."""
        key_id = _attribute(_LOCAL_KEY_ID, der.octets(_fingerprint(certificates[0])))
        bags = [
            _certificate_bag(certificate, [] if place else [key_id])
            for place, certificate in enumerate(certificates)
        ]
        algorithm, encrypted = self._encrypt(key)
        shrouded = der.sequence(algorithm, der.octets(encrypted))
        key_bag = der.sequence(_SHROUDED_KEY_BAG, der.explicit(0, shrouded), der.set_of(key_id))
        return self._file(self._encrypted(bags), _plain(der.sequence(key_bag)))

    def trust_store(self, certificates: Sequence[tuple[str, bytes]]) -> bytes:
        """Certificates that Java trusts, each with its name."""
        bags = [
            _certificate_bag(
                certificate,
                [
                    _attribute(_TRUSTED, _ANY_USAGE),
                    _attribute(_FRIENDLY_NAME, der.element(0x1E, name.encode("utf-16-be"))),
                ],
            )
            for name, certificate in certificates
        ]
        return self._file(self._encrypted(bags))

    def _encrypt(self, data: bytes) -> tuple[bytes, bytes]:
        """The algorithm with its parameters, and the data encrypted by it."""
        salt, vector = self.context.random(_SALT), self.context.random(_SALT)
        key = hashlib.pbkdf2_hmac("sha256", self.password.encode(), salt, _ITERATIONS, 32)
        derivation = der.sequence(
            _PBKDF2,
            der.sequence(der.octets(salt), der.integer(_ITERATIONS), der.sequence(_HMAC_SHA256)),
        )
        cipher = der.sequence(_AES256, der.octets(vector))
        return der.sequence(_PBES2, der.sequence(derivation, cipher)), aes_cbc(key, vector, padded(data))

    def _encrypted(self, bags: Sequence[bytes]) -> bytes:
        algorithm, encrypted = self._encrypt(der.sequence(*bags))
        content = der.sequence(_DATA, algorithm, der.implicit(0, encrypted))
        return der.sequence(_ENCRYPTED_DATA, der.explicit(0, der.sequence(der.integer(0), content)))

    def _file(self, *contents: bytes) -> bytes:
        safe = der.sequence(*contents)
        salt = self.context.random(_SALT)
        digest = hmac.digest(_mac_key(self.password, salt), safe, "sha256")
        info = der.sequence(der.sequence(_SHA256), der.octets(digest))
        mac = der.sequence(info, der.octets(salt), der.integer(_ITERATIONS))
        return der.sequence(der.integer(3), _plain(safe), mac)


def _plain(data: bytes) -> bytes:
    return der.sequence(_DATA, der.explicit(0, der.octets(data)))


def _fingerprint(certificate: bytes) -> bytes:
    return hashlib.sha1(certificate, usedforsecurity=False).digest()


def _attribute(name: bytes, value: bytes) -> bytes:
    return der.sequence(name, der.set_of(value))


def _certificate_bag(certificate: bytes, attributes: Sequence[bytes]) -> bytes:
    bag = der.sequence(_X509, der.explicit(0, der.octets(certificate)))
    members = [_CERTIFICATE_BAG, der.explicit(0, bag)]
    return der.sequence(*members, *([der.set_of(*attributes)] if attributes else []))


def _mac_key(password: str, salt: bytes) -> bytes:
    """The derivation of RFC 7292, appendix B, of which one round of SHA-256 is enough here."""
    secret = (password + "\0").encode("utf-16-be")
    filled = _filled(salt) + _filled(secret)
    digest = hashlib.sha256(_MAC_PURPOSE * _MAC_BLOCK + filled).digest()
    for _ in range(_ITERATIONS - 1):
        digest = hashlib.sha256(digest).digest()
    return digest


def _filled(data: bytes) -> bytes:
    """The data over and over, up to whole blocks."""
    size = -(-len(data) // _MAC_BLOCK) * _MAC_BLOCK
    return (data * (size // len(data) + 1))[:size]
