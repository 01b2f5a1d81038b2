"""Keys: genPrivateKey, jwkPublicKeyPem, jwkPrivateKeyPem, rsaDecrypt, and reading PEM and DER.

New keys use OpenSSL's random generator, not that of the context.
"""

import base64
import json
import re
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from syncret.daemon.core.templating.functions.contract import Context, FunctionTable, table
from syncret.daemon.core.templating.functions.crypto import pem
from syncret.daemon.core.templating.golang.errors import FunctionError
from syncret.daemon.core.templating.golang.values import bytes_of, text_of
from syncret.providers.kit import private_keys

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric import dsa, ec, ed25519, rsa

    PrivateKey: TypeAlias = (
        rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey | dsa.DSAPrivateKey
    )
    JwkPrivateKey: TypeAlias = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey
    PublicKey: TypeAlias = rsa.RSAPublicKey | ec.EllipticCurvePublicKey | ed25519.Ed25519PublicKey

_BLOCK_KINDS: Final = frozenset({"PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "DSA PRIVATE KEY"})
_RSA_BITS: Final = 4096
_DSA_BITS: Final = 2048
_EXPONENT: Final = 65537
_CERTIFICATE_RSA_BITS: Final = 2048
_JWK_BASE64: Final = re.compile(r"[A-Za-z0-9+/_-]*={0,2}")
_DECODER: Final = json.JSONDecoder()
_LONGEST_NUMBER: Final = 2048
"""Characters of a number in a JSON web key: those of the longest RSA key that is read, and some more."""

_CHARACTER_SIZE: Final = 30
_SPACE: Final = " \t\r\n"
_TO_STANDARD: Final = str.maketrans("-_", "+/")


def gen_private_key(context: Context, kind: str) -> str:
    """A new key of kind rsa (4096 bits), dsa, ecdsa (P-256) or ed25519, as PEM."""
    from cryptography.hazmat.primitives.asymmetric import dsa, ec, ed25519

    if kind not in {"", "rsa", "dsa", "ecdsa", "ed25519"}:
        return f"Unknown type {kind}"
    context.budget.make_key()
    match kind:
        case "dsa":
            return key_pem(dsa.generate_private_key(_DSA_BITS))
        case "ecdsa":
            return key_pem(ec.generate_private_key(ec.SECP256R1()))
        case "ed25519":
            return key_pem(ed25519.Ed25519PrivateKey.generate())
        case _:
            return key_pem(_new_rsa(_RSA_BITS))


def new_certificate_key(context: Context) -> "PrivateKey":
    """A new key for a certificate."""
    context.budget.make_key()
    return _new_rsa(_CERTIFICATE_RSA_BITS)


def _new_rsa(bits: int) -> "rsa.RSAPrivateKey":
    from cryptography.hazmat.primitives.asymmetric import rsa

    return rsa.generate_private_key(_EXPONENT, bits)


def rsa_decrypt(context: Context, scheme: str, digest: str, text: str, private_key: str) -> str:
    """Decrypt RSA-OAEP with SHA1, SHA512 or else SHA256; the scheme None returns the text unchanged."""
    if scheme == "None":
        return text
    if scheme != "RSA-OAEP":
        raise FunctionError("the decryption scheme is not supported")
    pem.pay(context, bytes_of(private_key))
    block, _ = pem.decode(bytes_of(private_key))
    if block is None:
        raise FunctionError("failed to decode PEM block")
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import padding, rsa

    key = key_from_der(context, block.data)
    if not isinstance(key, rsa.RSAPrivateKey):
        raise FunctionError("could not parse RSA private key")
    algorithm = {"SHA1": hashes.SHA1, "SHA512": hashes.SHA512}.get(digest, hashes.SHA256)()
    try:
        decrypted = key.decrypt(
            bytes_of(text), padding.OAEP(padding.MGF1(algorithm), algorithm=algorithm, label=None)
        )
    except ValueError:
        raise FunctionError("error decrypting data with RSA") from None
    return text_of(decrypted)


def key_pem(key: "PrivateKey") -> str:
    """The key as PEM, in the format that Go uses for its kind."""
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    name = _block_kind(key)
    if name == "PRIVATE KEY":
        return pem.encode(name, pkcs8(key))
    return pem.encode(name, key.private_bytes(Encoding.DER, PrivateFormat.TraditionalOpenSSL, NoEncryption()))


def _block_kind(key: "PrivateKey") -> str:
    from cryptography.hazmat.primitives.asymmetric import dsa, ec, rsa

    kinds = (
        (rsa.RSAPrivateKey, "RSA PRIVATE KEY"),
        (ec.EllipticCurvePrivateKey, "EC PRIVATE KEY"),
        (dsa.DSAPrivateKey, "DSA PRIVATE KEY"),
    )
    return next((name for kind, name in kinds if isinstance(key, kind)), "PRIVATE KEY")


def pkcs8(key: "PrivateKey") -> bytes:
    """The key as PKCS#8 DER."""
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    return key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())


def kinds_of_keys() -> "tuple[type[PrivateKey], ...]":
    """The private keys that templates know."""
    from cryptography.hazmat.primitives.asymmetric import dsa, ec, ed25519, rsa

    return (rsa.RSAPrivateKey, ec.EllipticCurvePrivateKey, ed25519.Ed25519PrivateKey, dsa.DSAPrivateKey)


def key_from_der(context: Context, data: bytes) -> "PrivateKey":
    """Read a private key in any of the usual formats. Raises FunctionError."""
    key = private_keys.from_der(data, context.budget)
    if isinstance(key, kinds_of_keys()):
        return key
    raise FunctionError("unable to parse private key type")


def key_from_pem(context: Context, text: str) -> "PrivateKey":
    """Read a private key from a PEM block whose label matches it. Raises FunctionError."""
    pem.pay(context, bytes_of(text))
    block, _ = pem.decode(bytes_of(text))
    if block is None:
        raise FunctionError("no PEM data in input")
    if block.kind not in _BLOCK_KINDS:
        raise FunctionError("the PEM block is not a private key")
    key = key_from_der(context, block.data)
    if block.kind not in {"PRIVATE KEY", _block_kind(key)}:
        raise FunctionError("the private key is not what its PEM block says")
    return key


def jwk_public_key_pem(context: Context, text: str) -> str:
    """A public JSON Web Key as PEM. A private one is an error."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    fields = _jwk_fields(context, text)
    if "d" in fields:
        raise FunctionError("the key is not a public key")
    key = _jwk_key(context, fields, private=False)
    public = cast("PublicKey", key)
    return pem.encode("PUBLIC KEY", public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo))


def jwk_private_key_pem(context: Context, text: str) -> str:
    """A private JSON Web Key as PEM. A public one is an error."""
    fields = _jwk_fields(context, text)
    if "d" not in fields:
        raise FunctionError("the key is not a private key")
    return pem.encode("PRIVATE KEY", pkcs8(cast("JwkPrivateKey", _jwk_key(context, fields, private=True))))


def _jwk_fields(context: Context, text: str) -> dict[str, object]:
    context.budget.make(_CHARACTER_SIZE * len(text))
    try:
        fields, _ = _DECODER.raw_decode(text.lstrip(_SPACE))  # what follows is ignored, as in Go
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict):
        raise FunctionError("the text is no JSON web key")
    return cast("dict[str, object]", fields)


def _jwk_key(context: Context, fields: dict[str, object], *, private: bool) -> "PrivateKey | PublicKey":
    from cryptography.exceptions import UnsupportedAlgorithm

    try:
        return _parse_jwk(context, fields, private=private)
    except (ValueError, UnsupportedAlgorithm):
        # The library's error may contain parts of the key.
        raise FunctionError("the JSON web key holds no valid key") from None


def _parse_jwk(context: Context, fields: dict[str, object], *, private: bool) -> "PrivateKey | PublicKey":
    match fields.get("kty"):
        case "RSA":
            return _jwk_rsa(context, fields, private=private)
        case "EC":
            return _jwk_ec(fields, private=private)
        case "OKP" if fields.get("crv") == "Ed25519":
            return _jwk_ed25519(fields, private=private)
        case _:
            raise FunctionError("keys of this type have no PEM form")


def _jwk_bytes(fields: dict[str, object], name: str) -> bytes:
    value = fields.get(name)
    if not isinstance(value, str) or not value or not _JWK_BASE64.fullmatch(value):
        raise FunctionError(f"the JSON web key has no usable {name}")
    if len(value) > _LONGEST_NUMBER:
        raise FunctionError(f"the {name} of the JSON web key is too long")
    digits = value.rstrip("=").translate(_TO_STANDARD)
    return base64.b64decode(digits + "=" * (-len(digits) % 4))


def _jwk_number(fields: dict[str, object], name: str) -> int:
    return int.from_bytes(_jwk_bytes(fields, name), "big")


def _jwk_rsa(
    context: Context, fields: dict[str, object], *, private: bool
) -> "rsa.RSAPrivateKey | rsa.RSAPublicKey":
    from cryptography.hazmat.primitives.asymmetric import rsa

    public = rsa.RSAPublicNumbers(_jwk_number(fields, "e"), _jwk_number(fields, "n"))
    if not private:
        return public.public_key()
    d, p, q = (_jwk_number(fields, name) for name in "dpq")
    exponents = rsa.rsa_crt_dmp1(d, p), rsa.rsa_crt_dmq1(d, q), rsa.rsa_crt_iqmp(p, q)
    numbers = rsa.RSAPrivateNumbers(p, q, d, *exponents, public)
    key = numbers.private_key(unsafe_skip_rsa_key_validation=True)
    if not private_keys.is_valid(key, context.budget):
        raise FunctionError("the JSON web key holds no valid key")
    return key


def _jwk_ec(
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
    public = ec.EllipticCurvePublicNumbers(_jwk_number(fields, "x"), _jwk_number(fields, "y"), curve())
    if not private:
        return public.public_key()
    return ec.EllipticCurvePrivateNumbers(_jwk_number(fields, "d"), public).private_key()


def _jwk_ed25519(
    fields: dict[str, object], *, private: bool
) -> "ed25519.Ed25519PrivateKey | ed25519.Ed25519PublicKey":
    from cryptography.hazmat.primitives.asymmetric import ed25519

    public = _jwk_bytes(fields, "x")
    if not private:
        return ed25519.Ed25519PublicKey.from_public_bytes(public)
    return ed25519.Ed25519PrivateKey.from_private_bytes(_jwk_bytes(fields, "d"))


FUNCTIONS: Final[FunctionTable] = table(
    {
        "genPrivateKey": gen_private_key,
        "jwkPrivateKeyPem": jwk_private_key_pem,
        "jwkPublicKeyPem": jwk_public_key_pem,
        "rsaDecrypt": rsa_decrypt,
    }
)
