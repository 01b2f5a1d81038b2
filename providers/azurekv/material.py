"""Converts keys and certificates of a PushSecret into what Key Vault imports."""

from base64 import b64encode, urlsafe_b64encode
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from syncret.providers.errors import Malformed
from syncret.providers.kit import private_keys
from syncret.providers.kit.golang import json as gojson
from syncret.providers.work import Work

if TYPE_CHECKING:  # slow to import
    from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes
    from cryptography.x509 import Certificate

_PEM: Final = b"-----BEGIN "
_PEM_TYPE: Final = "application/x-pem-file"
_CURVES: Final = {"secp256r1": "P-256", "secp384r1": "P-384", "secp521r1": "P-521", "secp256k1": "P-256K"}
_PUBLIC: Final = {"RSA": ("n", "e"), "EC": ("crv", "x", "y")}
_NO_CERTIFICATE: Final = "value from secret is not a valid certificate"


class CertificateFile(NamedTuple):
    """The DER of a certificate, and the fields that import it with its key."""

    der: bytes
    fields: Mapping[str, Any]


def jwk(value: bytes, work: Work) -> Mapping[str, Any]:
    """A JSON Web Key: of a private key in PEM, of JSON that is one, or of the bytes of a symmetric key.

    Raises Malformed.
    """
    if _PEM in value:
        return _private(_loaded(_block(value), work))
    document = _json(value, work)
    if document is not None:
        return document
    if not value:
        raise Malformed("could not load private key: the value is empty")
    return {"kty": "oct", "k": _encoded(value)}


def same_key(new: Mapping[str, Any], old: bytes, work: Work) -> bool:
    """Whether the vault's key (its public part, as JSON) is the same; always false for symmetric keys."""
    held = _json(old, work) or {}
    kind = str(new.get("kty", "")).removesuffix("-HSM")
    parts = _PUBLIC.get(kind, ())
    if not parts or kind != str(held.get("kty", "")).removesuffix("-HSM"):
        return False
    return all(new.get(part) is not None and new.get(part) == held.get(part) for part in parts)


def certificate_file(value: bytes, work: Work) -> CertificateFile:
    """PKCS#12 without a password, or PEM with the key in any form. Raises Malformed."""
    if _PEM in value:
        return _from_pem(value, work)
    found = private_keys.from_pkcs12(value, None, work) or private_keys.from_pkcs12(value, b"", work)
    certificate = None if found is None else found.own
    if certificate is None:
        raise Malformed(
            f"{_NO_CERTIFICATE}: it is neither PKCS#12 without a password nor PEM",
            hint="push the certificate with its private key: a PFX file, or both as PEM blocks",
        )
    return CertificateFile(_der(certificate), {"value": b64encode(value).decode()})


def _from_pem(value: bytes, work: Work) -> CertificateFile:
    """The certificate of the key; keys are converted to PKCS#8, the only format that Key Vault accepts."""
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
    from cryptography.x509 import load_pem_x509_certificates

    try:
        certificates = load_pem_x509_certificates(value)
    except ValueError:
        certificates = []
    if not certificates:
        raise Malformed(f"{_NO_CERTIFICATE}: no PEM block of it is one")
    key = _loaded(_block(value), work)
    public = key.public_key()
    own = next((each for each in certificates if each.public_key() == public), None)
    if own is None:
        raise Malformed(f"{_NO_CERTIFICATE}: none belongs to the private key beside it")
    ordered = [own, *(each for each in certificates if each is not own)]
    blocks = [key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())]
    blocks += [each.public_bytes(Encoding.PEM) for each in ordered]
    fields = {
        "value": b64encode(b"".join(blocks)).decode(),
        "policy": {"secret_props": {"contentType": _PEM_TYPE}},
    }
    return CertificateFile(_der(own), fields)


def _der(certificate: "Certificate") -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding

    return certificate.public_bytes(Encoding.DER)


def _block(value: bytes) -> bytes:
    """The PEM block of the private key."""
    for block in value.split(_PEM)[1:]:
        if block.split(b"-----", 1)[0].endswith(b"PRIVATE KEY"):
            return _PEM + block
    raise Malformed(
        "could not load private key: no PEM block is one",
        hint="push PRIVATE KEY, RSA PRIVATE KEY or EC PRIVATE KEY",
    )


def _loaded(block: bytes, work: Work) -> "PrivateKeyTypes":
    key = private_keys.from_pem(block, work)
    if key is not None:
        return key
    raise Malformed("could not load private key: it cannot be read", hint="it must have no password")


def _private(key: "PrivateKeyTypes") -> Mapping[str, Any]:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

    if isinstance(key, RSAPrivateKey):
        rsa = key.private_numbers()
        numbers = {
            "n": rsa.public_numbers.n,
            "e": rsa.public_numbers.e,
            "d": rsa.d,
            "p": rsa.p,
            "q": rsa.q,
            "dp": rsa.dmp1,
            "dq": rsa.dmq1,
            "qi": rsa.iqmp,
        }
        return {"kty": "RSA", **{name: _number(number) for name, number in numbers.items()}}
    if isinstance(key, EllipticCurvePrivateKey) and key.curve.name in _CURVES:
        size = (key.curve.key_size + 7) // 8
        ec = key.private_numbers()
        numbers = {"x": ec.public_numbers.x, "y": ec.public_numbers.y, "d": ec.private_value}
        coordinates = {name: _number(number, size) for name, number in numbers.items()}
        return {"kty": "EC", "crv": _CURVES[key.curve.name], **coordinates}
    raise Malformed("the key is of a kind that Key Vault does not take", hint="RSA, or EC on a P curve")


def _json(value: bytes, work: Work) -> Mapping[str, Any] | None:
    """A JSON Web Key, if the text is one."""
    try:
        document = gojson.unmarshal_object(value, work)
    except Malformed:
        return None
    return document if "kty" in document else None


def _number(number: int, size: int = 0) -> str:
    return _encoded(number.to_bytes(size or (number.bit_length() + 7) // 8, "big"))


def _encoded(data: bytes) -> str:
    return urlsafe_b64encode(data).decode().rstrip("=")
