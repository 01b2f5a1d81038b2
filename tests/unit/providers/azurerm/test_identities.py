"""As whom secrets are read: what a Secret may hold, and who may use the daemon's own identity."""

from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption
from cryptography.hazmat.primitives.serialization.pkcs12 import serialize_key_and_certificates

from syncret.config.meta import GroupKind
from syncret.providers.azurerm import SECRET_APIS
from syncret.providers.azurerm.identities import manager
from syncret.providers.errors import Denied, Malformed, SyncError
from syncret.providers.secret_apis import CallIdentity, CredentialName
from tests.support.jwts import private_key
from tests.support.opened import Clock
from tests.support.servers.azure import files
from tests.support.servers.azure.directory import MANAGEMENT, TENANT, Trust
from tests.support.servers.azure.server import Azure
from tests.support.servers.google.logins import Issuer
from tests.unit.providers.azurerm.resources import (
    NAMESPACE,
    application,
    context,
    identity,
    planned,
    read,
    resource,
)

KIND = "storage/StorageAccount"
CREDENTIAL_FROM = "serviceoperator.azure.com/credential-from"
AT = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Storage/storageAccounts/n"
ISSUER = Issuer("https://cluster.example", frozenset())
SUBJECT = "system:serviceaccount:syncret:syncret"


async def keys(cloud: Azure, clock: Clock, who: CallIdentity, *namespaces: str) -> dict[str, str]:
    """What is read as this identity; `namespaces` may use the daemon's own."""
    at = cloud.management.add("Microsoft.Storage/storageAccounts/n")
    async with SECRET_APIS.open(context(clock, *namespaces)) as reader:
        return await read(reader, resource(KIND, at), ["key1"], who)


