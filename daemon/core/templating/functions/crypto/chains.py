"""Reads certificates: filterCertChain and certSANs.

The order of a chain follows key identifiers only; signatures are not verified.
"""

from ipaddress import IPv4Address, IPv6Address
from typing import TYPE_CHECKING, Final

from syncret.daemon.core.templating.functions.contract import Context, FunctionTable, table
from syncret.daemon.core.templating.functions.crypto import pem
from syncret.daemon.core.templating.functions.data.urls import url_parse
from syncret.daemon.core.templating.golang.errors import FunctionError
from syncret.daemon.core.templating.golang.values import TypedList, bytes_of, strings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cryptography import x509

CERTIFICATE: Final = "CERTIFICATE"
_CERTIFICATE_COST: Final = 400
_CERTIFICATE_SIZE: Final = 5_000


def parse_certificate(data: bytes) -> "x509.Certificate":
    """Read a certificate in DER. Raises FunctionError."""
    from cryptography import x509

    try:
        certificate = x509.load_der_x509_certificate(data)
        _check_names(certificate)
    except (ValueError, x509.DuplicateExtension, x509.UnsupportedGeneralNameType):
        raise FunctionError("failed to parse certificate") from None
    return certificate


def _check_names(certificate: "x509.Certificate") -> None:
    """Refuse IP networks among the addresses, and malformed URIs, as Go does. Raises FunctionError."""
    names = _alternative_names(certificate)
    if names is None:
        return
    from cryptography import x509

    for address in names.get_values_for_type(x509.IPAddress):
        if not isinstance(address, IPv4Address | IPv6Address):
            raise FunctionError("failed to parse certificate: a network among its addresses")
    for uri in names.get_values_for_type(x509.UniformResourceIdentifier):
        url_parse(uri)


def _alternative_names(certificate: "x509.Certificate") -> "x509.SubjectAlternativeName | None":
    from cryptography import x509

    try:
        return certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return None


def der(certificate: "x509.Certificate") -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding

    return certificate.public_bytes(Encoding.DER)


def certificates_pem(certificates: "Sequence[x509.Certificate]") -> str:
    return "".join(pem.encode(CERTIFICATE, der(certificate)) for certificate in certificates)


def subject_key_id(certificate: "x509.Certificate") -> bytes | None:
    from cryptography import x509

    try:
        return certificate.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value.digest
    except x509.ExtensionNotFound:
        return None


def authority_key_id(certificate: "x509.Certificate") -> bytes | None:
    from cryptography import x509

    try:
        extension = certificate.extensions.get_extension_for_class(x509.AuthorityKeyIdentifier)
    except x509.ExtensionNotFound:
        return None
    return extension.value.key_identifier


def ordered_chain(context: Context, data: bytes) -> "list[x509.Certificate]":
    """All certificates of a PEM text, from leaf to root. Raises FunctionError if they are not one chain."""
    blocks = pem.blocks(context, data)[0]
    context.budget.take(_CERTIFICATE_COST * len(blocks), _CERTIFICATE_SIZE * len(blocks))
    certificates = [parse_certificate(block.data) for block in blocks]
    parents = _parents(certificates)
    leaves = sorted(set(range(len(certificates))).difference(parents))
    if not leaves:
        raise FunctionError("no leaf certificate found")
    if len(leaves) > 1:
        raise FunctionError("found multiple leaf or disjunct certificates")
    chain: list[x509.Certificate] = []
    place: int | None = leaves[0]
    while place is not None:
        if len(chain) == len(certificates):
            raise FunctionError("constructing chain resulted in cycle")
        chain.append(certificates[place])
        place = parents[place]
    return chain


def _parents(certificates: "Sequence[x509.Certificate]") -> list[int | None]:
    """For each certificate the place of the first other one that has the key of its issuer."""
    places: dict[bytes, list[int]] = {}
    for place, certificate in enumerate(certificates):
        places.setdefault(subject_key_id(certificate) or b"", []).append(place)
    parents: list[int | None] = []
    for place, certificate in enumerate(certificates):
        first = places.get(authority_key_id(certificate) or b"", [])[:2]
        parents.append(next((other for other in first if other != place), None))
    return parents


def _is_root(certificate: "x509.Certificate") -> bool:
    authority = authority_key_id(certificate)
    return authority is None or authority == (subject_key_id(certificate) or b"")


def filter_cert_chain(context: Context, kind: str, text: str) -> str:
    """The leaf, intermediate or root certificates of a chain in any order."""
    chain = ordered_chain(context, bytes_of(text))
    match kind:
        case "leaf":
            return "" if _is_root(chain[0]) else certificates_pem(chain[:1])
        case "intermediate":
            roots = (place for place, certificate in enumerate(chain) if place and _is_root(certificate))
            return certificates_pem(chain[1 : next(roots, len(chain))])
        case "root":
            return certificates_pem(chain[-1:]) if _is_root(chain[-1]) else ""
        case _:
            return ""


def cert_sans(context: Context, text: str) -> TypedList:
    """The alternative names of the first certificate: DNS names, IP addresses, mail addresses, URIs."""
    from cryptography import x509

    data = pem.without_junk(text)
    pem.pay(context, data)
    block, _ = pem.decode(data)
    if block is None:
        raise FunctionError("failed to decode PEM block")
    names = _alternative_names(parse_certificate(block.data))
    if names is None:
        return strings([])
    return strings(
        [
            *names.get_values_for_type(x509.DNSName),
            *map(_written, names.get_values_for_type(x509.IPAddress)),
            *names.get_values_for_type(x509.RFC822Name),
            *names.get_values_for_type(x509.UniformResourceIdentifier),
        ]
    )


def _written(address: object) -> str:
    """The address as text; Go prints IPv4-mapped IPv6 addresses as IPv4."""
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return str(mapped or address)


FUNCTIONS: Final[FunctionTable] = table({"certSANs": cert_sans, "filterCertChain": filter_cert_chain})
