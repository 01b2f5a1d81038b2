"""The daemon's own identity at AWS: the server forwards a signed request, which AWS verifies."""

import json
from pathlib import Path

import pytest
from aiohttp import web

from syncret.providers.errors import Denied, Malformed, Unavailable
from tests.support.served import all_to, served
from tests.support.servers.infisical.server import Infisical
from tests.support.servers.sts import ACCOUNT, Sts
from tests.unit.providers.infisical.stores import AWS, reads

CANARY = "canary-web-identity"


async def test_the_keys_of_the_environment_sign(
    server: Infisical, aws: Sts, monkeypatch: pytest.MonkeyPatch
) -> None:
    aws.know("AKIA1", f"arn:aws:iam::{ACCOUNT}:user/ada", "session")
    server.clouds.arn = f"arn:aws:iam::{ACCOUNT}:user/ada"
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIA1")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret-of-AKIA1")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "session")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-gov-west-1")
    await reads(server, AWS)

    assert server.logins == ["aws-auth"]
    assert "secret-of" not in json.dumps(server.clouds.bodies)


async def test_the_role_of_the_daemon_s_service_account(
    server: Infisical, aws: Sts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    role = f"arn:aws:iam::{ACCOUNT}:role/daemon"
    (tmp_path / "token").write_text(CANARY)
    aws.roles[CANARY] = role
    server.clouds.arn = f"arn:aws:sts::{ACCOUNT}:assumed-role/daemon/session"
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    monkeypatch.setenv("AWS_ROLE_ARN", role)
    monkeypatch.setenv("AWS_WEB_IDENTITY_TOKEN_FILE", str(tmp_path / "token"))
    await reads(server, AWS)

    assert CANARY not in json.dumps(server.clouds.bodies)
    assert aws.asked[0]["RoleSessionName"] == "syncret"


def metadata_of(service: Sts) -> web.Application:
    """A machine and a pod at AWS, with a role."""
    keys = {"AccessKeyId": "ASIA1", "SecretAccessKey": "secret-of-ASIA1", "Token": "t"}
    service.know("ASIA1", f"arn:aws:sts::{ACCOUNT}:assumed-role/node/i-0", "t")
    roles = "/latest/meta-data/iam/security-credentials/"
    texts = {
        "/latest/meta-data/placement/region": "ap-south-1",
        roles: "node",
        f"{roles}node": json.dumps(keys),
    }

    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path == "/v1/credentials" and request.headers.get("Authorization") == "pod":
            return web.json_response(keys)
        if request.path == "/latest/api/token" and request.method == "PUT":
            return web.Response(text="session")
        if request.headers.get("X-aws-ec2-metadata-token") != "session":
            return web.Response(status=401)
        return web.Response(text=texts[request.path]) if request.path in texts else web.Response(status=404)

    return all_to(answer)


async def test_the_role_of_the_machine_and_its_region(
    server: Infisical, aws: Sts, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.clouds.arn = f"arn:aws:sts::{ACCOUNT}:assumed-role/node/i-0"
    async with served(metadata_of(aws)) as url:
        monkeypatch.setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", url)
        await reads(server, AWS)

    assert server.logins == ["aws-auth"]


async def test_the_keys_of_the_pod(server: Infisical, aws: Sts, monkeypatch: pytest.MonkeyPatch) -> None:
    server.clouds.arn = f"arn:aws:sts::{ACCOUNT}:assumed-role/node/i-0"
    async with served(metadata_of(aws)) as url:
        monkeypatch.setenv("AWS_REGION", "eu-west-1")
        monkeypatch.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", f"{url}/v1/credentials")
        monkeypatch.setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN", "pod")
        await reads(server, AWS)

    assert server.logins == ["aws-auth"]


async def test_a_signature_that_aws_refuses(
    server: Infisical, aws: Sts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Infisical answers that it is broken."""
    aws.know("AKIA1", f"arn:aws:iam::{ACCOUNT}:user/ada")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIA1")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "another")
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    with pytest.raises(Unavailable, match="HTTP 500") as caught:
        await reads(server, AWS)

    assert "awsAuthCredentials" in caught.value.hint
    assert "clock" in caught.value.hint


async def test_a_role_that_is_not_allowed(
    server: Infisical, aws: Sts, monkeypatch: pytest.MonkeyPatch
) -> None:
    aws.know("AKIA1", f"arn:aws:iam::{ACCOUNT}:user/eve")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIA1")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret-of-AKIA1")
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    with pytest.raises(Denied, match="the login is refused") as caught:
        await reads(server, AWS)

    assert "awsAuthCredentials" in caught.value.hint


async def test_a_region_is_no_way_to_another_server(
    server: Infisical, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "token").write_text(CANARY)
    monkeypatch.setenv("AWS_REGION", "evil.example/#")
    monkeypatch.setenv("AWS_ROLE_ARN", "arn")
    monkeypatch.setenv("AWS_WEB_IDENTITY_TOKEN_FILE", str(tmp_path / "token"))
    with pytest.raises(Malformed, match="AWS_REGION is no region") as caught:
        await reads(server, AWS)

    assert CANARY not in f"{caught.value!r}"


async def test_a_role_that_aws_does_not_give(
    server: Infisical, aws: Sts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "token").write_text(CANARY)
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    monkeypatch.setenv("AWS_ROLE_ARN", "arn")
    monkeypatch.setenv("AWS_WEB_IDENTITY_TOKEN_FILE", str(tmp_path / "token"))
    with pytest.raises(Denied, match="HTTP 403, AccessDenied") as caught:
        await reads(server, AWS)

    assert "AWS_ROLE_ARN" in caught.value.hint
    assert aws.asked
    assert server.clouds.bodies == []


async def test_a_daemon_without_a_role(server: Infisical, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with pytest.raises(Malformed, match="no identity at AWS") as caught:
        await reads(server, AWS)

    assert "role" in caught.value.hint


async def test_a_server_that_is_down_says_nothing_of_the_signature(
    server: Infisical, aws: Sts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIA1")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret-of-AKIA1")
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    with server.failing(lambda _request: web.Response(status=502)), pytest.raises(Unavailable) as caught:
        await reads(server, AWS)

    assert "awsAuthCredentials" not in caught.value.hint
