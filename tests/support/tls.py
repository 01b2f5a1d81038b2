"""A certificate authority for tests: certificates for servers and clients, and contexts that demand them."""

import ssl
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from ipaddress import ip_address
from pathlib import Path
from typing import NamedTuple

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from syncret.providers.kit.http import tls

DAY = timedelta(days=1)

_SIGNS = x509.KeyUsage(
    digital_signature=True,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    key_cert_sign=True,
    crl_sign=True,
    encipher_only=False,
    decipher_only=False,
)


def trust(patch: pytest.MonkeyPatch, *authorities: "Authority") -> None:
    """Let this process trust these beside the system's, and no others, for as long as the test runs."""
    patch.setattr(tls, "beside", type(tls.beside)())
    patch.setattr(tls, "_trust", lru_cache(tls._trust.__wrapped__))  # pyright: ignore[reportPrivateUsage]
    for each in authorities:
        tls.beside.add(each.pem)


class Pair(NamedTuple):
    """A certificate and its key, in PEM."""

    certificate: bytes
    key: bytes


class Authority:
    """Signs certificates. `pem` is what its users trust."""

    def __init__(self, name: str = "Test authority") -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        builder = self._builder(self._name, self._key.public_key(), days=1)
        builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        builder = builder.add_extension(_SIGNS, critical=True)
        made = builder.sign(self._key, hashes.SHA256())
        self.pem = made.public_bytes(serialization.Encoding.PEM)

    def pair(self, name: str = "127.0.0.1", *, days: int = 1, group: str = "") -> Pair:
        """A certificate for an address, a user, or hosts, with commas; with negative days it is old."""
        key = ec.generate_private_key(ec.SECP256R1())
        alternatives = [_alternative(each) for each in name.split(",")]
        names = [x509.NameAttribute(NameOID.COMMON_NAME, name.partition(",")[0])]
        if group:
            names.append(x509.NameAttribute(NameOID.ORGANIZATION_NAME, group))
        subject = x509.Name(names)
        builder = self._builder(subject, key.public_key(), days=days)
        builder = builder.add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
        certificate = builder.sign(self._key, hashes.SHA256())
        return Pair(
            certificate.public_bytes(serialization.Encoding.PEM),
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            ),
        )

    def server(
        self, folder: Path, name: str = "127.0.0.1", *, days: int = 1, clients: bool = False
    ) -> ssl.SSLContext:
        """A server's context; with `clients` it demands a certificate of this authority."""
        pair = self.pair(name, days=days)
        (folder / "server.pem").write_bytes(pair.certificate + pair.key)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / "server.pem")
        if clients:
            context.load_verify_locations(cadata=self.pem.decode())
            context.verify_mode = ssl.CERT_REQUIRED
        return context

    def _builder(
        self, subject: x509.Name, key: ec.EllipticCurvePublicKey, *, days: int
    ) -> x509.CertificateBuilder:
        """With the identifiers of both keys, which Python asks for from 3.13 on."""
        now = datetime.now(UTC)
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - 10 * DAY)
            .not_valid_after(now + days * DAY)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
            .add_extension(issuer, critical=False)
        )


def _alternative(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(name))
    except ValueError:
        return x509.DNSName(name)
