"""Sealed boxes are those of libsodium."""

from hashlib import sha256

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from syncret.providers.errors import Malformed, OverBudget
from syncret.providers.github.sealed_box import derived, sealed, xsalsa20
from syncret.providers.work import Work
from tests.support.servers.github.sealed import opened

KEY = X25519PrivateKey.from_private_bytes(sha256(b"vault of the tests").digest())

MADE_BY_LIBSODIUM = bytes.fromhex(
    "a7e14ec235a19d17d2be1b23710f3b25eceb49ace07c610766775405a4c3314ff023a493fdd3cc9f6f917a98b8030e"
    "798966be9d87b4b7235428bbc5314159c904a5f2be9b4aff92f74e844d9424b64f1bd0aebeb2796679665ee004e7ea"
    "acabc6aaec0ea148defe62a942a64c462ab66fe302ba964b29812e0f7cb273e4721a37b22c59e518d72f5bb58c87cd"
    "9120a4e14bde5f212a50669a7ad1f1a6114ac4f825ef2f1c97008902e9fe1045ad2407677e221aea03deea2cae3258"
)
"""By crypto_box_seal of libsodium 1.0.18, for the public key of KEY."""


def test_a_box_that_libsodium_made() -> None:
    assert opened(MADE_BY_LIBSODIUM, KEY) == b"correct horse battery staple" * 5


@pytest.mark.parametrize("size", [0, 1, 31, 32, 33, 96, 1000])
def test_only_the_key_opens_it(size: int) -> None:
    text = bytes(size)
    box = sealed(text, KEY.public_key().public_bytes_raw(), Work())
    again = sealed(text, KEY.public_key().public_bytes_raw(), Work())

    assert (opened(box, KEY), len(box)) == (text, size + 48)
    assert box != again


def test_the_published_vector_of_the_key_stream() -> None:
    """NaCl's own: https://cr.yp.to/highspeed/naclcrypto-20090310.pdf, sections 8 and 9."""
    shared = bytes.fromhex("4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742")
    first = derived(shared, bytes(16))
    nonce = bytes.fromhex("69696ee955b62b73cd62bda875fc73d68219e0036b7a0b37")

    assert first.hex() == "1b27556473e985d462cd51197a9a46c76009549eac6474f206c4ee0844f68389"
    assert xsalsa20(first, nonce, 32, Work()).hex() == (
        "eea6a7251c1e72916d11c2cb214d3c252539121d8e234e652d651fa4c8cff880"
    )


def test_what_is_no_key() -> None:
    for key in (b"", bytes(31), bytes(32)):
        with pytest.raises(Malformed, match="public key"):
            sealed(b"text", key, Work())


def test_it_pays_for_what_it_does() -> None:
    work = Work(seconds=0.0)
    with pytest.raises(OverBudget):
        sealed(bytes(10_000_000), KEY.public_key().public_bytes_raw(), work)