@pytest.fixture
def pod(cloud: Azure, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The daemon runs in a pod with a workload identity; the client ID of an application that trusts it."""
    token = tmp_path / "token"
    token.write_text(ISSUER.token(SUBJECT, "api://AzureADTokenExchange", now=clock.time))
    monkeypatch.setenv("AZURE_FEDERATED_TOKEN_FILE", str(token))
    trusting = cloud.member("trusting")
    trusting.trusts.append(Trust(ISSUER, SUBJECT))
    return trusting.client_id


async def test_a_certificate_in_pem_or_with_a_password(cloud: Azure, clock: Clock) -> None:
    made = files.certificate("app")
    member = cloud.member("app")
    member.certificates.append(made)
    secured = serialize_key_and_certificates(
        b"app", private_key("app"), made, None, BestAvailableEncryption(b"a-password")
    )
    names = {"AZURE_TENANT_ID": TENANT.encode(), "AZURE_CLIENT_ID": member.client_id.encode()}
    proof, password = "AZURE_CLIENT_CERTIFICATE", "AZURE_CLIENT_CERTIFICATE_PASSWORD"

    assert await keys(cloud, clock, identity({**names, proof: files.pem(made, "app")}))
    assert await keys(cloud, clock, identity({**names, proof: secured, password: b"a-password"}))
    with pytest.raises(Malformed, match=f'key "{proof}" of Secret "aso-credential" holds no certificate'):
        await keys(cloud, clock, identity({**names, proof: secured, password: b"another"}))


@pytest.mark.parametrize(
    ("changes", "error", "message", "hint"),
    [
        pytest.param(
            {"AZURE_CLIENT_ID": ""}, Malformed, "has no AZURE_CLIENT_ID", "AZURE_TENANT_ID", id="client"
        ),
        pytest.param(
            {"AZURE_TENANT_ID": " "}, Malformed, "has no AZURE_TENANT_ID", "AZURE_TENANT_ID", id="tenant"
        ),
        pytest.param({"AZURE_CLIENT_SECRET": ""}, Malformed, "has no AZURE_CLIENT_SECRET", "", id="secret"),
        pytest.param(
            {"AZURE_CLIENT_SECRET": "no"}, Denied, "refuses", "AZURE_CLIENT_SECRET", id="wrong-secret"
        ),
        pytest.param(
            {"AZURE_TENANT_ID": "nowhere"}, Denied, "refuses", "check AZURE_TENANT_ID", id="no-tenant"
        ),
    ],
)
async def test_credentials_that_are_wrong_are_named(
    cloud: Azure, clock: Clock, changes: dict[str, str], error: type[SyncError], message: str, hint: str
) -> None:
    with pytest.raises(error, match=message) as caught:
        await keys(cloud, clock, identity(application(cloud) | changes))
    assert hint in caught.value.hint
    assert not cloud.management.calls


async def test_a_refused_login_is_not_sent_for_each_resource(cloud: Azure, clock: Clock) -> None:
    document = resource(KIND, cloud.management.add("Microsoft.Storage/storageAccounts/n"))
    right = application(cloud)
    wrong = identity(right | {"AZURE_CLIENT_SECRET": "no"})
    async with SECRET_APIS.open(context(clock)) as reader:
        for _ in range(20):
            with pytest.raises(Denied, match="refuses"):
                await read(reader, document, ["key1"], wrong)
        assert len(cloud.directory.requests) == 1
        assert await read(reader, document, ["key1"], identity(right, version="2"))
    assert len(cloud.directory.requests) == 2


@pytest.mark.parametrize("mode", [None, "workloadidentity", "WorkloadIdentity"])
async def test_an_application_that_trusts_the_daemons_pod(
    cloud: Azure, clock: Clock, pod: str, mode: str | None
) -> None:
    data = {"AZURE_TENANT_ID": TENANT, "AZURE_CLIENT_ID": pod} | ({"AUTH_MODE": mode} if mode else {})
    assert await keys(cloud, clock, identity(data), NAMESPACE)
    assert cloud.management.clients == [pod]


async def test_an_identity_of_the_machine(cloud: Azure, clock: Clock) -> None:
    member = cloud.member("machine")
    cloud.machine.others["/subscriptions/s/userAssignedIdentities/machine"] = member
    data = {"AZURE_TENANT_ID": TENANT, "AZURE_CLIENT_ID": member.client_id, "AUTH_MODE": "podidentity"}
    assert await keys(cloud, clock, identity(data), NAMESPACE)
    assert cloud.management.clients == [member.client_id]


async def test_an_unknown_mode_is_refused(cloud: Azure, clock: Clock) -> None:
    data = {"AZURE_TENANT_ID": TENANT, "AZURE_CLIENT_ID": "c", "AUTH_MODE": "magic"}
    with pytest.raises(Malformed, match="AUTH_MODE that is not known"):
        await keys(cloud, clock, identity(data), NAMESPACE)


async def test_the_daemons_own_identity_where_there_is_no_secret(cloud: Azure, clock: Clock) -> None:
    cloud.machine.own = cloud.member("daemon")
    assert await keys(cloud, clock, identity(None), NAMESPACE)
    assert cloud.management.clients == [cloud.machine.own.client_id]


async def test_the_daemons_own_workload_identity(
    cloud: Azure, clock: Clock, pod: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AZURE_CLIENT_ID", pod)
    monkeypatch.setenv("AZURE_TENANT_ID", TENANT)
    assert await keys(cloud, clock, identity(None), NAMESPACE)
    assert cloud.management.clients == [pod]


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(None, id="no-secret"),
        pytest.param({"AZURE_TENANT_ID": TENANT, "AZURE_CLIENT_ID": "c"}, id="the-daemons-token"),
        pytest.param(
            {"AZURE_TENANT_ID": TENANT, "AZURE_CLIENT_ID": "c", "AUTH_MODE": "podidentity"}, id="the-machine"
        ),
    ],
)
@pytest.mark.usefixtures("pod")
async def test_a_namespace_that_is_not_listed_does_not_get_the_daemons_identity(
    cloud: Azure, clock: Clock, data: dict[str, str] | None
) -> None:
    cloud.machine.own = cloud.member("daemon")
    with pytest.raises(Denied, match=f"exports of resources in namespace {NAMESPACE} must not use") as caught:
        await keys(cloud, clock, identity(data), "platform")
    assert "ownIdentity.azure.exportNamespaces" in caught.value.hint
    assert (cloud.directory.requests, cloud.machine.asked, cloud.management.calls) == ([], [], [])


async def test_one_login_of_the_daemon_opens_no_door_to_others(cloud: Azure, clock: Clock) -> None:
    cloud.machine.own = cloud.member("daemon")
    document = resource(KIND, cloud.management.add("Microsoft.Storage/storageAccounts/n"))
    async with SECRET_APIS.open(context(clock, "platform")) as reader:
        assert await read(reader, document, ["key1"], identity(None, namespace="platform"))
        with pytest.raises(Denied):
            await read(reader, document, ["key1"], identity(None))
    assert len(cloud.management.calls) == 1


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        pytest.param(None, [CredentialName("aso-credential", required=False)], id="none"),
        pytest.param("team", [CredentialName("team", required=True)], id="a-name"),
        pytest.param("team-b/team", [], id="another-namespace"),
        pytest.param("", [], id="empty"),
    ],
)
def test_where_credentials_are_looked_for(annotation: str | None, expected: list[CredentialName]) -> None:
    annotations = {} if annotation is None else {CREDENTIAL_FROM: annotation}
    assert SECRET_APIS.credentials(resource(KIND, AT, annotations=annotations)) == expected


@pytest.mark.parametrize(
    ("annotation", "message"),
    [
        pytest.param(
            "team-b/aso-credential", "a Secret must be in the resource's own namespace", id="another"
        ),
        pytest.param("../secrets/x", "a Secret must be in the resource's own namespace", id="a-path"),
        pytest.param("", "is '', which is no name", id="empty"),
        pytest.param("Team", "is 'Team', which is no name", id="no-name"),
    ],
)
def test_an_annotation_that_leads_elsewhere_is_refused_before_any_call(annotation: str, message: str) -> None:
    with pytest.raises(Denied, match=message):
        planned(resource(KIND, AT, annotations={CREDENTIAL_FROM: annotation}), ["key1"])
    assert (
        planned(resource(KIND, AT, annotations={CREDENTIAL_FROM: annotation}), ["blobEndpoint"]).calls == ()
    )


def test_the_clouds_endpoints_are_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "AZURE_AUTHORITY_HOST",
        "AZURE_RESOURCE_MANAGER_AUDIENCE",
        "AZURE_RESOURCE_MANAGER_ENDPOINT",
    ):
        monkeypatch.delenv(name, raising=False)
    assert manager() == ("https://login.microsoftonline.com", MANAGEMENT, MANAGEMENT)
    monkeypatch.setenv("AZURE_RESOURCE_MANAGER_ENDPOINT", "https://management.usgovcloudapi.net/")
    assert manager()[1:] == ("https://management.usgovcloudapi.net",) * 2


def test_a_kind_of_azure_that_is_not_known_has_no_plan() -> None:
    assert SECRET_APIS.plan(GroupKind("storage.azure.com", "StorageAccountsBlobService"), {}, None) is None
