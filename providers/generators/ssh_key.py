"""The generator SSHKey: a pair of SSH keys, as `ssh-keygen` writes them."""

import base64
import struct
from collections.abc import Callable
from typing import Annotated, Final, Literal, TypeAlias

from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_der_private_key,
)
from msgspec import Meta

from syncret.config.catalog import SpecType
from syncret.config.fields import Model
from syncret.providers.contract import Generated, Generator, OpenContext
from syncret.providers.errors import Malformed
from syncret.providers.values import SecretBytes
from syncret.providers.work import STEPS_A_SECOND, Work

KeyType = Literal["rsa", "ecdsa", "ed25519"]
PrivateKey: TypeAlias = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey

DEFAULT_RSA_SIZE: Final = 2048
_LEAST_RSA_SIZE: Final = 1024
_EXPONENT: Final = 65537
_RSA_COST: Final = STEPS_A_SECOND // 200
"""Steps of the smallest key. They are made in another process: a sync may ask for 38 of 2048 bits, for 11 of
4096, or for 3 of 8192, which take half a minute."""
_CURVES: Final[dict[int, Callable[[], ec.EllipticCurve]]] = {
    256: ec.SECP256R1,
    384: ec.SECP384R1,
    521: ec.SECP521R1,
}

_COPIES: Final = 10
"""How many times as much as a comment the texts take that it is part of while they are made."""

_PEM: Final = ("-----BEGIN OPENSSH PRIVATE KEY-----", "-----END OPENSSH PRIVATE KEY-----")
_PEM_WIDTH: Final = 64
_MAGIC: Final = b"openssh-key-v1\0"
_BLOCK: Final = 8
_LENGTH: Final = struct.Struct(">I")


class SSHKeySpec(Model):
    """Type and size of the keys, which come as `privateKey` and `publicKey`.

    Example: {keyType: ed25519, comment: deploy@example.com}
    """

    key_type: KeyType = "rsa"
    """Type of the keys; ed25519 has one size. Example: ed25519"""
    key_size: Annotated[int, Meta(ge=256, le=8192)] | None = None
    """Bits of the key: for rsa 2048 by default, for ecdsa 256, 384 or 521; ignored for ed25519.
    Example: 4096"""
    comment: str = ""
    """Comment of both keys, on one line. Example: deploy@example.com"""


async def generate(spec: SSHKeySpec, context: OpenContext) -> Generated:
    """Two values: `privateKey` (OpenSSH PEM) and `publicKey` (a line of authorized_keys)."""
    if not spec.comment.isprintable():
        raise Malformed("the comment of an SSH key must be one printable line")
    private, public = await context.compute(lambda work: make_pair(spec, work))
    return Generated({"privateKey": SecretBytes(private), "publicKey": SecretBytes(public)})


def make_pair(spec: SSHKeySpec, work: Work) -> tuple[bytes, bytes]:
    """A private and a public key. Slow for RSA. Raises Malformed for an invalid size."""
    work.make(_COPIES * len(spec.comment))
    key = _make(spec, work)
    public = key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH)
    comment = spec.comment.encode()
    line = (public + b" " + comment if comment else public) + b"\n"
    return _commented(key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()), comment), line


def _make(spec: SSHKeySpec, work: Work) -> PrivateKey:
    match spec.key_type:
        case "rsa":
            size = spec.key_size or DEFAULT_RSA_SIZE
            if size < _LEAST_RSA_SIZE:
                raise Malformed(
                    f"an rsa key of {size} bits is insecure", hint="keySize is 2048, 3072 or 4096"
                )
            work.step(_RSA_COST * (size // _LEAST_RSA_SIZE) ** 2)
            encoded = work.apart("making an RSA key", new_rsa_key, size)
            key = load_der_private_key(encoded, None, unsafe_skip_rsa_key_validation=True)
            if not isinstance(key, rsa.RSAPrivateKey):
                raise TypeError("what was made is no RSA key")
            return key
        case "ecdsa":
            curve = _CURVES.get(spec.key_size or 0, ec.SECP256R1)
            return ec.generate_private_key(curve())
        case "ed25519":
            return ed25519.Ed25519PrivateKey.generate()


def new_rsa_key(size: int) -> bytes:
    """A new key in PKCS#8. It takes seconds if it is long."""
    key = rsa.generate_private_key(_EXPONENT, size)
    return key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())


def _commented(pem: bytes, comment: bytes) -> bytes:
    """The private key with its comment set, which `cryptography` always leaves empty.

    The last field of the file is a block of private parts: it ends with the comment, then 1, 2, 3, ... up to
    a multiple of eight bytes.
    """
    blob = base64.b64decode(b"".join(pem.splitlines()[1:-1]))
    start = _private_parts(blob)
    parts = blob[start + _LENGTH.size :]
    padding = parts[-1]  # 0 if there is none: the comment before it is empty
    parts = parts[: len(parts) - padding - _LENGTH.size] + _LENGTH.pack(len(comment)) + comment
    parts += bytes(range(1, -len(parts) % _BLOCK + 1))
    body = base64.b64encode(blob[:start] + _LENGTH.pack(len(parts)) + parts).decode()
    lines = [body[index : index + _PEM_WIDTH] for index in range(0, len(body), _PEM_WIDTH)]
    return "\n".join([_PEM[0], *lines, _PEM[1], ""]).encode()


def _private_parts(blob: bytes) -> int:
    """The offset of the private parts and their length: after cipher, kdf, its options and one public key."""
    place = len(_MAGIC)
    for _ in ("cipher", "kdf", "options"):
        place = _after(blob, place)
    return _after(blob, place + _LENGTH.size)


def _after(blob: bytes, place: int) -> int:
    (length,) = _LENGTH.unpack_from(blob, place)
    return place + _LENGTH.size + int(length)


GENERATOR: Final = Generator(SpecType("SSHKey", SSHKeySpec), generate=generate, local=True)
