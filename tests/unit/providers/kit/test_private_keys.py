"""Private keys and PKCS#12 files of others: read, checked apart, and bounded."""

from collections.abc import Callable
from typing import Any, Final, TypeVar

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
    pkcs12,
)

from syncret.providers.kit import private_keys
from syncret.providers.work import Work

T = TypeVar("T")
RSA: Final = rsa.generate_private_key(65537, 2048)
EC: Final = ec.generate_private_key(ec.SECP256R1())
LONG: Final = (2**4253 - 1, 2**4423 - 1)
"""Two primes: to check the key that they make takes half a minute."""


class Apart(Work):
    """Work that counts what is made apart."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def apart(self, doing: str, function: Callable[..., T], *arguments: object) -> T:
        self.asked.append(doing)
        return function(*arguments)


def encoded(key: Any, encoding: Encoding = Encoding.DER) -> bytes:  # noqa: ANN401  # of either kind
    data: bytes = key.private_bytes(encoding, PrivateFormat.PKCS8, NoEncryption())
    return data


def unchecked(p: int, q: int) -> rsa.RSAPrivateKey:
    public = rsa.RSAPublicNumbers(65537, p * q)
    d = pow(65537, -1, (p - 1) * (q - 1))
    numbers = rsa.RSAPrivateNumbers(
        p, q, d, rsa.rsa_crt_dmp1(d, p), rsa.rsa_crt_dmq1(d, q), rsa.rsa_crt_iqmp(p, q), public
    )
    return numbers.private_key(unsafe_skip_rsa_key_validation=True)


def test_an_rsa_key_is_checked_apart_and_once() -> None:
    key = rsa.generate_private_key(65537, 2048)
    work = Apart()
    for read, encoding in ((private_keys.from_der, Encoding.DER), (private_keys.from_pem, Encoding.PEM)):
        found = read(encoded(key, encoding), work)
        assert isinstance(found, rsa.RSAPrivateKey)
        assert found.private_numbers() == key.private_numbers()
    assert work.asked == ["checking an RSA key"]


def test_other_keys_need_no_check() -> None:
    work = Apart()
    found = private_keys.from_der(encoded(EC), work)
    assert isinstance(found, ec.EllipticCurvePrivateKey)
    assert work.asked == []


def test_a_key_that_is_wrong_is_none() -> None:
    assert private_keys.from_der(encoded(unchecked(2**2203 - 1, 2**521 - 1))[:-1] + b"\0", Work()) is None
    composite = encoded(unchecked((2**521 - 1) * (2**607 - 1), 2**1279 - 1))
    assert private_keys.from_der(composite, Work()) is None
    assert private_keys.from_pem(b"no PEM", Work()) is None


def test_a_key_beyond_the_limit_is_not_even_checked() -> None:
    work = Apart()
    assert private_keys.from_der(encoded(unchecked(*LONG)), work) is None
    assert work.asked == []


@pytest.mark.parametrize("password", [None, b"canary"])
def test_a_key_store_is_read_apart(password: bytes | None) -> None:
    protection: KeySerializationEncryption = (
        NoEncryption() if password is None else BestAvailableEncryption(password)
    )
    data = pkcs12.serialize_key_and_certificates(b"name", RSA, None, None, protection)
    work = Apart()
    store = private_keys.from_pkcs12(data, password, work)
    assert store is not None
    assert isinstance(store.key, rsa.RSAPrivateKey)
    assert store.key.private_numbers() == RSA.private_numbers()
    assert (store.own, store.others) == (None, [])
    assert work.asked == ["reading a PKCS#12 file"]
    assert private_keys.from_pkcs12(data, b"wrong", work) is None
    assert private_keys.from_pkcs12(b"no file", password, work) is None
