"""Signatures are those of Volcengine's own SDK (volc-sdk-golang 1.0.223) for the same request."""

from datetime import UTC, datetime

import pytest

from syncret.providers.kit.rest.signed import AccessKey
from syncret.providers.volcengine.signing import signer
from tests.unit.providers.kit.rest.requests import Request

NOON = datetime(2026, 11, 19, 12, tzinfo=UTC).timestamp()

REQUEST = Request("POST", "/?Version=2021-02-18&Action=GetSecretValue", b'{"SecretName":"db"}')


@pytest.mark.parametrize(
    ("token", "more", "signature"),
    [
        ("", "", "4003da9fdcf76b50902b1b730fb35de5313038b2d8a53ee023d22608a79353ef"),
        (
            "session-1",
            ";x-security-token",
            "cff69621a3d7e849eaaf83ef9c46bb0de479883a1d68e03985e6bc10a449beb4",
        ),
    ],
)
def test_a_request(token: str, more: str, signature: str) -> None:
    sign = signer("https://open.volcengineapi.com", "cn-beijing", lambda: NOON)
    headers = sign(REQUEST, AccessKey("AKLT-example", "canary-secret", token))

    assert headers["Authorization"] == (
        "HMAC-SHA256 Credential=AKLT-example/20261119/cn-beijing/kms/request, "
        f"SignedHeaders=content-type;host;x-content-sha256;x-date{more}, Signature={signature}"
    )
    assert headers["x-date"] == "20261119T120000Z"
