"""Sealed boxes: a text encrypted to a public key, so that only its owner can read it.

libsodium's `crypto_box_seal`: X25519 with a key made for this box, XSalsa20 and Poly1305. The first and the
last are OpenSSL's; Salsa20, which OpenSSL lacks, is here. https://doc.libsodium.org/public-key_cryptography/sealed_boxes
"""

import struct
from hashlib import blake2b
from typing import Final

from syncret.providers.errors import Malformed
from syncret.providers.work import Work

KEY_SIZE: Final = 32
_BLOCK: Final = 64
_STEPS: Final = 400
"""The cost of one block, in steps."""

_WORD: Final = 0xFFFFFFFF
_SIGMA: Final = struct.unpack("<4I", b"expand 32-byte k")
_NONCE_SIZE: Final = 24
_QUARTERS: Final = (
    (0, 4, 8, 12),
    (5, 9, 13, 1),
    (10, 14, 2, 6),
    (15, 3, 7, 11),
    (0, 1, 2, 3),
    (5, 6, 7, 4),
    (10, 11, 8, 9),
    (15, 12, 13, 14),
)
_TURNS: Final = ((1, 0, 3, 7), (2, 1, 0, 9), (3, 2, 1, 13), (0, 3, 2, 18))
"""In each quarter: what is changed, by the sum of which two, rotated how far."""

_MIXES: Final = tuple(
    (quarter[a], quarter[b], quarter[c], turn) for quarter in _QUARTERS for a, b, c, turn in _TURNS
)


def sealed(text: bytes, public_key: bytes, work: Work) -> bytes:
    """The text in a sealed box. Raises Malformed for what is no public key, and OverBudget."""
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
    from cryptography.hazmat.primitives.poly1305 import Poly1305

    ours = X25519PrivateKey.generate()
    try:
        shared = ours.exchange(X25519PublicKey.from_public_bytes(public_key))
    except ValueError:
        raise Malformed("the public key that values are encrypted with is none") from None
    sender = ours.public_key().public_bytes_raw()
    nonce = blake2b(sender + public_key, digest_size=_NONCE_SIZE).digest()
    stream = xsalsa20(derived(shared, bytes(16)), nonce, KEY_SIZE + len(text), work)
    encrypted = _xor(text, stream[KEY_SIZE:])
    return sender + Poly1305.generate_tag(stream[:KEY_SIZE], encrypted) + encrypted


def xsalsa20(key: bytes, nonce: bytes, size: int, work: Work) -> bytes:
    """The first bytes of the key stream of XSalsa20."""
    words = struct.unpack("<8I", derived(key, nonce[:16]))
    start = struct.unpack("<2I", nonce[16:])
    blocks: list[bytes] = []
    for number in range(-(-size // _BLOCK)):
        work.step(_STEPS)
        before = _state(words, (*start, number & _WORD, number >> 32))
        after = _mixed(before)
        blocks.append(struct.pack("<16I", *((a + b) & _WORD for a, b in zip(before, after, strict=True))))
    return b"".join(blocks)[:size]


def derived(key: bytes, nonce: bytes) -> bytes:
    """HSalsa20: another key, of a key and a nonce."""
    mixed = _mixed(_state(struct.unpack("<8I", key), struct.unpack("<4I", nonce)))
    return struct.pack("<8I", *(mixed[place] for place in (0, 5, 10, 15, 6, 7, 8, 9)))


def _state(key: tuple[int, ...], nonce: tuple[int, ...]) -> list[int]:
    return [_SIGMA[0], *key[:4], _SIGMA[1], *nonce, _SIGMA[2], *key[4:], _SIGMA[3]]


def _mixed(state: list[int]) -> list[int]:
    """Twenty rounds."""
    mixed = [*state]
    for _ in range(10):
        for place, one, other, turn in _MIXES:
            total = (mixed[one] + mixed[other]) & _WORD
            mixed[place] ^= ((total << turn) | (total >> (32 - turn))) & _WORD
    return mixed


def _xor(one: bytes, other: bytes) -> bytes:
    return (int.from_bytes(one) ^ int.from_bytes(other)).to_bytes(len(one))
