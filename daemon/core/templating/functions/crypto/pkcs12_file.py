"""Writes PKCS#12 files as ESO does, in DER: AES-256 with PBKDF2 and SHA-256, for an empty password too."""

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from syncret.daemon.core.templating.functions.contract import Context
from syncret.daemon.core.templating.functions.crypto.passwords import aes_cbc, padded

_LONG_FORM = 0x80


def element(tag: int, content: bytes) -> bytes:
    """An element of DER: tag, length, content."""
    size = len(content)
    if size < _LONG_FORM:
        return bytes([tag, size]) + content
    length = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes([tag, _LONG_FORM | len(length)]) + length + content


def sequence(*members: bytes) -> bytes:
    return element(0x30, b"".join(members))


def set_of(*members: bytes) -> bytes:
    return element(0x31, b"".join(sorted(members)))


def integer(number: int) -> bytes:
    return element(0x02, number.to_bytes(number.bit_length() // 8 + 1, "big"))


def octets(data: bytes) -> bytes:
    return element(0x04, data)


def null() -> bytes:
    return element(0x05, b"")


def explicit(number: int, content: bytes) -> bytes:
    """An element wrapped in a context-specific tag."""
    return element(0xA0 | number, content)


def implicit(number: int, data: bytes) -> bytes:
    return element(0x80 | number, data)


def object_id(dotted: str) -> bytes:
    first, second, *rest = map(int, dotted.split("."))
    content = bytearray()
    for arc in (40 * first + second, *rest):
        groups = [arc & 0x7F]
        while arc := arc >> 7:
            groups.append(0x80 | (arc & 0x7F))
        content += bytes(reversed(groups))
    return element(0x06, bytes(content))


_ITERATIONS: Final = 2048
_SALT: Final = 16
_MAC_BLOCK: Final = 64
_MAC_PURPOSE: Final = b"\x03"

_DATA: Final = object_id("1.2.840.113549.1.7.1")
_ENCRYPTED_DATA: Final = object_id("1.2.840.113549.1.7.6")
_SHROUDED_KEY_BAG: Final = object_id("1.2.840.113549.1.12.10.1.2")
_CERTIFICATE_BAG: Final = object_id("1.2.840.113549.1.12.10.1.3")
_X509: Final = object_id("1.2.840.113549.1.9.22.1")
_LOCAL_KEY_ID: Final = object_id("1.2.840.113549.1.9.21")
_FRIENDLY_NAME: Final = object_id("1.2.840.113549.1.9.20")
_TRUSTED: Final = object_id("2.16.840.1.113894.746875.1.1")
_ANY_USAGE: Final = object_id("2.5.29.37.0")
_PBES2: Final = object_id("1.2.840.113549.1.5.13")
_PBKDF2: Final = object_id("1.2.840.113549.1.5.12")
_HMAC_SHA256: Final = object_id("1.2.840.113549.2.9")
_AES256: Final = object_id("2.16.840.1.101.3.4.1.42")
_SHA256: Final = object_id("2.16.840.1.101.3.4.2.1")


@dataclass(frozen=True)
class Writer:
    """Writes PKCS#12 files with one password."""

    context: Context
    password: str

    def key_store(self, key: bytes, certificates: Sequence[bytes]) -> bytes:
        """A key store: a PKCS#8 key, its certificate, and those that issued it."""
        key_id = _attribute(_LOCAL_KEY_ID, octets(_fingerprint(certificates[0])))
        bags = [
            _certificate_bag(certificate, [] if place else [key_id])
            for place, certificate in enumerate(certificates)
        ]
        algorithm, encrypted = self._encrypt(key)
        shrouded = sequence(algorithm, octets(encrypted))
        key_bag = sequence(_SHROUDED_KEY_BAG, explicit(0, shrouded), set_of(key_id))
        return self._file(self._encrypted(bags), _plain(sequence(key_bag)))

    def trust_store(self, certificates: Sequence[tuple[str, bytes]]) -> bytes:
        """A trust store for Java: certificates with their names."""
        bags = [
            _certificate_bag(
                certificate,
                [
                    _attribute(_TRUSTED, _ANY_USAGE),
                    _attribute(_FRIENDLY_NAME, element(0x1E, name.encode("utf-16-be"))),
                ],
            )
            for name, certificate in certificates
        ]
        return self._file(self._encrypted(bags))

    def _encrypt(self, data: bytes) -> tuple[bytes, bytes]:
        """The algorithm identifier with its parameters, and the encrypted data."""
        salt, vector = self.context.random(_SALT), self.context.random(_SALT)
        key = hashlib.pbkdf2_hmac("sha256", self.password.encode(), salt, _ITERATIONS, 32)
        derivation = sequence(
            _PBKDF2,
            sequence(octets(salt), integer(_ITERATIONS), sequence(_HMAC_SHA256)),
        )
        cipher = sequence(_AES256, octets(vector))
        return sequence(_PBES2, sequence(derivation, cipher)), aes_cbc(key, vector, padded(data))

    def _encrypted(self, bags: Sequence[bytes]) -> bytes:
        algorithm, encrypted = self._encrypt(sequence(*bags))
        content = sequence(_DATA, algorithm, implicit(0, encrypted))
        return sequence(_ENCRYPTED_DATA, explicit(0, sequence(integer(0), content)))

    def _file(self, *contents: bytes) -> bytes:
        safe = sequence(*contents)
        salt = self.context.random(_SALT)
        digest = hmac.digest(_mac_key(self.password, salt), safe, "sha256")
        info = sequence(sequence(_SHA256), octets(digest))
        mac = sequence(info, octets(salt), integer(_ITERATIONS))
        return sequence(integer(3), _plain(safe), mac)


def _plain(data: bytes) -> bytes:
    return sequence(_DATA, explicit(0, octets(data)))


def _fingerprint(certificate: bytes) -> bytes:
    return hashlib.sha1(certificate, usedforsecurity=False).digest()


def _attribute(name: bytes, value: bytes) -> bytes:
    return sequence(name, set_of(value))


def _certificate_bag(certificate: bytes, attributes: Sequence[bytes]) -> bytes:
    bag = sequence(_X509, explicit(0, octets(certificate)))
    members = [_CERTIFICATE_BAG, explicit(0, bag)]
    return sequence(*members, *([set_of(*attributes)] if attributes else []))


def _mac_key(password: str, salt: bytes) -> bytes:
    """Derive the key of the MAC (RFC 7292, appendix B); one block of SHA-256 is long enough."""
    secret = (password + "\0").encode("utf-16-be")
    filled = _filled(salt) + _filled(secret)
    digest = hashlib.sha256(_MAC_PURPOSE * _MAC_BLOCK + filled).digest()
    for _ in range(_ITERATIONS - 1):
        digest = hashlib.sha256(digest).digest()
    return digest


def _filled(data: bytes) -> bytes:
    """The data repeated up to whole blocks."""
    size = -(-len(data) // _MAC_BLOCK) * _MAC_BLOCK
    return (data * (size // len(data) + 1))[:size]
