"""Converts JSON Web Keys to PEM: jwkPublicKeyPem, jwkPrivateKeyPem."""

import base64
import json
import re
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from syncret.daemon.core.templating.errors import FunctionError
from syncret.daemon.core.templating.functions import pem
from syncret.daemon.core.templating.functions.contract import FunctionTable, table
from syncret.daemon.core.templating.functions.keys import pkcs8

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

    PrivateKey: TypeAlias = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey
    PublicKey: TypeAlias = rsa.RSAPublicKey | ec.EllipticCurvePublicKey | ed25519.Ed25519PublicKey

_BASE64: Final = re.compile(r"[A-Za-z0-9+/_-]*={0,2}")
_DECODER: Final = json.JSONDecoder()
_SPACE: Final = " \t\r\n"
_TO_STANDARD: Final = str.maketrans("-_", "+/")


def jwk_public_key_pem(text: str) -> str:
    """Refuses a private key."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    fields = _fields(text)
    if "d" in fields:
        raise FunctionError("the key is not a public key")
    key = _checked(fields, private=False)
    public = cast("PublicKey", key)
    return pem.encode("PUBLIC KEY", public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo))


def jwk_private_key_pem(text: str) -> str:
    """Refuses a public key."""
    fields = _fields(text)
    if "d" not in fields:
        raise FunctionError("the key is not a private key")
    return pem.encode("PRIVATE KEY", pkcs8(cast("PrivateKey", _checked(fields, private=True))))


def _fields(text: str) -> dict[str, object]:
    try:
        fields, _ = _DECODER.raw_decode(text.lstrip(_SPACE))  # what follows is not looked at
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict):
        raise FunctionError("the text is no JSON web key")
    return cast("dict[str, object]", fields)


def _checked(fields: dict[str, object], *, private: bool) -> "PrivateKey | PublicKey":
    from cryptography.exceptions import UnsupportedAlgorithm

    try:
        return _key(fields, private=private)
    except (ValueError, UnsupportedAlgorithm):
        # The library's error may hold parts of the key.
        raise FunctionError("the JSON web key holds no valid key") from None


def _key(fields: dict[str, object], *, private: bool) -> "PrivateKey | PublicKey":
    match fields.get("kty"):
        case "RSA":
            return _rsa(fields, private=private)
        case "EC":
            return _ec(fields, private=private)
        case "OKP" if fields.get("crv") == "Ed25519":
            return _ed25519(fields, private=private)
        case _:
            raise FunctionError("keys of this type have no PEM form")


def _bytes(fields: dict[str, object], name: str) -> bytes:
    value = fields.get(name)
    if not isinstance(value, str) or not value or not _BASE64.fullmatch(value):
        raise FunctionError(f"the JSON web key has no usable {name}")
    digits = value.rstrip("=").translate(_TO_STANDARD)
    return base64.b64decode(digits + "=" * (-len(digits) % 4))


def _number(fields: dict[str, object], name: str) -> int:
    return int.from_bytes(_bytes(fields, name), "big")


def _rsa(fields: dict[str, object], *, private: bool) -> "rsa.RSAPrivateKey | rsa.RSAPublicKey":
    from cryptography.hazmat.primitives.asymmetric import rsa

    public = rsa.RSAPublicNumbers(_number(fields, "e"), _number(fields, "n"))
    if not private:
        return public.public_key()
    d, p, q = (_number(fields, name) for name in "dpq")
    exponents = rsa.rsa_crt_dmp1(d, p), rsa.rsa_crt_dmq1(d, q), rsa.rsa_crt_iqmp(p, q)
    return rsa.RSAPrivateNumbers(p, q, d, *exponents, public).private_key()


def _ec(
    fields: dict[str, object], *, private: bool
) -> "ec.EllipticCurvePrivateKey | ec.EllipticCurvePublicKey":
    from cryptography.hazmat.primitives.asymmetric import ec

    curves: dict[str, type[ec.SECP256R1 | ec.SECP384R1 | ec.SECP521R1]] = {
        "P-256": ec.SECP256R1,
        "P-384": ec.SECP384R1,
        "P-521": ec.SECP521R1,
    }
    curve = curves.get(str(fields.get("crv")))
    if curve is None:
        raise FunctionError("the JSON web key has no usable crv")
    public = ec.EllipticCurvePublicNumbers(_number(fields, "x"), _number(fields, "y"), curve())
    if not private:
        return public.public_key()
    return ec.EllipticCurvePrivateNumbers(_number(fields, "d"), public).private_key()


def _ed25519(
    fields: dict[str, object], *, private: bool
) -> "ed25519.Ed25519PrivateKey | ed25519.Ed25519PublicKey":
    from cryptography.hazmat.primitives.asymmetric import ed25519

    public = _bytes(fields, "x")
    if not private:
        return ed25519.Ed25519PublicKey.from_public_bytes(public)
    return ed25519.Ed25519PrivateKey.from_private_bytes(_bytes(fields, "d"))


FUNCTIONS: Final[FunctionTable] = table(
    {"jwkPrivateKeyPem": jwk_private_key_pem, "jwkPublicKeyPem": jwk_public_key_pem}
)
