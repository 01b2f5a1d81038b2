"""Encrypts the records of the cache; each opens only under its own name, store, times and key.

Each record has its own key, derived from the root key, random bytes and a keyed digest of the content. So no
two values share a key and nonce, which AES-GCM requires, even on a cloned virtual machine that repeats its
random numbers.
"""

import hmac
import os
import struct
from hashlib import sha256
from typing import Final, NamedTuple

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from syncret.daemon.cache.errors import Rejected

KEY_SIZE: Final = 32
SALT_SIZE: Final = 32
NAME_SIZE: Final = 16
LASTS: Final = -1
"""`expires_at` of a value without a refresh interval, such as a generated password: it has no age."""

_INFO: Final = b"syncret-cache-1"
_NAMES: Final = _INFO + b" names"
_NONCE_SIZE: Final = 12


class Row(NamedTuple):
    """One record in the file. Only its times and size are in plain text."""

    kind: str
    id: bytes
    store: bytes
    confirmed_at: int
    expires_at: int
    size: int
    key_salt: bytes
    keyed_digest: bytes
    nonce: bytes
    box: bytes


def key_id(root: bytes) -> bytes:
    """An ID of the key of a file, from which the key cannot be derived."""
    return hmac.digest(root, _INFO + b" key id", "sha256")[:NAME_SIZE]


def new_names_key(root: bytes, salt: bytes) -> bytes:
    """A new sealed key for the names in a file. It stays when the root key changes, and so do the names."""
    return seal_names_key(root, salt, os.urandom(KEY_SIZE))


def seal_names_key(root: bytes, salt: bytes, key: bytes) -> bytes:
    """The key for the names, sealed with a root key."""
    nonce = os.urandom(_NONCE_SIZE)
    return nonce + AESGCM(_derived(root, salt, _NAMES)).encrypt(nonce, key, None)


def open_names_key(root: bytes, salt: bytes, sealed: bytes) -> bytes:
    """The key for the names in a file. Raises Rejected."""
    try:
        return AESGCM(_derived(root, salt, _NAMES)).decrypt(sealed[:_NONCE_SIZE], sealed[_NONCE_SIZE:], None)
    except (InvalidTag, ValueError):
        raise Rejected from None


class Box:
    """Encrypts and decrypts the records of one file with keys derived from one root key."""

    def __init__(self, root: bytes, salt: bytes, names_key: bytes) -> None:
        self._salt = salt
        self._id_key = names_key
        self._digest_key = _derived(root, salt, _INFO + b" digest")
        self._box_key = _derived(root, salt, _INFO + b" box")

    def name(self, *parts: str) -> bytes:
        """The keyed hash of these parts, which is the name in the file and reveals nothing about them."""
        joined = b"".join(struct.pack(">I", len(part)) + part for part in (each.encode() for each in parts))
        return hmac.digest(self._id_key, joined, "sha256")[:NAME_SIZE]

    def seal(self, kind: str, name: bytes, store: bytes, times: tuple[int, int], content: bytes) -> Row:
        """A new record; `times` are when it was confirmed, and when it expires (0: not by itself)."""
        confirmed_at, expires_at = times
        bare = Row(
            *(kind, name, store, confirmed_at, expires_at, len(content)),
            key_salt=os.urandom(NAME_SIZE),
            keyed_digest=hmac.digest(self._digest_key, _bound(kind, name, store) + content, "sha256")[
                :NAME_SIZE
            ],
            nonce=os.urandom(_NONCE_SIZE),
            box=b"",
        )
        sealed = self._cipher(bare).encrypt(bare.nonce, content, _beside(bare))
        return bare._replace(box=sealed)

    def open(self, row: Row) -> bytes:
        """The content of a record. Raises Rejected."""
        try:
            return self._cipher(row).decrypt(row.nonce, row.box, _beside(row))
        except (InvalidTag, ValueError, TypeError, struct.error):
            raise Rejected from None

    def _cipher(self, row: Row) -> AESGCM:
        salt = self._salt + row.key_salt + row.keyed_digest
        return AESGCM(_derived(self._box_key, salt, _bound(row.kind, row.id, row.store)))


def _derived(secret: bytes, salt: bytes, info: bytes) -> bytes:
    return HKDF(algorithm=SHA256(), length=KEY_SIZE, salt=salt, info=info).derive(secret)


def _bound(kind: str, name: bytes, store: bytes) -> bytes:
    return b"\0".join((_INFO, kind.encode(), name, sha256(store).digest()))


def _beside(row: Row) -> bytes:
    """The authenticated data of a record: it does not open if any of it was changed."""
    times = struct.pack(">qqq", row.confirmed_at, row.expires_at, row.size)
    return b"\0".join((_bound(row.kind, row.id, row.store), times, row.key_salt, row.keyed_digest))
