"""Certificates, keys and the like that generated templates find in their data."""

import base64
import datetime as dt
import json
from collections.abc import Mapping
from functools import cache
from ipaddress import ip_address
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.serialization import pkcs12
from cryptography.x509.oid import NameOID

ODD: Final = (
    "nil", "(dict).none", "$", ".text", ".empty", ".none", "(int64 5)", "(int64 -3)", '(semver "1.2.3-a+b")',
    "2i", '(semver "1.2.3").Major', "'x'", '(split "," "p,q")', '(toDate "2006-01-02" "2020-02-03")',
    "(until 3)", '(splitList "," "b,a")', "(list)", "(dict)", '(fromJson "{\\"k\\":[1,2.5,null]}")',
    "(list nil)", '(float64 "1.5")', '(list 1 "a" nil true)', '(toStrings (list 1 "b"))',
    "(index (list 1 2) 1)", '(dict "a" (dict "b" (list 1)))', "(1.5)", '("x")', "(len .text)", "(or nil 0)",
    "true", '(regexFindAll "a" "aa" -1)', "(now).Year", '(toDate "2006-01-02" "2020-02-03").Weekday',
    '((toDate "2006" "2020").Sub (toDate "2006" "2019"))',
)  # fmt: skip
"""Values that no constant spells."""

_START: Final = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)
_END: Final = dt.datetime(2040, 1, 1, tzinfo=dt.UTC)
_PASSWORD: Final = b"geheim"

PrivateKey = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey


SMALL: Final[Mapping[str, bytes]] = {"text": b"some text", "empty": b""}
"""For templates that are about something else."""


@cache
def data() -> Mapping[str, bytes]:
    """The values by the name that templates give them. The keys are made anew in each run."""
    key = rsa.generate_private_key(65537, 2048)
    curve = ec.derive_private_key(20250101, ec.SECP256R1())
    edwards = ed25519.Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
    root = _certificate("root", curve, "root", curve)
    middle = _certificate("middle", key, "root", curve, signed_by="root")
    leaf = _certificate("leaf", edwards, "middle", key, signed_by="middle")
    made = {
        **SMALL,
        "binary": bytes(range(256)),
        "rsa": _pkcs8(key),
        "rsa1": _traditional(key),
        "ec": _pkcs8(curve),
        "ec1": _traditional(curve),
        "ed": _pkcs8(edwards),
        "root": _pem(root),
        "leaf": _pem(leaf),
        "chain": _pem(leaf) + _pem(middle) + _pem(root),
        "mixed": b"junk\n" + _pem(root) + _pem(leaf) + _pem(middle),
        "bundle": _pkcs8(edwards) + _pem(leaf) + _pem(middle),
        "public": key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        ),
        "cipher": key.public_key().encrypt(b"hidden", _oaep()),
        "aes": _aes(b"hidden\n"),
    }
    for name, each in (("rsa", key), ("ec", curve), ("ed", edwards)):
        made[f"jwk_{name}"] = _jwk(each, private=True)
        made[f"jwk_{name}_public"] = _jwk(each, private=False)
    for name, password in (("p12", None), ("p12pass", _PASSWORD)):
        made[name] = _keystore(edwards, leaf, [middle, root], password)
    made["p12b64"] = base64.b64encode(made["p12"])
    return made


NAMES: Final = (
    "rsa", "rsa1", "ec", "ec1", "ed", "root", "leaf", "chain", "mixed", "bundle", "public", "text", "empty",
    "binary",
)  # fmt: skip
KEYSTORES: Final = ("p12", "p12", "p12pass", "p12pass", "p12b64", "text", "empty", "leaf")
JWKS: Final = (
    "jwk_rsa",
    "jwk_rsa_public",
    "jwk_ec",
    "jwk_ec_public",
    "jwk_ed",
    "jwk_ed_public",
    "text",
    "empty",
)


def _certificate(
    name: str, key: PrivateKey, issuer: str, issuer_key: PrivateKey, *, signed_by: str = ""
) -> x509.Certificate:
    public = key.public_key()
    names: list[x509.GeneralName] = [
        x509.DNSName(f"{name}.example"),
        x509.DNSName("*.example"),
        x509.IPAddress(ip_address("10.0.0.7")),
        x509.IPAddress(ip_address("2001:db8::1")),
        x509.RFC822Name("ops@example.com"),
        x509.UniformResourceIdentifier("spiffe://example/a%20b?x=1#f"),
    ]
    builder = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
        .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, issuer)]))
        .public_key(public)
        .serial_number(7)
        .not_valid_before(_START)
        .not_valid_after(_END)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
    )
    if signed_by:
        builder = builder.add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), critical=False
        )
    algorithm = None if isinstance(issuer_key, ed25519.Ed25519PrivateKey) else hashes.SHA256()
    return builder.sign(issuer_key, algorithm)


def _keystore(
    key: ed25519.Ed25519PrivateKey,
    certificate: x509.Certificate,
    authorities: list[x509.Certificate],
    password: bytes | None,
) -> bytes:
    if password is None:
        encryption: serialization.KeySerializationEncryption = serialization.NoEncryption()
    else:
        encryption = serialization.BestAvailableEncryption(password)
    return pkcs12.serialize_key_and_certificates(b"name", key, certificate, authorities, encryption)


def _jwk(key: PrivateKey, *, private: bool) -> bytes:
    if isinstance(key, rsa.RSAPrivateKey):
        numbers = key.private_numbers()
        held: dict[str, str] = {
            "kty": "RSA",
            "n": _number(numbers.public_numbers.n),
            "e": _number(numbers.public_numbers.e),
        }
        if private:
            held |= {name: _number(getattr(numbers, name)) for name in ("d", "p", "q")}
            held |= {"dp": _number(numbers.dmp1), "dq": _number(numbers.dmq1), "qi": _number(numbers.iqmp)}
    elif isinstance(key, ec.EllipticCurvePrivateKey):
        point = key.private_numbers().public_numbers
        held = {"kty": "EC", "crv": "P-256", "x": _number(point.x, 32), "y": _number(point.y, 32)}
        if private:
            held["d"] = _number(key.private_numbers().private_value, 32)
    else:
        held = {"kty": "OKP", "crv": "Ed25519", "x": _base64url(key.public_key().public_bytes_raw())}
        if private:
            held["d"] = _base64url(key.private_bytes_raw())
    return json.dumps(held).encode()


def _number(number: int, length: int = 0) -> str:
    return _base64url(number.to_bytes(length or (number.bit_length() + 7) // 8, "big"))


def _base64url(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _pkcs8(key: PrivateKey) -> bytes:
    return _private_bytes(key, serialization.PrivateFormat.PKCS8)


def _traditional(key: PrivateKey) -> bytes:
    return _private_bytes(key, serialization.PrivateFormat.TraditionalOpenSSL)


def _private_bytes(key: PrivateKey, form: serialization.PrivateFormat) -> bytes:
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())


def _aes(text: bytes) -> bytes:
    """AES in CBC mode as `encryptAES "key"` writes it: the vector first, the password filled up."""
    vector = bytes(range(16))
    cipher = Cipher(algorithms.AES256(b"key".ljust(32, b"\0")), modes.CBC(vector)).encryptor()
    missing = 16 - len(text) % 16
    return base64.b64encode(vector + cipher.update(text + bytes([missing]) * missing) + cipher.finalize())


def _oaep() -> padding.OAEP:
    return padding.OAEP(padding.MGF1(hashes.SHA256()), hashes.SHA256(), None)
