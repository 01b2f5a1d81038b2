"""Tokens that are signed here, as a verifier sees them."""

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, PrivateFormat

from syncret.providers.kit.auth import jwt
from syncret.providers.work import Work
from tests.support.jwts import BadToken, pem, private_key, verified

KEY = private_key("kit")
CLAIMS = {"iss": "me", "iat": 100, "exp": 200, "text": "<&>\u2028"}


def test_a_verifier_finds_the_claims() -> None:
    key = jwt.private_key(pem(KEY).encode(), Work())
    assert key is not None
    token = jwt.signed(key, CLAIMS, kid="1")

    assert verified(token, {"1": KEY.public_key()}.get, now=150) == CLAIMS
    with pytest.raises(BadToken):
        verified(token, {"1": private_key("other").public_key()}.get, now=150)


def test_a_key_without_a_name() -> None:
    assert verified(jwt.signed(KEY, CLAIMS), {"": KEY.public_key()}.get, now=150) == CLAIMS


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"\xff\x00", id="binary"),
        pytest.param(b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", id="cut off"),
        pytest.param(pem(ec.generate_private_key(ec.SECP256R1())).encode(), id="another kind"),  # type: ignore[arg-type]  # on purpose
    ],
)
def test_what_is_no_key(document: bytes) -> None:
    assert jwt.private_key(document, Work()) is None


@pytest.mark.parametrize("form", [PrivateFormat.PKCS8, PrivateFormat.TraditionalOpenSSL])
def test_a_key_with_a_password(form: PrivateFormat) -> None:
    document = KEY.private_bytes(Encoding.PEM, form, BestAvailableEncryption(b"right"))

    found = jwt.private_key(document, Work(), b"right")
    assert found is not None
    assert found.private_numbers() == KEY.private_numbers()
    assert jwt.private_key(document, Work(), b"wrong") is None
    assert jwt.private_key(document, Work()) is None
