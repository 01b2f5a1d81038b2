"""Signatures are those of Alibaba Cloud's documentation, and of its own `openapi-util` 0.1.1 for Go."""

from datetime import UTC, datetime
from typing import Final

import pytest

from syncret.providers.alibaba.signing import signer
from syncret.providers.kit.rest.signed import AccessKey
from tests.unit.providers.kit.rest.requests import Request

DOCUMENTED: Final = (
    "https://ecs.cn-shanghai.aliyuncs.com",
    Request(
        "POST",
        "/?ImageId=win2019_1809_x64_dtc_zh-cn_40G_alibase_20230811.vhd&RegionId=cn-shanghai",
        headers={"x-acs-action": "RunInstances", "x-acs-version": "2014-05-26"},
    ),
    AccessKey("YourAccessKeyId", "YourAccessKeySecret"),
    "06563a9e1b43f5dfe96b81484da74bceab24a1d853912eee15083a6f0f3283c0",
)
TEMPORARY: Final = (
    "https://kms.cn-hangzhou.aliyuncs.com",
    Request(
        "POST",
        "/?SecretData=a%20%2B%2A~%2F%C3%A4&SecretName=shop%2Fdb&VersionId=v1",
        headers={"x-acs-action": "PutSecretValue", "x-acs-version": "2016-01-20"},
    ),
    AccessKey("STS.example", "canary-secret", "canary-session"),
    "462f9fa7db453e221f9bd3eefac89073f264cd5ede7a58889e8efe32988ee60e",
)


@pytest.mark.parametrize(
    ("url", "request_", "key", "signature"),
    [pytest.param(*DOCUMENTED, id="documented"), pytest.param(*TEMPORARY, id="a temporary key")],
)
def test_a_request(url: str, request_: Request, key: AccessKey, signature: str) -> None:
    moment = datetime(2023, 10, 26, 10, 22, 32, tzinfo=UTC).timestamp()
    sign = signer(url, lambda: moment, nonce=lambda: "3156853299f313e23d1673dc12e1703d")
    headers = sign(request_, key)

    token = "x-acs-security-token;" if key.token else ""
    names = f"host;x-acs-action;x-acs-content-sha256;x-acs-date;{token}x-acs-signature-nonce;x-acs-version"
    assert headers["Authorization"] == (
        f"ACS3-HMAC-SHA256 Credential={key.id},SignedHeaders={names},Signature={signature}"
    )
    assert headers["x-acs-date"] == "2023-10-26T10:22:32Z"
