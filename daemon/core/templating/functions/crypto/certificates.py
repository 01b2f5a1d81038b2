"""Issues certificates as Go does: genCA, genSelfSignedCert, genSignedCert, buildCustomCert."""

import hashlib
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Final

from syncret.daemon.core.templating.functions.contract import Context, FunctionTable, table
from syncret.daemon.core.templating.functions.crypto import pem
from syncret.daemon.core.templating.functions.crypto.chains import (
    certificates_pem,
    parse_certificate,
    subject_key_id,
)
from syncret.daemon.core.templating.functions.crypto.keys import key_from_pem, key_pem, new_certificate_key
from syncret.daemon.core.templating.functions.text.encoding import BadEncoding, decode_base64
from syncret.daemon.core.templating.functions.text.layout import has_stray_bytes
from syncret.daemon.core.templating.golang.errors import FunctionError
from syncret.daemon.core.templating.golang.types import Kind, Type
from syncret.daemon.core.templating.golang.values import NO_VALUE, GoObject, Value, bytes_of, text_of

if TYPE_CHECKING:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes

    from syncret.daemon.core.templating.functions.crypto.keys import PrivateKey

PAIR: Final = Type("sprig.certificate", Kind.STRUCT)
_KEY_ID_SIZE: Final = 20
_SERIAL_BYTES: Final = 16
_MOST_DAYS: Final = 106_751
"""About the longest duration in Go."""


@dataclass(frozen=True)
class Pair(GoObject):
    """A certificate and its key, both PEM."""

    cert: str
    key: str

    go_type = PAIR

    def member(self, name: str) -> Value:
        return {"Cert": self.cert, "Key": self.key}.get(name, NO_VALUE)

    def text(self) -> str:
        return f"{{{self.cert} {self.key}}}"


def gen_ca(context: Context, name: str, days: int) -> Pair:
    return _make_certificate(context, name, None, None, days, new_certificate_key(context), is_ca=True)


def gen_ca_with_key(context: Context, name: str, days: int, key: str) -> Pair:
    return _make_certificate(context, name, None, None, days, _given_key(context, key), is_ca=True)


def gen_self_signed_cert(
    context: Context, name: str, addresses: list[Value] | None, hosts: list[Value] | None, days: int
) -> Pair:
    return _make_certificate(context, name, addresses, hosts, days, new_certificate_key(context))


def gen_self_signed_cert_with_key(
    context: Context, name: str, addresses: list[Value] | None, hosts: list[Value] | None, days: int, key: str
) -> Pair:
    return _make_certificate(context, name, addresses, hosts, days, _given_key(context, key))


def gen_signed_cert(
    context: Context,
    name: str,
    addresses: list[Value] | None,
    hosts: list[Value] | None,
    days: int,
    authority: Annotated[Pair, PAIR],
) -> Pair:
    return _make_certificate(
        context, name, addresses, hosts, days, new_certificate_key(context), authority=authority
    )


def gen_signed_cert_with_key(
    context: Context,
    name: str,
    addresses: list[Value] | None,
    hosts: list[Value] | None,
    days: int,
    authority: Annotated[Pair, PAIR],
    key: str,
) -> Pair:
    return _make_certificate(
        context, name, addresses, hosts, days, _given_key(context, key), authority=authority
    )


def build_custom_cert(context: Context, certificate: str, key: str) -> Pair:
    """A CA for `genSignedCert`, from a certificate and its key, both PEM in base64."""
    try:
        certificate_pem, private = decode_base64(certificate), decode_base64(key)
    except BadEncoding:
        raise FunctionError("unable to decode base64 certificate or private key") from None
    pair = Pair(text_of(certificate_pem), text_of(private))
    _authority_certificate(pair)
    key_from_pem(context, pair.key)
    return pair


def _given_key(context: Context, key: str) -> "PrivateKey":
    context.budget.make_key()
    return key_from_pem(context, key)


