"""Google's client of everything about tokens works on the server. Nothing of syncret takes part."""

import asyncio
import json
import os
import time
from pathlib import Path

import pytest

from tests.support.servers.google.identity import CLOUD_PLATFORM, User
from tests.support.servers.google.logins import POOLS, Issuer
from tests.support.servers.google.sdk import (
    PARENT,
    GoogleAuthError,
    Sdk,
    auth,
    aws,
    client,
    compute_engine,
    fresh,
    identity_pool,
    metadata,
    refused,
    requests,
    service_account,
    user_credentials,
)
from tests.support.servers.google.server import Google


# -- tokens
async def test_tokens_for_a_key(cloud: Google) -> None:
    def script() -> None:
        email = cloud.identity.account("sdk")
        key = cloud.identity.key_file(email)
        credentials = service_account.Credentials.from_service_account_info(key, scopes=[CLOUD_PLATFORM])
        assert list(client(cloud, fresh(credentials)).list_secrets(parent=PARENT)) == []
        assert cloud.identity.logins == [email]
        wanted = service_account.IDTokenCredentials.from_service_account_info(
            key, target_audience="https://a"
        )
        assert fresh(wanted).token.count(".") == 2

        other = service_account.Credentials.from_service_account_info(
            {**key, "private_key": cloud.identity.key_file(email, key="key-2")["private_key"]},
            scopes=[CLOUD_PLATFORM],
        )
        with pytest.raises(GoogleAuthError, match="signature"):
            fresh(other)
        narrow = service_account.Credentials.from_service_account_info(key, scopes=["https://other"])
        with refused("PERMISSION_DENIED"):
            client(cloud, fresh(narrow)).get_secret(name=f"{PARENT}/secrets/db")

    await asyncio.to_thread(script)


async def test_an_expired_token_is_refused(cloud: Google) -> None:
    def script() -> None:
        key = cloud.identity.key_file(cloud.identity.account("sdk"))
        credentials = service_account.Credentials.from_service_account_info(key, scopes=[CLOUD_PLATFORM])
        token = fresh(credentials).token
        cloud.identity.expire_tokens()
        with pytest.raises(GoogleAuthError, match="refresh"):  # their answer to 401
            list(client(cloud, user_credentials.Credentials(token=token)).list_secrets(parent=PARENT))

    await asyncio.to_thread(script)


async def test_a_users_refresh_token(cloud: Google) -> None:
    def script() -> None:
        user = User("ada@example.com")
        cloud.identity.users.append(user)
        cloud.identity.members["acme"].add(user.email)

        def credentials(refresh_token: str) -> Sdk:
            info = {
                "client_id": user.client_id,
                "client_secret": user.client_secret,
                "refresh_token": refresh_token,
                "token_uri": f"{cloud.url}/token",
            }
            return user_credentials.Credentials(token=None, **info)

        assert list(client(cloud, fresh(credentials(user.refresh_token))).list_secrets(parent=PARENT)) == []
        with pytest.raises(GoogleAuthError, match="invalid_grant"):
            fresh(credentials("another"))

    await asyncio.to_thread(script)


async def test_the_metadata_server(cloud: Google, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "_GCE_METADATA_HOST", cloud.host)  # the variable is read at import
    monkeypatch.setenv("GCE_METADATA_IP", cloud.host)
    monkeypatch.setenv("HOME", "/nonexistent")
    monkeypatch.delenv("GOOGLE_APPLICATION_CREDENTIALS", raising=False)
    cloud.machine.email = cloud.identity.account("machine")
    cloud.machine.attributes["cluster-name"] = "c1"

    def script() -> None:
        request = requests.Request()
        assert metadata.ping(request)
        assert metadata.get_project_id(request) == "acme"
        assert metadata.get_universe_domain(request) == "googleapis.com"
        assert metadata.get(request, "instance/attributes/cluster-name") == "c1"
        found, project = auth.default(scopes=[CLOUD_PLATFORM])
        assert (type(found), project) == (compute_engine.Credentials, "acme")
        assert list(client(cloud, fresh(found)).list_secrets(parent=PARENT)) == []
        wanted = compute_engine.IDTokenCredentials(request, "https://a", use_metadata_identity_endpoint=True)
        assert fresh(wanted).token.count(".") == 2

    await asyncio.to_thread(script)


