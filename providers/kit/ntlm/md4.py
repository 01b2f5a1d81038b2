"""MD4 (RFC 1320), which NTLM needs and OpenSSL no longer offers."""

import struct
from typing import Final

_MASK: Final = 0xFFFFFFFF
_START: Final = (0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476)
_ROUND_2: Final = (0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15)
_ROUND_3: Final = (0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15)
_TURNS: Final = ((3, 7, 11, 19), (3, 5, 9, 13), (3, 9, 11, 15))
_ADDED: Final = (0, 0x5A827999, 0x6ED9EBA1)


def md4(data: bytes) -> bytes:
    """The digest, 16 bytes."""
    padded = data + b"\x80" + b"\x00" * ((55 - len(data)) % 64) + struct.pack("<Q", 8 * len(data))
    state: tuple[int, ...] = _START
    for begin in range(0, len(padded), 64):
        state = _block(state, struct.unpack("<16I", padded[begin : begin + 64]))
    return struct.pack("<4I", *state)


def _block(state: tuple[int, ...], words: tuple[int, ...]) -> tuple[int, ...]:
    a, b, c, d = state
    for number, order in enumerate((range(16), _ROUND_2, _ROUND_3)):
        for step, index in enumerate(order):
            if number == 0:
                mixed = (b & c) | (~b & d)
            elif number == 1:
                mixed = (b & c) | (b & d) | (c & d)
            else:
                mixed = b ^ c ^ d
            total = (a + mixed + words[index] + _ADDED[number]) & _MASK
            turn = _TURNS[number][step % 4]
            a, b, c, d = d, ((total << turn) | (total >> (32 - turn))) & _MASK, b, c
    return tuple((old + new) & _MASK for old, new in zip(state, (a, b, c, d), strict=True))
