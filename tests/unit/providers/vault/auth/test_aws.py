"""Keys of AWS for a login to Vault: what a store may not bring about with them."""

import time
from pathlib import Path

import pytest

from syncret.config.fields import SecretKeySelector
from syncret.providers.contract import Receiver
from syncret.providers.errors import Denied, Malformed
from syncret.providers.vault.auth import aws
from syncret.providers.vault.auth_spec import VaultIam, VaultIamSecretRef
from tests.support.opened import Given, context
from tests.support.servers.sts import ACCOUNT, sts

CANARY = "canary-web-identity"
KEYS = VaultIamSecretRef(
    access_key_id=SecretKeySelector(name="login", key="id"),
    secret_access_key=SecretKeySelector(name="login", key="key"),
)


@pytest.mark.parametrize(
    "region",
    [
        pytest.param("evil.example/#", id="another host"),
        pytest.param("evil.example:8443/?", id="another port"),
        pytest.param("x@evil.example/#", id="a user"),
        pytest.param("EU-WEST-1", id="capitals"),
    ],
)
async def test_a_region_is_no_way_to_another_server(
    region: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = tmp_path / "token"
    token.write_text(CANARY)
    monkeypatch.delenv("AWS_STS_ENDPOINT", raising=False)
    monkeypatch.setenv("AWS_WEB_IDENTITY_TOKEN_FILE", str(token))
    monkeypatch.setenv("AWS_ROLE_ARN", "arn:aws:iam::123456789012:role/daemon")
    own = context().ambient([Receiver("vault", "https://vault.example", "a proof")])
    with pytest.raises(Malformed, match=r"auth\.iam\.region") as caught:
        await aws.credentials_of(VaultIam(vault_role="app"), region, own, context())

    assert caught.value.hint
    assert CANARY not in f"{caught.value!r} {caught.value.__context__!r}"


async def test_a_role_is_assumed_with_a_signed_request(monkeypatch: pytest.MonkeyPatch) -> None:
    """The service checks the signature, which covers the host."""
    role = f"arn:aws:iam::{ACCOUNT}:role/app"
    given = Given(secrets={"login": {"id": b"AKIA1", "key": b"secret-of-AKIA1"}})
    async with sts() as server:
        server.know("AKIA1", f"arn:aws:iam::{ACCOUNT}:user/ada")
        monkeypatch.setenv("AWS_STS_ENDPOINT", f"{server.url}/")
        method = VaultIam(vault_role="app", role=role, secret_ref=KEYS)
        found = await aws.credentials_of(method, "eu-west-1", None, context(given, now=time.time))
    assert found.session_token
    assert server.asked[0]["RoleArn"] == role


async def test_a_role_that_aws_refuses_names_method_field_and_status(monkeypatch: pytest.MonkeyPatch) -> None:
    given = Given(secrets={"login": {"id": b"AKIA1", "key": b"canary-of-AKIA1"}})
    async with sts() as server:
        server.know("AKIA1", f"arn:aws:iam::{ACCOUNT}:user/ada")
        monkeypatch.setenv("AWS_STS_ENDPOINT", f"{server.url}/")
        method = VaultIam(vault_role="app", role=f"arn:aws:iam::{ACCOUNT}:role/app", secret_ref=KEYS)
        with pytest.raises(Denied) as caught:
            await aws.credentials_of(method, "eu-west-1", None, context(given, now=time.time))
    assert caught.value.message == (
        "logging in by auth.iam: assuming the role in AWS: AWS refuses it (HTTP 403, SignatureDoesNotMatch)"
    )
    assert caught.value.hint == "check auth.iam.role, and the credentials that assume it"
    assert "canary" not in f"{caught.value!r} {caught.value.__context__!r}"
