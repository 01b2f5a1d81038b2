"""The subject, alternative names and key identifier of a certificate, as Go writes them."""

import hashlib
import ipaddress
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from syncret.daemon.core.templating.errors import FunctionError
from syncret.daemon.core.templating.functions.text import has_stray_bytes
from syncret.daemon.core.templating.values import Value

if TYPE_CHECKING:
    from cryptography import x509

    from syncret.daemon.core.templating.functions.keys import PrivateKey

_KEY_ID_SIZE: Final = 20


def subject(name: str) -> "x509.Name":
    """A common name, or nothing. Always UTF8String; Go takes PrintableString where that is enough."""
    from cryptography import x509
    from cryptography.x509.oid import NameOID

    if not name:
        return x509.Name([])
    if has_stray_bytes(name):
        raise FunctionError("the common name is no UTF-8")
    # Go does not mind names of more than 64 characters.
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name, _validate=False)])


def alternative_names(addresses: Sequence[Value], hosts: Sequence[Value]) -> "list[x509.GeneralName]":
    """Host names first, then addresses."""
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
    """The first 160 bits of a SHA-256 over the public key."""
    return hashlib.sha256(_public_bits(key)).digest()[:_KEY_ID_SIZE]


def _public_bits(key: "PrivateKey") -> bytes:
    """The key itself, without the name of its algorithm."""
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    public = key.public_key()
    if isinstance(public, ec.EllipticCurvePublicKey):
        return public.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    if isinstance(public, ed25519.Ed25519PublicKey):
        return public.public_bytes(Encoding.Raw, PublicFormat.Raw)
    return public.public_bytes(Encoding.DER, PublicFormat.PKCS1)