def _make_certificate(
    context: Context,
    name: str,
    addresses: list[Value] | None,
    hosts: list[Value] | None,
    days: int,
    key: "PrivateKey",
    *,
    authority: Pair | None = None,
    is_ca: bool = False,
) -> Pair:
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric import dsa
    from cryptography.x509.oid import ExtendedKeyUsageOID

    signer = key
    issuer = None
    if authority is not None:
        issuer = _authority_certificate(authority)
        signer = key_from_pem(context, authority.key)
        if issuer.public_key() != signer.public_key():
            raise FunctionError("the private key is not that of the authority's certificate")
    if isinstance(key, dsa.DSAPrivateKey) or isinstance(signer, dsa.DSAPrivateKey):
        raise FunctionError("certificates cannot be made with DSA keys")
    if not 0 <= days <= _MOST_DAYS:
        raise FunctionError("the number of days is out of range")
    names = alternative_names(addresses or [], hosts or [])
    start = context.now.replace(microsecond=0)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject(name))
        .issuer_name(issuer.subject if issuer else subject(name))
        .public_key(key.public_key())
        .serial_number(int.from_bytes(context.random(_SERIAL_BYTES), "big") or 1)
        .not_valid_before(start)
        .not_valid_after(start + timedelta(days=days))
        .add_extension(_key_usage(is_ca=is_ca), critical=True)
        .add_extension(
            x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]),
            critical=False,
        )
        .add_extension(x509.BasicConstraints(ca=is_ca, path_length=None), critical=True)
    )
    if is_ca:
        builder = builder.add_extension(x509.SubjectKeyIdentifier(key_id(key)), critical=False)
    authority_id = subject_key_id(issuer) if issuer else None
    if issuer and authority_id and issuer.subject != subject(name):
        builder = builder.add_extension(x509.AuthorityKeyIdentifier(authority_id, None, None), critical=False)
    if names:
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=not name)
    return Pair(certificates_pem([builder.sign(signer, _signature_hash(signer))]), key_pem(key))


def _authority_certificate(authority: Pair) -> "x509.Certificate":
    block, _ = pem.decode(bytes_of(authority.cert))
    if block is None:
        raise FunctionError("unable to decode certificate")
    return parse_certificate(block.data)


def _key_usage(*, is_ca: bool) -> "x509.KeyUsage":
    from cryptography import x509

    return x509.KeyUsage(
        digital_signature=True,
        key_encipherment=True,
        key_cert_sign=is_ca,
        content_commitment=False,
        data_encipherment=False,
        key_agreement=False,
        crl_sign=False,
        encipher_only=False,
        decipher_only=False,
    )


def _signature_hash(key: "PrivateKey") -> "hashes.SHA256 | hashes.SHA384 | hashes.SHA512 | None":
    """The hash of the signature, which depends on the key."""
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519

    if isinstance(key, ed25519.Ed25519PrivateKey):
        return None
    if isinstance(key, ec.EllipticCurvePrivateKey) and key.curve.name == "secp384r1":
        return hashes.SHA384()
    if isinstance(key, ec.EllipticCurvePrivateKey) and key.curve.name == "secp521r1":
        return hashes.SHA512()
    return hashes.SHA256()


def subject(name: str) -> "x509.Name":
    """A subject with this common name, if any; always UTF8String, where Go uses PrintableString if it can."""
    from cryptography import x509
    from cryptography.x509.oid import NameOID

    if not name:
        return x509.Name([])
    if has_stray_bytes(name):
        raise FunctionError("the common name is no UTF-8")
    # Go accepts names of more than 64 characters.
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name, _validate=False)])


def alternative_names(addresses: Sequence[Value], hosts: Sequence[Value]) -> "list[x509.GeneralName]":
    """The alternative names: host names first, then addresses."""
    from cryptography import x509

    names: list[x509.GeneralName] = []
    for host in hosts:
        if not isinstance(host, str):
            raise FunctionError("an alternate dns name is not a string")
        if not host.isascii():
            raise FunctionError("an alternate dns name cannot be encoded as an IA5String")
        names.append(x509.DNSName(host))
    return [*names, *(x509.IPAddress(_address(address)) for address in addresses)]


def _address(text: Value) -> "ipaddress.IPv4Address | ipaddress.IPv6Address":
    if not isinstance(text, str):
        raise FunctionError("an ip is not a string")
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        raise FunctionError("error parsing ip") from None
    if isinstance(address, ipaddress.IPv6Address):
        if address.scope_id:
            raise FunctionError("error parsing ip")
        return address.ipv4_mapped or address
    return address


def key_id(key: "PrivateKey") -> bytes:
    """The key identifier: the first 160 bits of the SHA-256 of the public key."""
    return hashlib.sha256(_public_bits(key)).digest()[:_KEY_ID_SIZE]


def _public_bits(key: "PrivateKey") -> bytes:
    """The public key without its algorithm identifier."""
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    public = key.public_key()
    if isinstance(public, ec.EllipticCurvePublicKey):
        return public.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    if isinstance(public, ed25519.Ed25519PublicKey):
        return public.public_bytes(Encoding.Raw, PublicFormat.Raw)
    return public.public_bytes(Encoding.DER, PublicFormat.PKCS1)


FUNCTIONS: Final[FunctionTable] = table(
    {
        "buildCustomCert": build_custom_cert,
        "genCA": gen_ca,
        "genCAWithKey": gen_ca_with_key,
        "genSelfSignedCert": gen_self_signed_cert,
        "genSelfSignedCertWithKey": gen_self_signed_cert_with_key,
        "genSignedCert": gen_signed_cert,
        "genSignedCertWithKey": gen_signed_cert_with_key,
    }
)
