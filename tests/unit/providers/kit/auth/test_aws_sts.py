"""AWS's token service: its address, and the daemon's own keys."""

import importlib
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from syncret.providers.contract import Receiver
from syncret.providers.kit.ambient import aws
from syncret.providers.kit.auth import aws_sts
from syncret.providers.kit.auth.aws_sts import AwsKeys
from syncret.providers.kit.http import Http
from tests.support.opened import NOW, context
from tests.support.served import all_to, served
from tests.support.servers.sts import ACCOUNT, sts


@pytest.mark.parametrize(
    ("region", "url"),
    [
        pytest.param("eu-west-1", "https://sts.eu-west-1.amazonaws.com/", id="usual"),
        pytest.param("us-gov-west-1", "https://sts.us-gov-west-1.amazonaws.com/", id="government"),
        pytest.param("cn-north-1", "https://sts.cn-north-1.amazonaws.com.cn/", id="China"),
    ],
)
def test_each_region_has_its_token_service(region: str, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_STS_ENDPOINT", raising=False)

    assert aws_sts.sts_url(region) == url


async def test_a_task_of_ecs_has_keys_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its path goes before an address, as in AWS's own clients."""

    async def give(request: web.Request) -> web.StreamResponse:
        assert request.path == "/v2/credentials/task"
        return web.json_response({"AccessKeyId": "ASIA1", "SecretAccessKey": "s", "Token": "t"})

    for name in ("AWS_ACCESS_KEY_ID", "AWS_WEB_IDENTITY_TOKEN_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://127.0.0.1:1/other")
    monkeypatch.setenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/v2/credentials/task")
    given = context()
    own = given.ambient([Receiver("vault", "https://vault.example", "a proof")])
    async with served(all_to(give)) as url, Http(now=given.now, network=given.network) as http:
        monkeypatch.setattr(aws, "_OF_TASKS", url)
        found = await aws_sts.own_keys(own, "eu-west-1", given, http)

    assert found == AwsKeys("ASIA1", "s", "t")
    assert repr(found) == "AwsKeys(access_key='ASIA1')"


async def test_the_session_of_a_role_has_the_name_in_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    role = f"arn:aws:iam::{ACCOUNT}:role/daemon"
    (tmp_path / "token").write_text("web identity")
    monkeypatch.delenv("AWS_ACCESS_KEY_ID", raising=False)
    monkeypatch.setenv("AWS_ROLE_ARN", role)
    monkeypatch.setenv("AWS_ROLE_SESSION_NAME", "mine")
    monkeypatch.setenv("AWS_WEB_IDENTITY_TOKEN_FILE", str(tmp_path / "token"))
    given = context()
    own = given.ambient([Receiver("vault", "https://vault.example", "a proof")])
    async with sts() as service, Http(now=given.now, network=given.network) as http:
        service.roles["web identity"] = role
        monkeypatch.setenv("AWS_STS_ENDPOINT", service.url)
        found = await aws_sts.own_keys(own, "eu-west-1", given, http)

    assert service.asked[0]["RoleSessionName"] == "mine"
    assert found.session_token


def test_the_signed_request_names_the_receiver_of_its_headers() -> None:
    """AWS's own client signs the same."""
    keys = AwsKeys("AKIA1", "secret", "session")
    request = aws_sts.caller_identity(keys, "eu-west-1", now=NOW, headers={"X-Server-ID": "shop"})
    again: Any = importlib.import_module("botocore.awsrequest").AWSRequest(
        "POST", request.url, headers={**request.headers}, data=request.body
    )
    again.context["timestamp"] = request.headers["X-Amz-Date"]
    del again.headers["Authorization"]
    credentials: Any = importlib.import_module("botocore.credentials").Credentials(
        "AKIA1", "secret", "session"
    )
    signer: Any = importlib.import_module("botocore.auth").SigV4Auth(credentials, "sts", "eu-west-1")
    text = signer.string_to_sign(again, signer.canonical_request(again))

    assert request.headers["Authorization"].endswith(f"Signature={signer.signature(text, again)}")
    assert "x-server-id" in request.headers["Authorization"]
    assert request.headers["Host"] == "sts.eu-west-1.amazonaws.com"
