"""Signed tokens for tests."""

import json
from base64 import urlsafe_b64encode
from functools import cache
from typing import Any

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa


@cache
def key() -> rsa.RSAPrivateKey:
    """One key for all tests: making one takes a while."""
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def public_pem() -> str:
    """What verifies the tokens."""
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    return key().public_key().public_bytes(serialization.Encoding.PEM, form).decode()


def private_pem() -> str:
    """The key, as files of service accounts hold it."""
    form, none = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    return key().private_bytes(serialization.Encoding.PEM, form, none).decode()


def jwt(**claims: Any) -> str:  # noqa: ANN401  # JSON
    """A token with these claims."""
    content = (
        f"{_base64(json.dumps({'alg': 'RS256', 'typ': 'JWT', 'kid': 'test'}))}.{_base64(json.dumps(claims))}"
    )
    signature = key().sign(content.encode(), padding.PKCS1v15(), hashes.SHA256())
    return f"{content}.{urlsafe_b64encode(signature).decode().rstrip('=')}"


def _base64(text: str) -> str:
    return urlsafe_b64encode(text.encode()).decode().rstrip("=")
