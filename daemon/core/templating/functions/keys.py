"""Private keys: genPrivateKey, and reading PEM and DER. OpenSSL draws the randomness, not the context."""

from contextlib import suppress
from typing import TYPE_CHECKING, Final, TypeAlias

from syncret.daemon.core.templating.errors import FunctionError
from syncret.daemon.core.templating.functions import pem
from syncret.daemon.core.templating.functions.contract import Context, FunctionTable, table
from syncret.daemon.core.templating.values import bytes_of

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric import dsa, ec, ed25519, rsa

    PrivateKey: TypeAlias = (
        rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey | dsa.DSAPrivateKey
    )

_BLOCK_KINDS: Final = frozenset({"PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "DSA PRIVATE KEY"})
_RSA_BITS: Final = 4096
_DSA_BITS: Final = 2048
_EXPONENT: Final = 65537
_CERTIFICATE_RSA_BITS: Final = 2048


def gen_private_key(context: Context, kind: str) -> str:
    """A key of rsa (4096 bits), dsa, ecdsa (P-256) or ed25519, as PEM."""
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
    """The key of a certificate for which none was given."""
    context.budget.make_key()
    return _new_rsa(_CERTIFICATE_RSA_BITS)


def _new_rsa(bits: int) -> "rsa.RSAPrivateKey":
    from cryptography.hazmat.primitives.asymmetric import rsa

    return rsa.generate_private_key(_EXPONENT, bits)


def key_pem(key: "PrivateKey") -> str:
    """The key in the form that is usual for its kind."""
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


def key_from_der(data: bytes) -> "PrivateKey":
    """A key in any of the usual forms. Raises FunctionError."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric import dsa, ec, ed25519, rsa
    from cryptography.hazmat.primitives.serialization import load_der_private_key

    key = None
    with suppress(ValueError, TypeError, UnsupportedAlgorithm):
        key = load_der_private_key(data, None)
    kinds = (rsa.RSAPrivateKey, ec.EllipticCurvePrivateKey, ed25519.Ed25519PrivateKey, dsa.DSAPrivateKey)
    if isinstance(key, kinds):
        return key
    # Raised out here: the library's error may hold parts of the key.
    raise FunctionError("unable to parse private key type")


def key_from_pem(text: str) -> "PrivateKey":
    """A key of a PEM block that is named as one. Raises FunctionError."""
    block, _ = pem.decode(bytes_of(text))
    if block is None:
        raise FunctionError("no PEM data in input")
    if block.kind not in _BLOCK_KINDS:
        raise FunctionError("the PEM block is not a private key")
    key = key_from_der(block.data)
    if block.kind not in {"PRIVATE KEY", _block_kind(key)}:
        raise FunctionError("the private key is not what its PEM block says")
    return key


FUNCTIONS: Final[FunctionTable] = table({"genPrivateKey": gen_private_key})
