"""Logins by a proof of an identity at a cloud, which the server checks as the cloud would."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from syncret.config.fields import Json
from syncret.config.settings import OwnIdentity, OwnReceiver
from syncret.providers.contract import IssuedToken
from syncret.providers.errors import Denied, Malformed
from syncret.providers.values import SecretBytes
from tests.support.opened import NOW, Clock, Given, door_of
from tests.support.servers.akeyless.cloud_methods import AwsIam, AzureAd, Gcp
from tests.support.servers.akeyless.server import Akeyless
from tests.support.servers.azure.directory import MANAGEMENT, TENANT, Application, Trust
from tests.support.servers.azure.fixtures import cloud as azure
from tests.support.servers.azure.machine import HEADER
from tests.support.servers.azure.server import Azure
from tests.support.servers.google.logins import Issuer
from tests.support.servers.google.server import Google, google
from tests.support.servers.google.variables import variables
from tests.support.servers.sts import ACCOUNT, sts
from tests.unit.providers.akeyless.stores import opened

__all__ = ["azure"]

ISSUER = Issuer("https://cluster.example", frozenset())
SUBJECT = "system:serviceaccount:default:app"
AUDIENCE = "api://AzureADTokenExchange"
CLIENT, ANNOTATED_TENANT = "azure.workload.identity/client-id", "azure.workload.identity/tenant-id"
OBJECT = "9c0f6b7e-1f5d-4c5e-8f55-6d0a3b1f2e77"
ROLE = f"arn:aws:iam::{ACCOUNT}:role/daemon"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def at_google(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Google]:
    async with google(clock) as cloud:
        for name, value in variables(cloud).items():
            monkeypatch.setenv(name, value)
        yield cloud


async def logs_in(server: Akeyless, kind: str, parameter: str | None = None) -> None:
    """With the members that the vendor's client sends, if the settings name the server alone."""
    written = OwnIdentity(receivers={"akeyless": (OwnReceiver(url=server.url, stores="all"),)})
    async with opened(server, kind, parameter, door=door_of(written, strict=True)):
        pass
    [sent] = server.logins
    assert sent.keys() == {"access-id", "access-type", "cloud-id"}
    assert (sent["access-id"], sent["access-type"], server.refusals) == ("p-2", kind, [])


