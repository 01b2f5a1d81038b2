"""The three messages of NTLMv2, and the proof in the last one, with the digest MD4 that it needs. Pure."""

import hmac
import struct
from typing import Final, NamedTuple

from syncret.providers.errors import Malformed

_SIGNATURE: Final = b"NTLMSSP\x00"
_CHALLENGE: Final = 2
_CHALLENGE_HEAD: Final = 48

_UNICODE: Final = 0x00000001
_REQUEST_TARGET: Final = 0x00000004
_NTLM: Final = 0x00000200
_ALWAYS_SIGN: Final = 0x00008000
_EXTENDED_SECURITY: Final = 0x00080000
_TARGET_INFO: Final = 0x00800000
_56: Final = 0x80000000
_128: Final = 0x20000000

FLAGS: Final = (
    _UNICODE | _REQUEST_TARGET | _NTLM | _ALWAYS_SIGN | _EXTENDED_SECURITY | _TARGET_INFO | _56 | _128
)

_TIMESTAMP: Final = 7
_END: Final = 0
_EPOCH: Final = 11_644_473_600
"""Seconds between 1601, the epoch of Windows, and 1970."""


class Challenge(NamedTuple):
    """The server's challenge: its nonce, and its target information."""

    nonce: bytes
    flags: int
    info: bytes


def negotiate() -> bytes:
    """The first message: our flags."""
    return _SIGNATURE + struct.pack("<II", 1, FLAGS) + b"\x00" * 16


def read_challenge(message: bytes) -> Challenge:
    """The second message. Raises Malformed."""
    if len(message) < _CHALLENGE_HEAD or message[:8] != _SIGNATURE:
        raise Malformed("the server's NTLM challenge cannot be read")
    [kind, flags] = struct.unpack_from("<I", message, 8) + struct.unpack_from("<I", message, 20)
    length, _, offset = struct.unpack_from("<HHI", message, 40)
    info = message[offset : offset + length]
    if kind != _CHALLENGE or len(info) != length:
        raise Malformed("the server's NTLM challenge cannot be read")
    return Challenge(message[24:32], flags, info)


def authenticate(challenge: Challenge, user: str, password: str, *, nonce: bytes, now: float) -> bytes:
    r"""The third message: the proof. `user` is `DOMAIN\name`, `name@domain` or `name`; `nonce` is 8 bytes."""
    domain, _, name = user.rpartition("\\")
    key = response_key(name, domain, password)
    moment = timestamp(challenge.info)
    proof = answer(key, challenge, nonce, moment or struct.pack("<Q", int((now + _EPOCH) * 10_000_000)))
    old = b"\x00" * 24 if moment else hmac.digest(key, challenge.nonce + nonce, "md5") + nonce
    fields = (old, proof, domain.encode("utf-16-le"), name.encode("utf-16-le"), b"", b"")
    head, place = b"", 8 + 4 + len(fields) * 8 + 4
    for field in fields:
        head += struct.pack("<HHI", len(field), len(field), place)
        place += len(field)
    flags = (challenge.flags & FLAGS) | _UNICODE
    return _SIGNATURE + struct.pack("<I", 3) + head + struct.pack("<I", flags) + b"".join(fields)


def response_key(name: str, domain: str, password: str) -> bytes:
    """The response key of a user's password in a domain (NTOWFv2)."""
    identity = (name.upper() + domain).encode("utf-16-le")
    return hmac.digest(md4(password.encode("utf-16-le")), identity, "md5")


def answer(key: bytes, challenge: Challenge, nonce: bytes, moment: bytes) -> bytes:
    """The proof over both nonces and the time, and its input (NTLMv2_RESPONSE)."""
    made_from = b"\x01\x01" + b"\x00" * 6 + moment + nonce + b"\x00" * 4 + challenge.info + b"\x00" * 4
    return hmac.digest(key, challenge.nonce + made_from, "md5") + made_from


def timestamp(info: bytes) -> bytes | None:
    """The server's time in its target information."""
    place = 0
    while place + 4 <= len(info):
        kind, length = struct.unpack_from("<HH", info, place)
        if kind == _END:
            break
        if kind == _TIMESTAMP:
            return info[place + 4 : place + 4 + length]
        place += 4 + length
    return None


_MASK: Final = 0xFFFFFFFF
_START: Final = (0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476)
_ROUND_2: Final = (0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15)
_ROUND_3: Final = (0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15)
_TURNS: Final = ((3, 7, 11, 19), (3, 5, 9, 13), (3, 9, 11, 15))
_ADDED: Final = (0, 0x5A827999, 0x6ED9EBA1)


def md4(data: bytes) -> bytes:
    """The digest of RFC 1320, 16 bytes; OpenSSL no longer offers it."""
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
