"""Reads private keys and PKCS#12 files of untrusted origin.

Checking a long RSA key takes seconds or even minutes, and an encrypted key or a PKCS#12 file chooses its
number of rounds of key derivation. Each is one call that would block the event loop, so it is made in a
worker process.
"""

import hashlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple

from syncret.providers.kit.sized_cache import SizedCache
from syncret.providers.work import Work

if TYPE_CHECKING:  # slow to import
    from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes
    from cryptography.x509 import Certificate

MOST_BITS: Final = 8192
"""Of an RSA key. Longer ones are not read: to sign with them would hold up others, too."""

_CHECKING: Final = "checking an RSA key"
_READING: Final = "reading a PKCS#12 file"
_DECRYPTING: Final = "decrypting a private key"
_DIGEST_SIZE: Final = 64

_VALID: Final = SizedCache[bytes, bool](most=1000, most_bytes=1000 * _DIGEST_SIZE)
"""Keys that were found valid, by their digests: the same ones are read at every login and refresh."""


def from_pem(data: bytes, work: Work) -> "PrivateKeyTypes | None":
    """The key in a PEM document; None if there is none that is valid, or it has a password."""
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    return _loaded(load_pem_private_key, data, work)


def from_encrypted_pem(data: bytes, password: bytes, work: Work) -> "PrivateKeyTypes | None":
    """The key in an encrypted PEM document; None if there is none that is valid, or the password is wrong."""
    decrypted = work.apart(_DECRYPTING, decrypted_pem, data, password)
    return None if decrypted is None else from_der(decrypted, work)


def decrypted_pem(data: bytes, password: bytes) -> bytes | None:
    """The key in PKCS#8, not checked yet."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        return _pkcs8(load_pem_private_key(data, password, unsafe_skip_rsa_key_validation=True))
    except (ValueError, TypeError, UnsupportedAlgorithm):
        return None


def from_der(data: bytes, work: Work) -> "PrivateKeyTypes | None":
    """The key in DER, of any of the usual formats; None if it is not valid, or has a password."""
    from cryptography.hazmat.primitives.serialization import load_der_private_key

    return _loaded(load_der_private_key, data, work)


def _loaded(load: "Callable[..., PrivateKeyTypes]", data: bytes, work: Work) -> "PrivateKeyTypes | None":
    from cryptography.exceptions import UnsupportedAlgorithm

    try:
        key = load(data, None, unsafe_skip_rsa_key_validation=True)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        return None
    return key if is_valid(key, work) else None


def is_valid(key: "PrivateKeyTypes", work: Work) -> bool:
    """Whether a key may be used that was read without the check of RSA keys, which is made here."""
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

    if not isinstance(key, RSAPrivateKey):
        return True
    if key.key_size > MOST_BITS:
        return False
    encoded = _pkcs8(key)
    digest = hashlib.sha256(encoded).digest()
    if _VALID.get(digest):
        return True
    valid = work.apart(_CHECKING, is_valid_rsa, encoded)
    if valid:
        _VALID.add(digest, value=True, size=_DIGEST_SIZE)
    return valid


def is_valid_rsa(encoded: bytes) -> bool:
    """Whether an RSA key in PKCS#8 is one."""
    from cryptography.hazmat.primitives.serialization import load_der_private_key

    try:
        load_der_private_key(encoded, None)
    except ValueError:
        return False
    return True


class KeyStore(NamedTuple):
    """What a PKCS#12 file holds: a key, the certificate that belongs to it, and others."""

    key: "PrivateKeyTypes | None"
    own: "Certificate | None"
    others: "list[Certificate]"


def from_pkcs12(data: bytes, password: bytes | None, work: Work) -> KeyStore | None:
    """The content of a PKCS#12 file; None if it cannot be read."""
    from cryptography.hazmat.primitives.serialization import load_der_private_key
    from cryptography.x509 import load_der_x509_certificate

    found = work.apart(_READING, read_pkcs12, data, password)
    if found is None:
        return None
    encoded, own, others = found
    return KeyStore(
        # it was checked there
        load_der_private_key(encoded, None, unsafe_skip_rsa_key_validation=True) if encoded else None,
        load_der_x509_certificate(own) if own else None,
        [load_der_x509_certificate(each) for each in others],
    )


def read_pkcs12(data: bytes, password: bytes | None) -> tuple[bytes, bytes, list[bytes]] | None:
    """Key, certificate and other certificates in DER, empty where there is none."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding
    from cryptography.hazmat.primitives.serialization.pkcs12 import load_pkcs12

    try:
        store = load_pkcs12(data, password)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        return None
    key = store.key
    if isinstance(key, RSAPrivateKey) and key.key_size > MOST_BITS:
        return None
    return (
        b"" if key is None else _pkcs8(key),
        b"" if store.cert is None else store.cert.certificate.public_bytes(Encoding.DER),
        [each.certificate.public_bytes(Encoding.DER) for each in store.additional_certs],
    )


def _pkcs8(key: "PrivateKeyTypes") -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    return key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