# -- AWS
async def test_the_keys_of_a_role_sign_for_akeyless(
    server: Akeyless, aws: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The token service that the daemon itself uses may be one that only the daemon reaches."""
    (tmp_path / "token").write_text("web-identity")
    aws.setenv("AWS_ROLE_ARN", ROLE)
    aws.setenv("AWS_WEB_IDENTITY_TOKEN_FILE", str(tmp_path / "token"))
    aws.setenv("AWS_REGION", "eu-west-1")
    async with sts() as service:
        service.roles["web-identity"] = ROLE
        aws.setenv("AWS_STS_ENDPOINT", f"{service.url}/")
        server.clouds["p-2"] = method = AwsIam(lambda: NOW, service.secrets, service.tokens)
        await logs_in(server, "aws_iam")

    [(url, _, headers)] = method.seen
    assert url == "https://sts.amazonaws.com/"
    assert headers["X-Amz-Security-Token"].startswith("token-")
    assert "Host" not in headers


@pytest.mark.parametrize(
    ("region", "host"),
    [
        pytest.param("", "sts.amazonaws.com", id="not named"),
        pytest.param("eu-central-1", "sts.amazonaws.com", id="public"),
        pytest.param("cn-north-1", "sts.cn-north-1.amazonaws.com.cn", id="China"),
        pytest.param("us-gov-west-1", "sts.us-gov-west-1.amazonaws.com", id="government"),
    ],
)
async def test_who_is_asked_about_the_keys_of_a_region(
    server: Akeyless, aws: pytest.MonkeyPatch, region: str, host: str
) -> None:
    aws.setenv("AWS_REGION", region)
    aws.setenv("AWS_ACCESS_KEY_ID", "AKIA1")
    aws.setenv("AWS_SECRET_ACCESS_KEY", "secret-of-AKIA1")
    server.clouds["p-2"] = method = AwsIam(lambda: NOW, {"AKIA1": "secret-of-AKIA1"})
    await logs_in(server, "aws_iam")

    assert [url for url, _, _ in method.seen] == [f"https://{host}/"]


async def test_a_region_is_no_way_to_another_server(
    server: Akeyless, aws: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "token").write_text("web-identity")
    aws.setenv("AWS_ROLE_ARN", ROLE)
    aws.setenv("AWS_WEB_IDENTITY_TOKEN_FILE", str(tmp_path / "token"))
    aws.setenv("AWS_REGION", "evil.example/#")
    with pytest.raises(Malformed, match="AWS_REGION is no region of AWS"):
        async with opened(server, "aws_iam"):
            pass


@pytest.mark.parametrize(
    ("secret", "moment"), [pytest.param("another", NOW, id="key"), pytest.param("mine", NOW + 901, id="old")]
)
async def test_the_server_refuses_what_aws_would(
    server: Akeyless, aws: pytest.MonkeyPatch, secret: str, moment: float
) -> None:
    aws.setenv("AWS_ACCESS_KEY_ID", "AKIA1")
    aws.setenv("AWS_SECRET_ACCESS_KEY", "mine")
    server.clouds["p-2"] = AwsIam(lambda: moment, {"AKIA1": secret})
    with pytest.raises(Denied, match=r"the login is refused \(HTTP 401\)") as caught:
        async with opened(server, "aws_iam"):
            pass

    assert server.refusals == ["SignatureDoesNotMatch"]
    assert "role and account at AWS" in caught.value.hint


# -- Azure
@pytest.mark.parametrize("of_app_service", [False, True])
async def test_a_managed_identity(
    server: Akeyless, azure: Azure, monkeypatch: pytest.MonkeyPatch, *, of_app_service: bool
) -> None:
    if of_app_service:
        monkeypatch.setenv("IDENTITY_ENDPOINT", f"{azure.url}/msi/token")
        monkeypatch.setenv("IDENTITY_HEADER", HEADER)
    azure.machine.own = azure.directory.register("daemon")
    server.clouds["p-2"] = method = AzureAd(azure.directory, azure.machine.own.client_id)
    await logs_in(server, "azure_ad")

    assert method.audiences == [MANAGEMENT]


async def test_the_managed_identity_of_an_object_id(server: Akeyless, azure: Azure) -> None:
    azure.machine.own = azure.directory.register("another")
    azure.machine.objects[OBJECT] = wanted = azure.directory.register("daemon")
    server.clouds["p-2"] = method = AzureAd(azure.directory, wanted.client_id)
    await logs_in(server, "azure_ad", OBJECT)

    assert method.audiences == [f"{MANAGEMENT}/"]


async def test_the_managed_identity_of_a_client_id(
    server: Akeyless, azure: Azure, monkeypatch: pytest.MonkeyPatch
) -> None:
    azure.machine.own = azure.directory.register("another")
    azure.machine.others["/id"] = wanted = azure.directory.register("daemon")
    monkeypatch.setenv("AZURE_CLIENT_ID", wanted.client_id)
    server.clouds["p-2"] = AzureAd(azure.directory, wanted.client_id)
    await logs_in(server, "azure_ad")


async def test_an_object_id_that_the_machine_does_not_have(server: Akeyless, azure: Azure) -> None:
    azure.machine.own = azure.directory.register("another")
    with pytest.raises(Malformed, match="there is no such identity here") as caught:
        async with opened(server, "azure_ad", "canary-object"):
            pass

    assert "the object ID in the Secret of authSecretRef.secretRef.accessTypeParam" in caught.value.hint
    assert "canary-object" not in f"{caught.value!r} {caught.value.hint}"


async def test_the_identity_of_the_daemons_pod(
    server: Akeyless, azure: Azure, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    wanted = _trusting(azure)
    (tmp_path / "token").write_text(ISSUER.token(SUBJECT, AUDIENCE, now=NOW))
    monkeypatch.setenv("AZURE_CLIENT_ID", wanted.client_id)
    monkeypatch.setenv("AZURE_TENANT_ID", TENANT)
    monkeypatch.setenv("AZURE_FEDERATED_TOKEN_FILE", str(tmp_path / "token"))
    server.clouds["p-2"] = AzureAd(azure.directory, wanted.client_id)
    await logs_in(server, "azure_ad")


@pytest.mark.parametrize("annotated", [True, False])
async def test_the_application_of_a_service_account(
    server: Akeyless, azure: Azure, monkeypatch: pytest.MonkeyPatch, *, annotated: bool
) -> None:
    """Nothing of the daemon's is used, so no rule is asked."""
    wanted = _trusting(azure)
    token = IssuedToken(SecretBytes(ISSUER.token(SUBJECT, AUDIENCE, now=NOW).encode()), NOW + 600)
    given = Given(tokens={"app": token})
    if annotated:
        given.annotations["app"] = {CLIENT: wanted.client_id, ANNOTATED_TENANT: TENANT}
    else:
        monkeypatch.setenv("AZURE_TENANT_ID", TENANT)
    server.clouds["p-2"] = AzureAd(azure.directory, wanted.client_id)
    parameter = None if annotated else wanted.client_id
    account: Json = {"name": "app", "audiences": ["more"]}
    door = door_of(OwnIdentity(), strict=True)
    async with opened(server, "azure_ad", parameter, account=account, given=given, door=door):
        pass

    assert given.asked == [("app", (AUDIENCE, "more"), 3600)]
    assert server.refusals == []


@pytest.mark.parametrize(
    ("annotations", "message", "hint"),
    [
        pytest.param({ANNOTATED_TENANT: TENANT}, "no application", CLIENT, id="client"),
        pytest.param({CLIENT: "c"}, "names no tenant", ANNOTATED_TENANT, id="tenant"),
    ],
)
async def test_an_annotation_that_is_missing(
    server: Akeyless, azure: Azure, annotations: dict[str, str], message: str, hint: str
) -> None:
    given = Given(annotations={"app": annotations})
    with pytest.raises(Malformed, match=message) as caught:
        async with opened(server, "azure_ad", account={"name": "app"}, given=given):
            pass

    assert hint in caught.value.hint
    assert azure.directory.requests == []


async def test_an_application_that_trusts_another(server: Akeyless, azure: Azure) -> None:
    wanted = _trusting(azure)
    token = IssuedToken(SecretBytes(ISSUER.token("another", AUDIENCE, now=NOW).encode()), NOW + 600)
    annotations = {CLIENT: wanted.client_id, ANNOTATED_TENANT: TENANT}
    given = Given(tokens={"app": token}, annotations={"app": annotations})
    with pytest.raises(Denied, match=r"logging in by the access type azure_ad.*AADSTS70021") as caught:
        async with opened(server, "azure_ad", account={"name": "app"}, given=given):
            pass

    assert caught.value.hint.startswith("check authSecretRef.serviceAccountRef: ")


@pytest.mark.parametrize(
    ("variable", "name", "resource"),
    [
        pytest.param(
            "AZURE_ENVIRONMENT", "AzureUSGovernment", "https://management.usgovcloudapi.net", id="US"
        ),
        pytest.param("AZURE_CLOUD", " azurechinacloud", "https://management.chinacloudapi.cn", id="China"),
        pytest.param("AZURE_ENVIRONMENT", "AzureStackHub", MANAGEMENT, id="unknown"),
    ],
)
async def test_other_clouds_of_azure(
    server: Akeyless, azure: Azure, monkeypatch: pytest.MonkeyPatch, variable: str, name: str, resource: str
) -> None:
    monkeypatch.setenv(variable, name)
    azure.directory.resources = {resource}
    azure.machine.own = azure.directory.register("daemon")
    server.clouds["p-2"] = AzureAd(azure.directory, azure.machine.own.client_id, resource)
    await logs_in(server, "azure_ad")


def _trusting(azure: Azure) -> Application:
    made = azure.directory.register("daemon")
    made.trusts.append(Trust(ISSUER, SUBJECT))
    return made


# -- Google
@pytest.mark.parametrize(("parameter", "audience"), [(None, "akeyless.io"), ("mine.example", "mine.example")])
async def test_an_identity_token(
    server: Akeyless, at_google: Google, parameter: str | None, audience: str
) -> None:
    at_google.machine.email = at_google.identity.account("machine")
    server.clouds["p-2"] = Gcp(at_google.identity.now, at_google.machine.email, audience)
    await logs_in(server, "gcp", parameter)


async def test_an_audience_that_the_auth_method_does_not_take(server: Akeyless, at_google: Google) -> None:
    at_google.machine.email = at_google.identity.account("machine")
    server.clouds["p-2"] = Gcp(at_google.identity.now, at_google.machine.email)
    with pytest.raises(Denied) as caught:
        async with opened(server, "gcp", "mine.example"):
            pass

    assert server.refusals == ["a token for another audience"]
    assert "the audience in accessTypeParam" in caught.value.hint


async def test_a_machine_without_an_account(server: Akeyless, at_google: Google) -> None:
    with pytest.raises(Malformed) as caught:
        async with opened(server, "gcp"):
            pass

    assert "authSecretRef.secretRef.accessType" in caught.value.hint
