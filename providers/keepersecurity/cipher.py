"""The ciphers of Keeper Secrets Manager: AES-256-GCM for data and keys, ECDH with P-256 for a receiver.

Keeper's servers cannot read records. The key of the application decrypts the keys of folders, these decrypt
the keys of records, and these decrypt the content of records and their files.
"""

from base64 import b64decode, urlsafe_b64encode
from hashlib import sha256
from secrets import token_bytes
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_der_private_key

_NONCE: Final = 12
_TAG: Final = 16
KEY: Final = 32
"""Bytes of every key."""


def new_key() -> bytes:
    """A random key."""
    return token_bytes(KEY)


def new_uid() -> str:
    """A random ID of a record; as Keeper's clients make them, it does not begin with a dash."""
    drawn = token_bytes(16)
    return encoded(bytes((drawn[0] & 0x7F, *drawn[1:])))


def decoded(text: str) -> bytes | None:
    """The bytes of base64 in either alphabet, with or without padding; None if it is invalid."""
    plain = text.strip().rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except ValueError:
        return None


def encoded(data: bytes) -> str:
    """As IDs are written: base64 in the alphabet of URLs, without padding."""
    return urlsafe_b64encode(data).decode().rstrip("=")


def sealed(data: bytes, key: bytes) -> bytes:
    """Encrypted with a key: the nonce, and the rest."""
    nonce = token_bytes(_NONCE)
    return nonce + AESGCM(key).encrypt(nonce, data, None)


def opened(data: bytes | None, key: bytes) -> bytes | None:
    """The decrypted data; None if it was not encrypted with this key, or has been changed."""
    if data is None or len(data) < _NONCE + _TAG or len(key) != KEY:
        return None
    try:
        return AESGCM(key).decrypt(data[:_NONCE], data[_NONCE:], None)
    except InvalidTag:
        return None


def public_key(point: bytes | None) -> ec.EllipticCurvePublicKey | None:
    """The public key at a point of P-256; None if the point is invalid."""
    try:
        return ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point or b"")
    except ValueError:
        return None


def private_key(der: bytes | None) -> ec.EllipticCurvePrivateKey | None:
    """The private key of a device, from PKCS #8; None if it is invalid, or not of P-256."""
    try:
        found = load_der_private_key(der or b"", None)
    except (TypeError, ValueError):
        return None
    if isinstance(found, ec.EllipticCurvePrivateKey) and isinstance(found.curve, ec.SECP256R1):
        return found
    return None


def sealed_for(data: bytes, receiver: ec.EllipticCurvePublicKey) -> bytes:
    """Encrypted for who has the private key: the point of a key that is used once, and the rest."""
    once = ec.generate_private_key(ec.SECP256R1())
    shared = sha256(once.exchange(ec.ECDH(), receiver)).digest()
    return once.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint) + sealed(
        data, shared
    )


def signature(data: bytes, key: ec.EllipticCurvePrivateKey) -> bytes:
    """A signature with SHA-256, in DER."""
    return key.sign(data, ec.ECDSA(SHA256()))
