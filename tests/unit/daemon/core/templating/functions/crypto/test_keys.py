"""Keys that come from elsewhere: JSON web keys, PEM with junk around it, RSA decryption."""

import json
from base64 import b64encode, urlsafe_b64encode

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from syncret.daemon.core.templating.golang.errors import TemplateError
from tests.unit.daemon.core.templating.functions.rendering import render

RSA = rsa.generate_private_key(65537, 2048)
EC = ec.generate_private_key(ec.SECP256R1())
PEM = RSA.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def number(value: int) -> str:
    return urlsafe_b64encode(value.to_bytes((value.bit_length() + 7) // 8, "big")).rstrip(b"=").decode()


PUBLIC = {
    "kty": "EC",
    "crv": "P-256",
    "x": number(EC.public_key().public_numbers().x),
    "y": number(EC.public_key().public_numbers().y),
}
PRIVATE = {**PUBLIC, "d": number(EC.private_numbers().private_value)}


def test_web_keys_become_pem() -> None:
    public = EC.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
    private = EC.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    assert render("{{ jwkPublicKeyPem .k }}", {"k": json.dumps(PUBLIC)}) == public
    assert render("{{ jwkPrivateKeyPem .k }}", {"k": json.dumps(PRIVATE)}) == private


@pytest.mark.parametrize(
    ("function", "key"),
    [
        pytest.param("jwkPublicKeyPem", PRIVATE, id="a private key is no public one"),
        pytest.param("jwkPrivateKeyPem", PUBLIC, id="a public key is no private one"),
        pytest.param("jwkPublicKeyPem", {**PUBLIC, "y": "AAAA"}, id="a point off the curve"),
        pytest.param("jwkPublicKeyPem", {"kty": "oct", "k": "c2VjcmV0"}, id="a key without PEM form"),
        pytest.param("jwkPublicKeyPem", [], id="no object"),
    ],
)
def test_other_web_keys_are_refused(function: str, key: object) -> None:
    with pytest.raises(TemplateError) as caught:
        render(f"{{{{ {function} .k }}}}", {"k": json.dumps(key)})
    assert "c2VjcmV0" not in str(caught.value)


@pytest.mark.parametrize(
    ("digest", "algorithm"),
    [
        pytest.param("SHA1", hashes.SHA1(), id="sha1"),  # noqa: S303 (what ESO offers)
        pytest.param("SHA256", hashes.SHA256(), id="sha256"),
        pytest.param("SHA512", hashes.SHA512(), id="sha512"),
        pytest.param("other", hashes.SHA256(), id="an unknown digest is sha256"),
    ],
)
def test_rsa_decryption(digest: str, algorithm: hashes.HashAlgorithm) -> None:
    encrypted = RSA.public_key().encrypt(b"text", padding.OAEP(padding.MGF1(algorithm), algorithm, None))
    template = f'{{{{ rsaDecrypt "RSA-OAEP" "{digest}" (.c | b64dec) .k }}}}'
    assert render(template, {"c": b64encode(encrypted).decode(), "k": PEM}) == "text"


def test_without_a_scheme_nothing_is_decrypted() -> None:
    assert render('{{ rsaDecrypt "None" "" "as it is" "" }}') == "as it is"
    with pytest.raises(TemplateError):
        render('{{ rsaDecrypt "PKCS1" "" "x" .k }}', {"k": PEM})
    with pytest.raises(TemplateError):
        render('{{ rsaDecrypt "RSA-OAEP" "" "x" .k }}', {"k": PEM})


def test_pem_is_found_in_junk() -> None:
    text = f"junk before\n{PEM}junk between\n{PEM}"
    assert render('{{ filterPEM "private key" .t }}', {"t": text}) == PEM * 2
    assert render('{{ filterPEM "CERTIFICATE" .t }}', {"t": PEM}) == ""
    with pytest.raises(TemplateError, match="junk"):
        render('{{ filterPEM "CERTIFICATE" "nothing here" }}')
