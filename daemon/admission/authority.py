"""Makes a certificate authority, issues certificates with it, and reads the facts of a given certificate."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from typing import Final

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from msgspec import Struct, field

DAY: Final = 86400.0
SKEW: Final = 3600.0
"""Seconds for which a certificate is valid before it was made: clocks differ."""

_NOTHING: Final = float("-inf")


class Pair(Struct, frozen=True):
    """A certificate and its key, in PEM; both empty where there is none."""

    certificate: bytes = b""
    key: bytes = field(default=b"")

    def __repr__(self) -> str:
        """Without the content of the key."""
        return f"Pair({len(self.certificate)} bytes, {'with' if self.key else 'without'} a key)"


class Facts(Struct, frozen=True):
    """What a certificate says; of one that cannot be read, nothing."""

    begins: float = _NOTHING
    ends: float = _NOTHING
    """Seconds since the epoch."""
    names: frozenset[str] = frozenset()
    """The names and addresses of its server."""
    is_authority: bool = False
    is_whole: bool = False
    """Whether the key is there, and is its own."""


def facts_of(pair: Pair) -> Facts:
    """What the first certificate of a PEM text says."""
    certificate = _certificate(pair.certificate)
    if certificate is None:
        return Facts()
    key = _key(pair.key)
    return Facts(
        begins=certificate.not_valid_before_utc.timestamp(),
        ends=certificate.not_valid_after_utc.timestamp(),
        names=frozenset(_names(certificate)),
        is_authority=_is_authority(certificate),
        is_whole=key is not None and _public(key) == _public(certificate),
    )


def signed_by(certificate: bytes, authority: bytes) -> bool:
    """Whether the authority's key signed the certificate."""
    issued, by = _certificate(certificate), _certificate(authority)
    if issued is None or by is None:
        return False
    try:
        issued.verify_directly_issued_by(by)
    except (InvalidSignature, TypeError, ValueError):
        return False
    return True


def new_authority(name: str, now: float, seconds: float) -> Pair:
    """A new authority, with a key of its own."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    made = (
        _builder(subject, key.public_key(), now, now + seconds)
        .issuer_name(subject)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs=True), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    return _pair(made, key)


def issue(authority: Pair, names: Sequence[str], now: float, seconds: float) -> Pair:
    """A certificate for a server of these names, which ends no later than the authority. It must be whole."""
    by, signer = _certificate(authority.certificate), _key(authority.key)
    if by is None or signer is None:
        raise ValueError("the authority cannot sign")
    key = ec.generate_private_key(ec.SECP256R1())
    ends = min(now + seconds, by.not_valid_after_utc.timestamp())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0][:64])])
    alternatives = x509.SubjectAlternativeName([_alternative(name) for name in names])
    made = (
        _builder(subject, key.public_key(), now, ends)
        .issuer_name(by.subject)
        .add_extension(alternatives, critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False
        )
        .sign(signer, hashes.SHA256())
    )
    return _pair(made, key)


_Signer = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey


def _certificate(pem: bytes) -> x509.Certificate | None:
    try:
        return x509.load_pem_x509_certificate(pem)
    except ValueError:
        return None


def _key(pem: bytes) -> _Signer | None:
    try:
        key = serialization.load_pem_private_key(pem, password=None)
    except (TypeError, ValueError):  # TypeError: it has a password
        return None
    return key if isinstance(key, ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey) else None


def _public(of: _Signer | x509.Certificate) -> bytes:
    return of.public_key().public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )


def _names(certificate: x509.Certificate) -> Sequence[str]:
    try:
        found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (x509.ExtensionNotFound, ValueError):
        return ()
    addresses = map(str, found.get_values_for_type(x509.IPAddress))
    return (*found.get_values_for_type(x509.DNSName), *addresses)


def _is_authority(certificate: x509.Certificate) -> bool:
    try:
        return certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    except (x509.ExtensionNotFound, ValueError):
        return False


def _builder(
    subject: x509.Name, key: ec.EllipticCurvePublicKey, begins: float, ends: float
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(_moment(begins - SKEW))
        .not_valid_after(_moment(ends))
    )


def _moment(seconds: float) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=int(seconds))


def _usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs,
        crl_sign=signs,
        encipher_only=False,
        decipher_only=False,
    )


def _alternative(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _pair(certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> Pair:
    pem = serialization.Encoding.PEM
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return Pair(certificate.public_bytes(pem), private)
