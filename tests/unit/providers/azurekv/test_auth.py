"""Every way to log in to Azure, on a server that verifies what it is given; how tokens are held."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from cryptography.hazmat.primitives.serialization import PrivateFormat

from syncret.config.fields import ServiceAccountSelector
from syncret.providers.azurekv.spec import AzureSecretRef
from syncret.providers.contract import IssuedToken
from syncret.providers.errors import Denied, Malformed, SyncError, Unavailable
from syncret.providers.values import RemoteKey, RemoteRef, SecretBytes
from tests.support.opened import NOW, Clock, Given
from tests.support.servers.azure.directory import HOUR, OTHER_TENANT, TENANT, Application, Trust
from tests.support.servers.azure.files import certificate, pem, pfx
from tests.support.servers.azure.machine import HEADER
from tests.support.servers.azure.server import Azure
from tests.support.servers.google.logins import Issuer
from tests.unit.providers.azurekv.stores import SECRET, key, opened, read, reads, seed

ISSUER = Issuer("https://cluster.example", frozenset())
SUBJECT = "system:serviceaccount:default:app"
AUDIENCE = "api://AzureADTokenExchange"
ACCOUNT = ServiceAccountSelector(name="app", audiences=("more",))
CLIENT, ANNOTATED_TENANT = "azure.workload.identity/client-id", "azure.workload.identity/tenant-id"
BY_CERTIFICATE = AzureSecretRef(client_id=key("id"), client_certificate=key("certificate"))
NO_CREDENTIALS = AzureSecretRef()
PATH = "/subscriptions/1/resourcegroups/g/providers/Microsoft.ManagedIdentity/userAssignedIdentities/web"


# -- tokens
async def test_one_login_serves_all_who_come(cloud: Azure, given: Given, clock: Clock) -> None:
    seed(cloud, "db", "one")
    async with opened(cloud, given, clock) as client:
        cloud.directory.expire_tokens()
        answers = await asyncio.gather(*(client.fetch([RemoteKey("db")]) for _ in range(100)))

    assert all(not isinstance(answer[RemoteKey("db")], SyncError) for answer in answers)
    assert len(cloud.directory.logins) == 2


async def test_a_token_is_renewed_before_its_end(cloud: Azure, given: Given, clock: Clock) -> None:
    seed(cloud, "db", "one")
    async with opened(cloud, given, clock) as client:
        clock.time += HOUR - 120
        await read(client, RemoteRef("db"))
        before = len(cloud.directory.logins)
        clock.time += 90
        await read(client, RemoteRef("db"))

    assert (before, len(cloud.directory.logins)) == (1, 2)


async def test_a_vault_of_another_tenant_says_so(cloud: Azure, given: Given, clock: Clock) -> None:
    cloud.vault.tenant = OTHER_TENANT
    with pytest.raises(Denied, match="does not accept the token") as caught:
        await reads(cloud, given, clock)

    assert OTHER_TENANT in caught.value.hint
    assert len(cloud.directory.logins) == 2, "another login was tried, once"


# -- service principals
@pytest.mark.parametrize(
    ("tenant", "secret", "status", "field"),
    [
        pytest.param(
            TENANT, b"wrong", "HTTP 401, AADSTS7000215", "authSecretRef.clientSecret", id="wrong secret"
        ),
        pytest.param(
            TENANT, b"old", "HTTP 401, AADSTS7000222", "authSecretRef.clientSecret", id="expired secret"
        ),
        pytest.param(
            OTHER_TENANT,
            SECRET.encode(),
            "HTTP 400, AADSTS700016",
            "authSecretRef.clientId",
            id="another tenant",
        ),
        pytest.param(
            "11111111-1111-4111-8111-111111111111",
            b"x",
            "HTTP 400, AADSTS90002",
            "tenantId",
            id="no such tenant",
        ),
    ],
)
async def test_logins_that_are_refused(
    cloud: Azure, given: Given, clock: Clock, tenant: str, secret: bytes, status: str, field: str
) -> None:
    [application] = cloud.directory.applications.values()
    application.expired.add("old")
    given.secrets["login"] = {**given.secrets["login"], "secret": secret}
    with pytest.raises(Denied) as caught:
        await reads(cloud, given, clock, tenant_id=tenant)

    assert caught.value.message == (
        f"logging in by ServicePrincipal as application {application.client_id}: "
        f"Microsoft Entra ID refuses ({status})"
    )
    assert caught.value.hint.startswith(f"check {field}: ")
    assert SECRET not in str(vars(caught.value))


async def test_a_login_page_is_no_login(cloud: Azure, given: Given, clock: Clock) -> None:
    page = "<html>canary"
    with (
        cloud.failing(
            lambda request: web.Response(text=page, status=400) if "oauth2" in request.path else None
        ),
        pytest.raises(Denied, match="HTTP 400") as caught,
    ):
        await reads(cloud, given, clock)

    assert "canary" not in str(vars(caught.value))


@pytest.mark.parametrize(
    "document",
    [
        pytest.param({"error": "temporarily_unavailable", "error_codes": [90033]}, id="the word"),
        pytest.param({"error": "invalid_request", "error_codes": [90033]}, id="the number"),
    ],
)
async def test_a_directory_that_is_down_is_no_refusal(
    cloud: Azure, given: Given, clock: Clock, document: dict[str, Any]
) -> None:
    answer = web.json_response
    with (
        cloud.failing(lambda request: answer(document, status=400) if "oauth2" in request.path else None),
        pytest.raises(Unavailable, match="AADSTS90033"),
    ):
        await reads(cloud, given, clock)


@pytest.mark.parametrize("form", ["PKCS8", "PKCS1", "PKCS12"])
async def test_client_certificates(cloud: Azure, given: Given, clock: Clock, form: str) -> None:
    [application] = cloud.directory.applications.values()
    made = certificate("web")
    application.certificates.append(made)
    forms = {
        "PKCS8": pem(made, "web"),
        "PKCS1": pem(made, "web", PrivateFormat.TraditionalOpenSSL),
        "PKCS12": pfx(made, "web"),
    }
    given.secrets["login"] = {**given.secrets["login"], "certificate": forms[form]}

    assert await reads(cloud, given, clock, auth_secret_ref=BY_CERTIFICATE) == b"one"
    assert await reads(cloud, given, clock, auth_secret_ref=BY_CERTIFICATE, tenant_id="adfs") == b"one"
    application.certificates.clear()
    with pytest.raises(Denied, match="AADSTS700027") as caught:
        await reads(cloud, given, clock, auth_secret_ref=BY_CERTIFICATE)
    assert caught.value.hint.startswith("check authSecretRef.clientCertificate: ")


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(b"canary", id="neither"),
        pytest.param(b"-----BEGIN CERTIFICATE-----\ncanary\n-----END CERTIFICATE-----\n", id="broken"),
        pytest.param(pem(certificate("web"), "another"), id="they do not fit"),
        pytest.param(pem(certificate("web"), "web").partition(b"-----BEGIN PRIVATE")[0], id="no key"),
    ],
)
async def test_what_is_no_client_certificate(
    cloud: Azure, given: Given, clock: Clock, document: bytes
) -> None:
    given.secrets["login"] = {**given.secrets["login"], "certificate": document}
    with pytest.raises(Malformed, match='key "certificate" of Secret "login" holds no certificate') as caught:
        await reads(cloud, given, clock, auth_secret_ref=BY_CERTIFICATE)

    assert "canary" not in str(vars(caught.value)) + repr(caught.value.__context__)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        pytest.param({"tenant_id": None}, "missing tenantID in store config", id="tenant"),
        pytest.param(
            {"auth_secret_ref": NO_CREDENTIALS}, "missing accessKeyID/secretAccessKey", id="nothing"
        ),
        pytest.param(
            {"auth_secret_ref": AzureSecretRef(client_id=key("id"))},
            "missing accessKeyID/secretAccessKey",
            id="no proof",
        ),
        pytest.param(
            {
                "auth_secret_ref": AzureSecretRef(
                    client_id=key("id"), client_secret=key("id"), client_certificate=key("id")
                )
            },
            "both clientSecret and clientCredentials set",
            id="both",
        ),
    ],
)
async def test_incomplete_principals(
    cloud: Azure, given: Given, clock: Clock, spec: dict[str, Any], message: str
) -> None:
    with pytest.raises(Malformed, match=message):
        await reads(cloud, given, clock, **spec)


# -- managed identities
async def test_managed_identities(cloud: Azure, clock: Clock) -> None:
    cloud.machine.own, cloud.machine.others[PATH] = cloud.member("machine"), cloud.member("web")
    web_client = cloud.machine.others[PATH].client_id
    for identity in (None, web_client, PATH):
        spec = {"auth_type": "ManagedIdentity", "identity_id": identity, "tenant_id": None}
        assert await reads(cloud, Given(), clock, **spec) == b"one"
    assert cloud.directory.logins == [cloud.machine.own.client_id, web_client, web_client]

    with pytest.raises(Malformed, match="no such identity here") as caught:
        await reads(cloud, Given(), clock, auth_type="ManagedIdentity", identity_id="another")
    assert "another" in caught.value.hint


@pytest.mark.parametrize(
    ("place", "status", "error", "expected"),
    [
        pytest.param("metadata", 404, Unavailable, "is being updated, or has no such identity", id="no page"),
        pytest.param("metadata", 410, Unavailable, "is being updated", id="gone"),
        pytest.param("metadata", 400, Malformed, "no such identity here", id="refused"),
        pytest.param("msi", 404, Malformed, "no such identity here", id="no page of an App Service"),
    ],
)
async def test_a_managed_identity_that_is_not_given(
    cloud: Azure,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
    place: str,
    status: int,
    error: type[SyncError],
    expected: str,
) -> None:
    if place == "msi":
        monkeypatch.setenv("IDENTITY_ENDPOINT", f"{cloud.url}/msi/token")
        monkeypatch.setenv("IDENTITY_HEADER", HEADER)

    def answer(request: web.Request) -> web.StreamResponse | None:
        return web.Response(status=status) if request.path.startswith(f"/{place}/") else None

    with cloud.failing(answer), pytest.raises(error, match=expected) as caught:
        await reads(cloud, Given(), clock, auth_type="ManagedIdentity", identity_id="web")

    assert "is identityId web assigned" in caught.value.hint or status == 410


async def test_managed_identities_of_app_services(
    cloud: Azure, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IDENTITY_ENDPOINT", f"{cloud.url}/msi/token")
    monkeypatch.setenv("IDENTITY_HEADER", HEADER)
    cloud.machine.own, cloud.machine.others[PATH] = cloud.member("machine"), cloud.member("web")

    assert await reads(cloud, Given(), clock, auth_type="ManagedIdentity", identity_id=PATH) == b"one"
    assert cloud.directory.logins == [cloud.machine.others[PATH].client_id]


async def test_a_token_that_a_machine_kept_is_renewed_before_its_end(
    cloud: Azure, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """App Service says when a token ends, and not how long it is good for."""
    monkeypatch.setenv("IDENTITY_ENDPOINT", f"{cloud.url}/msi/token")
    monkeypatch.setenv("IDENTITY_HEADER", HEADER)
    cloud.machine.own, cloud.machine.left = cloud.member("machine"), 300
    seed(cloud, "db", "one")
    async with opened(cloud, Given(), clock, auth_type="ManagedIdentity") as client:
        clock.time += 290
        assert await read(client, RemoteRef("db")) == b"one"

    assert len(cloud.directory.logins) == 2
    assert cloud.vault.calls == ["GET secrets/db"], "no call was refused"


async def test_no_machine_at_azure(cloud: Azure, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_POD_IDENTITY_AUTHORITY_HOST", "http://127.0.0.1:1")
    with pytest.raises(Unavailable) as caught:
        await reads(cloud, Given(), clock, auth_type="ManagedIdentity")

    assert "identity" in caught.value.hint


# -- workloads
@pytest.fixture
def workload(cloud: Azure) -> Application:
    """Trusts the ServiceAccount `app`."""
    made = cloud.member("workload")
    made.trusts.append(Trust(ISSUER, SUBJECT))
    return made


def issued() -> IssuedToken:
    text = ISSUER.token(SUBJECT, AUDIENCE, "more", now=NOW)
    return IssuedToken(SecretBytes(text.encode()), NOW + 600)


def account(**annotations: str) -> Given:
    return Given(annotations={"app": annotations}, tokens={"app": issued()})


WORKLOAD: dict[str, Any] = {"auth_type": "WorkloadIdentity", "service_account_ref": ACCOUNT}


async def test_a_service_account_that_is_annotated(cloud: Azure, clock: Clock, workload: Application) -> None:
    given = account(**{CLIENT: workload.client_id, ANNOTATED_TENANT: TENANT})
    found = await reads(cloud, given, clock, **WORKLOAD, tenant_id=None, auth_secret_ref=NO_CREDENTIALS)

    assert found == b"one"
    assert given.asked == [("app", (AUDIENCE, "more"), 3600)]
    assert cloud.directory.logins == [workload.client_id]


async def test_ids_from_secrets_and_the_environment(
    cloud: Azure, clock: Clock, workload: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = account()
    given.secrets["login"] = {"id": workload.client_id.encode(), "tenant": TENANT.encode() + b"\n"}
    ref = AzureSecretRef(client_id=key("id"), tenant_id=key("tenant"))
    assert await reads(cloud, given, clock, **WORKLOAD, tenant_id=None, auth_secret_ref=ref) == b"one"

    monkeypatch.setenv("AZURE_TENANT_ID", TENANT)
    ref = AzureSecretRef(client_id=key("id"))
    assert await reads(cloud, given, clock, **WORKLOAD, tenant_id=None, auth_secret_ref=ref) == b"one"


@pytest.mark.parametrize(
    ("annotations", "spec", "message"),
    [
        pytest.param({}, {"auth_secret_ref": NO_CREDENTIALS}, "missing clientID", id="no client"),
        pytest.param(
            {CLIENT: "c"},
            {"auth_secret_ref": NO_CREDENTIALS, "tenant_id": None},
            "missing tenantID",
            id="no tenant",
        ),
        pytest.param({CLIENT: "another"}, {}, "multiple clientID found", id="two clients"),
        pytest.param({ANNOTATED_TENANT: "another"}, {}, "multiple tenantID found", id="two tenants"),
    ],
)
async def test_incomplete_workloads(
    cloud: Azure, given: Given, clock: Clock, annotations: dict[str, str], spec: dict[str, Any], message: str
) -> None:
    given.annotations["app"] = annotations
    with pytest.raises(Malformed, match=message):
        await reads(cloud, given, clock, **{**WORKLOAD, **spec})


async def test_the_pod_of_the_daemon(
    cloud: Azure, clock: Clock, workload: Application, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    spec = {"auth_type": "WorkloadIdentity", "tenant_id": None, "auth_secret_ref": NO_CREDENTIALS}
    with pytest.raises(Malformed, match="missing environment variables"):
        await reads(cloud, Given(), clock, **spec)

    file = tmp_path / "token"
    file.write_bytes(issued().token.raw + b"\n")
    variables = {"CLIENT_ID": workload.client_id, "TENANT_ID": TENANT, "FEDERATED_TOKEN_FILE": str(file)}
    for name, value in variables.items():
        monkeypatch.setenv(f"AZURE_{name}", value)
    assert await reads(cloud, Given(), clock, **spec) == b"one"


async def test_a_workload_that_is_not_trusted(cloud: Azure, clock: Clock, workload: Application) -> None:
    workload.trusts[0].subject = "another"
    with pytest.raises(Denied, match="AADSTS70021") as caught:
        await reads(
            cloud, account(**{CLIENT: workload.client_id}), clock, **WORKLOAD, auth_secret_ref=NO_CREDENTIALS
        )

    assert caught.value.message.startswith("logging in by WorkloadIdentity as application ")
    assert caught.value.hint.startswith("check serviceAccountRef: no federated credential")
