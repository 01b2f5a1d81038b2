"""What is imported: keys and certificates, really read."""

from base64 import b64decode, b64encode, urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from collections.abc import Mapping
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, load_pem_private_key, pkcs12
from cryptography.x509 import Certificate, load_pem_x509_certificates

from tests.support.servers.azure.errors import bad
from tests.support.servers.azure.objects import Shown

PFX, PEM = "application/x-pkcs12", "application/x-pem-file"
_CURVES: dict[str, ec.EllipticCurve] = {
    "P-256": ec.SECP256R1(),
    "P-384": ec.SECP384R1(),
    "P-521": ec.SECP521R1(),
    "P-256K": ec.SECP256K1(),
}
_OPERATIONS = {
    "RSA": ["encrypt", "decrypt", "sign", "verify", "wrapKey", "unwrapKey"],
    "EC": ["sign", "verify"],
}


def imported_key(given: Mapping[str, Any]) -> Shown:
    """The public part of a private key, whose numbers must fit each other."""
    kind = str(given.get("kty", ""))
    try:
        if kind == "RSA":
            key = _rsa(
                {name: _number(str(given[name])) for name in ("n", "e", "d", "p", "q", "dp", "dq", "qi")}
            )
            public = key.public_key().public_numbers()
            told: Shown = {"n": _encoded(public.n), "e": _encoded(public.e)}
        elif kind == "EC":
            curve = _CURVES[str(given["crv"])]
            x, y, d = (_number(str(given[name])) for name in ("x", "y", "d"))
            ec.EllipticCurvePrivateNumbers(d, ec.EllipticCurvePublicNumbers(x, y, curve)).private_key()
            told = {name: given[name] for name in ("crv", "x", "y")}
        else:
            raise bad("Property key.kty has invalid value")
    except (KeyError, ValueError):
        raise bad("Property key has invalid value") from None
    return {"kty": kind, "key_ops": given.get("key_ops") or _OPERATIONS[kind], **told}


def created_key(key: rsa.RSAPrivateKey) -> Shown:
    numbers = key.public_key().public_numbers()
    parts = {"n": _encoded(numbers.n), "e": _encoded(numbers.e)}
    return {"kty": "RSA", "key_ops": _OPERATIONS["RSA"], **parts}


def imported_certificate(body: Mapping[str, Any]) -> tuple[Shown, Shown, Shown]:
    """The fields of the certificate, of its key, and of the secret that holds both."""
    policy: dict[str, Any] = body.get("policy") or {}
    properties: dict[str, str] = policy.get("secret_props") or {}
    form = properties.get("contentType", PFX)
    try:
        content = b64decode(body.get("value", ""), validate=True)
        certificate, key = _pem(content) if form == PEM else _pfx(content, body.get("pwd"))
    except (Base64Error, ValueError, TypeError):
        raise bad("The specified certificate could not be imported.") from None
    if not isinstance(key, rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey) or (
        key.public_key() != certificate.public_key()
    ):
        raise bad("The specified certificate has no private key of its own.")
    thumbprint = certificate.fingerprint(hashes.SHA1())  # noqa: S303  # as Key Vault names it
    shown: Shown = {
        "cer": b64encode(certificate.public_bytes(Encoding.DER)).decode(),
        "x5t": urlsafe_b64encode(thumbprint).decode().rstrip("="),
        "policy": {
            "key_props": {"exportable": True, "kty": "RSA", "key_size": 2048, "reuse_key": False},
            "secret_props": {"contentType": form},
            "x509_props": {"subject": certificate.subject.rfc4514_string()},
            "issuer": {"name": "Unknown"},
            "attributes": {"enabled": True},
        },
    }
    value = content.decode() if form == PEM else b64encode(content).decode()
    public = created_key(key) if isinstance(key, rsa.RSAPrivateKey) else {"kty": "EC"}
    return shown, {"key": public}, {"value": value, "contentType": form}


def _pfx(content: bytes, password: str | None) -> tuple[Certificate, object]:
    key, certificate, _ = pkcs12.load_key_and_certificates(content, (password or "").encode() or None)
    if certificate is None:
        raise ValueError
    return certificate, key


def _pem(content: bytes) -> tuple[Certificate, object]:
    """The key must be in PKCS#8: no other block is read."""
    head, _, rest = content.partition(b"-----BEGIN PRIVATE KEY-----")
    if not rest or b"PRIVATE KEY" in head:
        raise ValueError
    return load_pem_x509_certificates(content)[0], load_pem_private_key(
        b"-----BEGIN PRIVATE KEY-----" + rest, None
    )


def _rsa(numbers: Mapping[str, int]) -> rsa.RSAPrivateKey:
    public = rsa.RSAPublicNumbers(numbers["e"], numbers["n"])
    p, q, d, dp, dq, qi = (numbers[name] for name in ("p", "q", "d", "dp", "dq", "qi"))
    return rsa.RSAPrivateNumbers(p, q, d, dp, dq, qi, public).private_key()


def _number(text: str) -> int:
    return int.from_bytes(urlsafe_b64decode(text + "=" * (-len(text) % 4)), "big")


def _encoded(number: int) -> str:
    data = number.to_bytes((number.bit_length() + 7) // 8, "big")
    return urlsafe_b64encode(data).decode().rstrip("=")
