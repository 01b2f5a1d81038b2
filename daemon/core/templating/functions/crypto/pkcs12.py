"""PKCS#12: pkcs12key, pkcs12cert and pemToPkcs12 with their variants, which read and write such files."""

import base64
from typing import TYPE_CHECKING, Final

from syncret.daemon.core.templating.functions.contract import Context, FunctionTable, table
from syncret.daemon.core.templating.functions.crypto import pem
from syncret.daemon.core.templating.functions.crypto.chains import (
    certificates_pem,
    der,
    ordered_chain,
    parse_certificate,
)
from syncret.daemon.core.templating.functions.crypto.keys import key_from_der, kinds_of_keys, pkcs8
from syncret.daemon.core.templating.functions.crypto.pkcs12_file import Writer
from syncret.daemon.core.templating.functions.text.layout import has_stray_bytes
from syncret.daemon.core.templating.golang.errors import FunctionError
from syncret.daemon.core.templating.golang.values import bytes_of
from syncret.providers.kit import private_keys

if TYPE_CHECKING:
    from cryptography import x509

    from syncret.daemon.core.templating.functions.crypto.keys import PrivateKey

_LAST_OF_BMP: Final = "\uffff"
_WRITE_COST: Final = 20_000
"""Units of work for deriving keys from the password, with thousands of iterations, twice or more."""


def _open(context: Context, password: str, data: str) -> "tuple[PrivateKey, list[x509.Certificate]]":
    _check_password(password)
    store = private_keys.from_pkcs12(bytes_of(data), password.encode(), context.budget)
    if store is None or not isinstance(store.key, kinds_of_keys()):
        raise FunctionError("unable to decode pkcs12 with password")
    certificates = [*([] if store.own is None else [store.own]), *store.others]
    if not certificates:
        raise FunctionError("unable to decode pkcs12 with password")
    return store.key, certificates


def _check_password(password: str) -> None:
    if has_stray_bytes(password) or any(char > _LAST_OF_BMP for char in password):
        raise FunctionError("the password has characters that PKCS#12 cannot hold")


def pkcs12key(context: Context, data: str) -> str:
    return pkcs12key_pass(context, "", data)


def pkcs12key_pass(context: Context, password: str, data: str) -> str:
    key, _ = _open(context, password, data)
    return pem.encode("PRIVATE KEY", pkcs8(key))


def pkcs12cert(context: Context, data: str) -> str:
    return pkcs12cert_pass(context, "", data)


def pkcs12cert_pass(context: Context, password: str, data: str) -> str:
    """The certificates from leaf to root; in the order of the file if they are not one chain."""
    _, certificates = _open(context, password, data)
    text = certificates_pem(certificates)
    try:
        return certificates_pem(ordered_chain(context, text.encode()))
    except FunctionError:
        return text


def _first_block(text: bytes) -> tuple[pem.Block, bytes]:
    block, rest = pem.decode(text)
    if block is None:
        raise FunctionError("failed to decode PEM block")
    return block, rest


def _all_certificates(context: Context, data: bytes) -> "list[x509.Certificate]":
    """All certificates; anything between or after the blocks is an error."""
    pem.pay(context, data)
    certificates: list[x509.Certificate] = []
    while data:
        block, data = _first_block(data)
        certificates.append(parse_certificate(block.data))
    return certificates


def _pack(context: Context, certificates: "list[x509.Certificate]", key: str, password: str) -> str:
    _check_password(password)
    context.budget.step(_WRITE_COST)
    pem.pay(context, bytes_of(key))
    private = key_from_der(context, _first_block(bytes_of(key))[0].data)
    data = Writer(context, password).key_store(pkcs8(private), [der(each) for each in certificates])
    return base64.b64encode(data).decode()


def pem_to_pkcs12(context: Context, certificate: str, key: str) -> str:
    return pem_to_pkcs12_pass(context, certificate, key, "")


def pem_to_pkcs12_pass(context: Context, certificate: str, key: str, password: str) -> str:
    """A key store with only the first certificate."""
    pem.pay(context, bytes_of(certificate))
    block, _ = _first_block(bytes_of(certificate))
    return _pack(context, [parse_certificate(block.data)], key, password)


def full_pem_to_pkcs12(context: Context, certificates: str, key: str) -> str:
    return full_pem_to_pkcs12_pass(context, certificates, key, "")


def full_pem_to_pkcs12_pass(context: Context, certificates: str, key: str, password: str) -> str:
    chain = _all_certificates(context, bytes_of(certificates))
    if not chain:
        raise FunctionError("failed to decode PEM block")
    return _pack(context, chain, key, password)


def pem_truststore_to_pkcs12(context: Context, certificates: str) -> str:
    return pem_truststore_to_pkcs12_pass(context, certificates, "")


def pem_truststore_to_pkcs12_pass(context: Context, certificates: str, password: str) -> str:
    _check_password(password)
    context.budget.step(_WRITE_COST)
    entries = [
        (certificate.subject.rfc4514_string(), der(certificate))
        for certificate in _all_certificates(context, bytes_of(certificates))
    ]
    return base64.b64encode(Writer(context, password).trust_store(entries)).decode()


FUNCTIONS: Final[FunctionTable] = table(
    {
        "fullPemToPkcs12": full_pem_to_pkcs12,
        "fullPemToPkcs12Pass": full_pem_to_pkcs12_pass,
        "pemToPkcs12": pem_to_pkcs12,
        "pemToPkcs12Pass": pem_to_pkcs12_pass,
        "pemTruststoreToPKCS12": pem_truststore_to_pkcs12,
        "pemTruststoreToPKCS12Pass": pem_truststore_to_pkcs12_pass,
        "pkcs12cert": pkcs12cert,
        "pkcs12certPass": pkcs12cert_pass,
        "pkcs12key": pkcs12key,
        "pkcs12keyPass": pkcs12key_pass,
    }
)
