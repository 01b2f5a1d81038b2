"""JSON Web Tokens: signed with RS256, and really verified with it or PS256."""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeAlias

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

KeyOf: TypeAlias = Callable[[str], rsa.RSAPublicKey | None]
"""The key of a name or thumbprint; None: there is none."""

_PADDINGS: dict[str, padding.AsymmetricPadding] = {
    "RS256": padding.PKCS1v15(),
    "PS256": padding.PSS(padding.MGF1(hashes.SHA256()), padding.PSS.DIGEST_LENGTH),
}


class BadToken(Exception):
    """It is no token, or not one that can be trusted; the message says why."""


@cache
def private_key(name: str) -> rsa.RSAPrivateKey:
    """A key of this name: made once in a run, for that takes some 100 ms."""
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def pem(key: rsa.RSAPrivateKey) -> str:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()


def public_pem(key: rsa.RSAPrivateKey) -> str:
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    return key.public_key().public_bytes(serialization.Encoding.PEM, form).decode()


def signed(claims: Mapping[str, Any], key: rsa.RSAPrivateKey, *, kid: str) -> str:
    header = {"alg": "RS256", "typ": "JWT", "kid": kid}
    content = f"{_pack(header)}.{_pack(claims)}"
    signature = key.sign(content.encode(), padding.PKCS1v15(), hashes.SHA256())
    return f"{content}.{_encode(signature)}"


def claims_of(token: str, key_of: KeyOf) -> dict[str, Any]:
    """The claims, if a known key signed them. A key is known by name or thumbprint."""
    parts = token.split(".")
    if len(parts) != 3:
        raise BadToken("not a JWT")
    try:
        header, claims = (json.loads(_decode(part)) for part in parts[:2])
        signature = _decode(parts[2])
    except ValueError:
        raise BadToken("not a JWT") from None
    key = key_of(header.get("kid") or header.get("x5t#S256") or header.get("x5t") or "")
    form = _PADDINGS.get(header.get("alg"))
    if form is None or key is None:
        raise BadToken("signed by an unknown key")
    try:
        content = f"{parts[0]}.{parts[1]}".encode()
        key.verify(signature, content, form, hashes.SHA256())
    except InvalidSignature:
        raise BadToken("the signature is wrong") from None
    return dict(claims)


def verified(token: str, key_of: KeyOf, *, now: float) -> dict[str, Any]:
    """As claims_of, if they hold now."""
    claims = claims_of(token, key_of)
    if not claims["iat"] - 300 <= now < claims["exp"]:
        raise BadToken("it does not hold now")
    return claims


def _pack(document: Mapping[str, Any]) -> str:
    return _encode(json.dumps(document).encode())


def _encode(data: bytes) -> str:
    return urlsafe_b64encode(data).decode().rstrip("=")


def _decode(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))