# -- federation
def _pool(cloud: Google, subject: str) -> tuple[Issuer, str]:
    issuer = Issuer("https://issuer.example", frozenset({"wanted"}))
    audience = f"{POOLS}/p/providers/oidc"
    cloud.logins.providers[audience] = issuer
    pool = audience.removeprefix("//iam.googleapis.com/").rpartition("/providers/")[0]
    cloud.identity.members["acme"].add(f"principal://iam.googleapis.com/{pool}/subject/{subject}")
    return issuer, audience


async def test_a_token_of_another_issuer_is_exchanged(cloud: Google, tmp_path: Path) -> None:
    issuer, audience = _pool(cloud, "me")

    def script() -> None:
        def credentials(token: str, **more: object) -> Sdk:
            (tmp_path / "token").write_text(token)
            info = {
                "type": "external_account",
                "audience": audience,
                "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
                "token_url": f"{cloud.url}/v1/token",
                "credential_source": {"file": os.fspath(tmp_path / "token")},
                **more,
            }
            return identity_pool.Credentials.from_info(info, scopes=[CLOUD_PLATFORM])

        good = issuer.token("me", "wanted", now=time.time())
        assert list(client(cloud, fresh(credentials(good))).list_secrets(parent=PARENT)) == []
        for bad in (
            issuer.token("me", "another", now=time.time()),
            issuer.token("me", "wanted", now=time.time() - 7200),
            Issuer("https://liar.example", frozenset()).token("me", "wanted", now=time.time()),
            good[:-8] + "AAAAAAAA",
        ):
            with pytest.raises(GoogleAuthError):
                fresh(credentials(bad))

        email = cloud.identity.account("target")
        url = f"{cloud.url}/v1/projects/-/serviceAccounts/{email}:generateAccessToken"
        with pytest.raises(GoogleAuthError):
            fresh(credentials(good, service_account_impersonation_url=url))
        cloud.identity.impersonators[email] = set(cloud.identity.logins[-1:])
        became = fresh(credentials(good, service_account_impersonation_url=url))
        assert list(client(cloud, became).list_secrets(parent=PARENT)) == []
        assert cloud.identity.logins[-1] == email

    await asyncio.to_thread(script)


async def test_credentials_of_aws_are_exchanged(cloud: Google, monkeypatch: pytest.MonkeyPatch) -> None:
    audience = f"{POOLS}/p/providers/aws"
    cloud.logins.providers[audience] = {"AKIA1": "aws-secret"}
    monkeypatch.setenv("AWS_REGION", "us-east-2")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIA1")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "session")

    def script() -> None:
        info = {
            "type": "external_account",
            "audience": audience,
            "subject_token_type": "urn:ietf:params:aws:token-type:aws4_request",
            "token_url": f"{cloud.url}/v1/token",
            "credential_source": {
                "environment_id": "aws1",
                "region_url": "http://169.254.169.254/latest/meta-data/placement/availability-zone",
                "url": "http://169.254.169.254/latest/meta-data/iam/security-credentials",
                "regional_cred_verification_url": (
                    "https://sts.{region}.amazonaws.com?Action=GetCallerIdentity&Version=2011-06-15"
                ),
            },
        }
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "aws-secret")
        fresh(aws.Credentials.from_info(info, scopes=[CLOUD_PLATFORM]))
        assert cloud.identity.logins[0].endswith("/subject/arn:aws:iam::111122223333:user/AKIA1")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
        with pytest.raises(GoogleAuthError, match="signature"):
            fresh(aws.Credentials.from_info(info, scopes=[CLOUD_PLATFORM]))

    await asyncio.to_thread(script)


async def test_a_key_from_a_file(cloud: Google, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "key.json"
    file.write_text(json.dumps(cloud.identity.key_file(cloud.identity.account("sdk"))))
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", os.fspath(file))

    def script() -> None:
        credentials, project = auth.default(scopes=[CLOUD_PLATFORM])
        assert project == "acme"
        assert list(client(cloud, fresh(credentials)).list_secrets(parent=PARENT)) == []

    await asyncio.to_thread(script)
