"""Logins to Google by federation: of clusters, of AWS, by configuration."""

import json
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from syncret.config.fields import ServiceAccountSelector
from syncret.providers.errors import Denied, Malformed
from syncret.providers.gcpsm.spec import AwsSecurityCredentials, SecretName
from tests.support.opened import NOW, Clock, Given
from tests.support.servers.google.identity import HOUR
from tests.support.servers.google.logins import POOLS, Issuer
from tests.support.servers.google.server import Google
from tests.unit.providers.gcpsm.logins import (
    ANNOTATION,
    APP,
    AUDIENCE,
    CONFIG,
    POOL,
    PRINCIPAL,
    SUBJECT,
    configured,
    external,
    federated,
    reads,
    workload,
)

pytestmark = pytest.mark.usefixtures("seeded")

AWS_AUDIENCE = f"{POOLS}/p/providers/aws"


async def test_a_service_account_of_any_cluster(cloud: Google, clock: Clock, issuer: Issuer) -> None:
    account = ServiceAccountSelector(name="app", audiences=("wanted",))
    given = workload(issuer, "wanted")

    assert await reads(given, clock, federated(service_account_ref=account, audience=AUDIENCE)) == b"one"
    assert given.asked == [("app", ("wanted",), 900)]


@pytest.mark.parametrize("written", ["store", "ServiceAccount"])
async def test_federation_impersonates(cloud: Google, clock: Clock, issuer: Issuer, written: str) -> None:
    email, other = cloud.identity.account("target"), cloud.identity.account("other")
    cloud.identity.impersonators[email] = {PRINCIPAL}
    given = workload(issuer, "wanted", **{ANNOTATION: other if written == "store" else email})
    fields = {"gcp_service_account_email": email} if written == "store" else {}
    auth = federated(service_account_ref=APP, audience=AUDIENCE, **fields)

    assert await reads(given, clock, auth) == b"one"
    assert cloud.identity.logins == [PRINCIPAL, email]


@pytest.mark.parametrize("session", [b"", b"token-of-a-role"], ids=["keys", "keys of a role"])
async def test_credentials_of_aws(cloud: Google, clock: Clock, session: bytes) -> None:
    cloud.logins.providers[AWS_AUDIENCE] = {"AKIA1": "aws-secret"}
    arn = "arn:aws:iam::111122223333:user/AKIA1"
    cloud.identity.members["acme"].add(f"principal://iam.googleapis.com/{POOL}/subject/{arn}")
    keys = {"aws_access_key_id": b"AKIA1", "aws_secret_access_key": b"aws-secret"}
    given = Given(secrets={"aws": {**keys, "aws_session_token": session}})
    ref = AwsSecurityCredentials(aws_credentials_secret_ref=SecretName(name="aws"), region="us-east-2")
    auth = federated(aws_security_credentials=ref, audience=AWS_AUDIENCE)

    assert await reads(given, clock, auth) == b"one"
    given.secrets["aws"] = {**keys, "aws_secret_access_key": b"canary-8e"}
    with pytest.raises(Denied, match="invalid_grant") as caught:
        await reads(given, clock, auth)
    assert "canary" not in str(vars(caught.value))
    assert caught.value.message.startswith("logging in by auth.workloadIdentityFederation: ")
    assert caught.value.hint.startswith("check auth.workloadIdentityFederation.audience, ")
    given.secrets["aws"] = {"aws_access_key_id": b"AKIA1"}
    with pytest.raises(Malformed, match="aws_secret_access_key keys must be present"):
        await reads(given, clock, auth)


@pytest.mark.parametrize("kind", ["text", "json"])
async def test_a_configuration_with_a_file(
    cloud: Google, clock: Clock, issuer: Issuer, tmp_path: Path, kind: str
) -> None:
    token = issuer.token(SUBJECT, f"https:{AUDIENCE}", now=NOW)
    (tmp_path / "token").write_text(json.dumps({"id_token": token}) if kind == "json" else f"{token}\n")
    form = {"type": kind, "subject_token_field_name": "id_token"}
    given = configured(external({"file": str(tmp_path / "token"), "format": form}))

    assert await reads(given, clock, federated(cred_config=CONFIG)) == b"one"


