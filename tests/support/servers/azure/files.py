"""Keys and certificates as files hold them."""

from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    pkcs12,
)
from cryptography.x509.oid import NameOID

from tests.support.jwts import private_key


def certificate(name: str, key: rsa.RSAPrivateKey | None = None) -> x509.Certificate:
    """A certificate that its own key signed; of a key of this name, unless another is given."""
    key = key or private_key(name)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )


def pem(made: x509.Certificate, name: str, form: PrivateFormat = PrivateFormat.PKCS8) -> bytes:
    """The certificate and the key of this name."""
    key = private_key(name).private_bytes(Encoding.PEM, form, NoEncryption())
    return made.public_bytes(Encoding.PEM) + key


def pfx(made: x509.Certificate, name: str) -> bytes:
    """The same as PKCS#12, without a password."""
    return pkcs12.serialize_key_and_certificates(name.encode(), private_key(name), made, None, NoEncryption())
