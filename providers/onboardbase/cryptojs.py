"""Decrypts what CryptoJS has encrypted with a passphrase: AES-256-CBC in OpenSSL's salted format."""

import hashlib
from base64 import b64decode
from typing import Final

_MAGIC: Final = b"Salted__"
_KEY: Final = 32
_BLOCK: Final = 16
_HEAD: Final = len(_MAGIC) + 8


def decrypted(text: str, passphrase: bytes) -> str | None:
    """The plain text; None if it was not encrypted so, or with another passphrase."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes  # slow to import
    from cryptography.hazmat.primitives.padding import PKCS7

    try:
        data = b64decode(text, validate=True)
    except ValueError:
        return None
    if not data.startswith(_MAGIC) or len(data) < _HEAD + _BLOCK or len(data) % _BLOCK:
        return None
    key, vector = _derived(passphrase, data[len(_MAGIC) : _HEAD])
    decryptor = Cipher(algorithms.AES(key), modes.CBC(vector)).decryptor()
    unpadder = PKCS7(8 * _BLOCK).unpadder()
    try:
        padded = decryptor.update(data[_HEAD:]) + decryptor.finalize()
        return (unpadder.update(padded) + unpadder.finalize()).decode()
    except ValueError:  # the padding, or the text, is none
        return None


def _derived(passphrase: bytes, salt: bytes) -> tuple[bytes, bytes]:
    """Key and vector, as OpenSSL's EVP_BytesToKey makes them with MD5: the format leaves no choice."""
    made, block = b"", b""
    while len(made) < _KEY + _BLOCK:
        block = hashlib.md5(block + passphrase + salt, usedforsecurity=False).digest()
        made += block
    return made[:_KEY], made[_KEY : _KEY + _BLOCK]
