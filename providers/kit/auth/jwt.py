"""JWTs signed with an RSA key (RS256, PS256), for vendors that accept them as credentials."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

import msgspec

from syncret.config.fields import Json
from syncret.providers.errors import Malformed
from syncret.providers.kit import private_keys
from syncret.providers.kit.golang import json as gojson
from syncret.providers.work import Work

if TYPE_CHECKING:  # slow to import
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey


def private_key(pem: bytes, work: Work, password: bytes = b"") -> "RSAPrivateKey | None":
    """The RSA key in a PEM document; None if there is none, or it has another password.

    A password counts only for a key that has one.
    """
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

    key = private_keys.from_pem(pem, work)
    if key is None and password:
        key = private_keys.from_encrypted_pem(pem, password, work)
    return key if isinstance(key, RSAPrivateKey) else None


def signed(
    key: "RSAPrivateKey",
    claims: Mapping[str, Json],
    *,
    kid: str = "",
    algorithm: Literal["RS256", "PS256"] = "RS256",
) -> str:
    """A JWT with these claims; `kid` identifies the key if the verifier has several."""
    from cryptography.hazmat.primitives.asymmetric.padding import MGF1, PSS, PKCS1v15
    from cryptography.hazmat.primitives.hashes import SHA256

    header = {"alg": algorithm, "typ": "JWT", **({"kid": kid} if kid else {})}
    content = unsigned(header, claims)
    form = PKCS1v15() if algorithm == "RS256" else PSS(MGF1(SHA256()), PSS.DIGEST_LENGTH)
    return f"{content}.{encoded(key.sign(content.encode(), form, SHA256()))}"


def unsigned(header: Mapping[str, Json], claims: Mapping[str, Json]) -> str:
    """The part of a JWT that is signed; a dot and the signature follow it."""
    return f"{_packed(header)}.{_packed(claims)}"


class _Expiring(msgspec.Struct):
    exp: float


def expiry(token: str) -> str:
    """When a token ends, in seconds since the epoch; the token is not verified. Raises Malformed."""
    payload = token.split(".")[1] if token.count(".") == 2 else ""  # noqa: PLR2004  # header, payload, signature
    try:
        claims = msgspec.json.decode(urlsafe_b64decode(payload + "=" * (-len(payload) % 4)), type=_Expiring)
    except (ValueError, msgspec.MsgspecError):
        claims = None
    if claims is None:
        raise Malformed("the token in the answer does not say when it ends", hint="does the URL lead there?")
    return f"{claims.exp:.0f}"


def encoded(data: bytes) -> str:
    """Base64url without padding."""
    return urlsafe_b64encode(data).decode().rstrip("=")


def _packed(document: Mapping[str, Json]) -> str:
    return encoded(gojson.marshal(dict(document), Work()).encode())