async def test_a_configuration_with_an_address(cloud: Google, clock: Clock, issuer: Issuer) -> None:
    email = cloud.identity.account("target")
    cloud.identity.impersonators[email] = {PRINCIPAL}
    url = f"{cloud.url}/issue"
    usual = "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts"
    config = external(
        {"url": url, "headers": {"X-Who": "me"}},
        service_account_impersonation_url=f"{usual}/{email}:generateAccessToken",
        service_account_impersonation={"token_lifetime_seconds": 600},
    )

    def issue(request: web.Request) -> web.StreamResponse | None:
        if request.path != "/issue":
            return None
        assert request.headers["X-Who"] == "me"
        return web.Response(text=issuer.token(SUBJECT, "wanted", now=NOW))

    with cloud.failing(issue):
        auth = federated(cred_config=CONFIG, external_token_endpoint=url)
        assert await reads(configured(config), clock, auth) == b"one"
        with pytest.raises(Malformed, match="externalTokenEndpoint"):
            await reads(configured(config), clock, federated(cred_config=CONFIG))
    assert [token.expires - NOW for token in cloud.identity.tokens.values()] == [HOUR, 600]


async def test_a_configuration_of_a_machine_at_aws(
    cloud: Google, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", cloud.url)
    cloud.logins.providers[AWS_AUDIENCE] = {"ASIA1": "aws-secret"}
    arn = "arn:aws:iam::111122223333:user/ASIA1"
    cloud.identity.members["acme"].add(f"principal://iam.googleapis.com/{POOL}/subject/{arn}")
    imds = "http://169.254.169.254/latest"
    source = {
        "environment_id": "aws1",
        "region_url": f"{imds}/meta-data/placement/availability-zone",
        "url": f"{imds}/meta-data/iam/security-credentials",
        "imdsv2_session_token_url": f"{imds}/api/token",
        "regional_cred_verification_url": (
            "https://sts.{region}.amazonaws.com?Action=GetCallerIdentity&Version=2011-06-15"
        ),
    }
    keys = {"AccessKeyId": "ASIA1", "SecretAccessKey": "aws-secret", "Token": "t"}
    metadata = {
        "/latest/meta-data/placement/availability-zone": "eu-west-1b",
        "/latest/meta-data/iam/security-credentials": "role",
        "/latest/meta-data/iam/security-credentials/role": json.dumps(keys),
    }

    def machine(request: web.Request) -> web.StreamResponse | None:
        if request.path == "/latest/api/token" and request.method == "PUT":
            return web.Response(text="session")
        if request.path in metadata and request.headers.get("X-aws-ec2-metadata-token") == "session":
            return web.Response(text=metadata[request.path])
        return None

    config = external(source, subject_token_type="urn:ietf:params:aws:token-type:aws4_request")
    with cloud.failing(machine):
        auth = federated(cred_config=CONFIG, audience=AWS_AUDIENCE)
        assert await reads(configured(config), clock, auth) == b"one"


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        pytest.param({}, "exactly one of", id="none"),
        pytest.param({"service_account_ref": APP, "cred_config": CONFIG}, "exactly one of", id="two"),
        pytest.param({"service_account_ref": APP}, "audience must be provided", id="no audience"),
    ],
)
async def test_bad_federation(cloud: Google, clock: Clock, fields: dict[str, Any], problem: str) -> None:
    with pytest.raises(Malformed, match=problem):
        await reads(configured(external({"file": "/x"})), clock, federated(**fields))


OWN = "/var/run/secrets/kubernetes.io/serviceaccount/token"
EVIL = "https://sts.evil.example/v1/token"


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        pytest.param({"type": "service_account"}, "no configuration of an external account", id="type"),
        pytest.param(["x"], "no configuration of an external account", id="shape"),
        pytest.param(external({}), "credential_source is empty", id="no source"),
        pytest.param(external({"file": OWN}), "daemon's own token", id="our own token"),
        pytest.param(external({"file": f"/etc/..{OWN}"}), "daemon's own token", id="our own token, hidden"),
        pytest.param(external({"executable": {"command": "id"}}), "not supported", id="a program"),
        pytest.param(external({"file": "/x"}, token_url=EVIL), "token_url", id="token to a stranger"),
        pytest.param(
            external({"file": "/x"}, service_account_impersonation_url=EVIL),
            "impersonation_url",
            id="stranger",
        ),
        pytest.param(external({"file": "/x"}, audience=""), "audience is empty", id="audience"),
        pytest.param(
            external({"environment_id": "azure1"}), "environment_id must start with aws", id="another cloud"
        ),
        pytest.param(
            external({"environment_id": "aws1", "url": "http://10.0.0.1/x"}), "does not lead to AWS", id="AWS"
        ),
        pytest.param(external({"file": "/nonexistent/token"}), "subject token file", id="no such file"),
    ],
)
async def test_bad_configurations(cloud: Google, clock: Clock, config: object, problem: str) -> None:
    with pytest.raises(Malformed, match=problem):
        await reads(configured(config), clock, federated(cred_config=CONFIG))

    assert cloud.identity.logins == []
