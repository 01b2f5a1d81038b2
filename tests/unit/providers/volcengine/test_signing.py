"""Signatures are those of Volcengine's own SDK (volc-sdk-golang 1.0.223) for the same request."""

from datetime import UTC, datetime
from typing import Any

import pytest

from syncret.providers.kit.auth.logins import ExpiringValue
from syncret.providers.kit.rest.identities import Headers
from syncret.providers.volcengine.signing import AccessKey, SignedRequests
from tests.support.opened import context

NOON = datetime(2026, 11, 19, 12, tzinfo=UTC).timestamp()


class Sent:
    """A request that remembers its headers."""

    method = "POST"
    path = "/?Version=2021-02-18&Action=GetSecretValue"
    content = b'{"SecretName":"db"}'

    def __init__(self) -> None:
        self.headers: Headers = {}

    async def __call__(self, headers: Headers, /) -> Any:  # noqa: ANN401  # nothing looks at the answer
        self.headers = headers


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
async def test_a_request(token: str, more: str, signature: str) -> None:
    async def log_in() -> ExpiringValue[AccessKey]:
        return ExpiringValue(AccessKey("AKLT-example", "canary-secret", token))

    url = "https://open.volcengineapi.com"
    sent = Sent()
    await SignedRequests(log_in, context(now=lambda: NOON), url, "cn-beijing").send(sent)

    assert sent.headers["Authorization"] == (
        "HMAC-SHA256 Credential=AKLT-example/20261119/cn-beijing/kms/request, "
        f"SignedHeaders=content-type;host;x-content-sha256;x-date{more}, Signature={signature}"
    )
    assert sent.headers["x-date"] == "20261119T120000Z"
