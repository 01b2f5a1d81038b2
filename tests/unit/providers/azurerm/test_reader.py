"""Every row of the table against the server: one call for each API, and its names with their values."""

from collections.abc import Mapping
from functools import partial
from itertools import product
from typing import Any

import pytest
from aiohttp import web
from msgspec.structs import replace

from syncret.config.fields import Json
from syncret.config.meta import GroupKind
from syncret.providers.azurerm import SECRET_APIS
from syncret.providers.azurerm.types import TYPES
from syncret.providers.errors import Denied, Malformed, SyncError, Throttled
from syncret.providers.kit.retry import ONCE, retried
from syncret.providers.network import Egress, Network
from tests.support.opened import Clock
from tests.support.servers.azure.management import SUBSCRIPTION
from tests.support.servers.azure.server import Azure
from tests.unit.providers.azurerm.resources import (
    SECRET,
    application,
    context,
    identity,
    planned,
    read,
    resource,
)

PAIR = {"primaryKey": "primaryKey", "secondaryKey": "secondaryKey"}
PK4 = {
    **PAIR,
    "primaryConnectionString": "primaryConnectionString",
    "secondaryConnectionString": "secondaryConnectionString",
}
KEYS = {"key1": "key1", "key2": "key2"}
HUB = {
    "iotHubOwner": "iothubowner",
    "service": "service",
    "device": "device",
    "registryRead": "registryRead",
    "registryReadWrite": "registryReadWrite",
}
STORE = {
    "primary": "Primary",
    "secondary": "Secondary",
    "primaryReadOnly": "Primary Read Only",
    "secondaryReadOnly": "Secondary Read Only",
}

ROWS: list[tuple[str, str, list[str], Mapping[str, str]]] = [
    ("storage/StorageAccount", "Microsoft.Storage/storageAccounts/n", ["listKeys"], KEYS),
    ("cache/Redis", "Microsoft.Cache/redis/n", ["listKeys"], PAIR),
    ("cache/RedisEnterpriseDatabase", "Microsoft.Cache/redisEnterprise/c/databases/n", ["listKeys"], PAIR),
    (
        "documentdb/DatabaseAccount",
        "Microsoft.DocumentDB/databaseAccounts/n",
        ["listKeys"],
        {
            name: name
            for name in (
                "primaryMasterKey",
                "secondaryMasterKey",
                "primaryReadonlyMasterKey",
                "secondaryReadonlyMasterKey",
            )
        },
    ),
    (
        "containerservice/ManagedCluster",
        "Microsoft.ContainerService/managedClusters/n",
        ["listClusterAdminCredential", "listClusterUserCredential"],
        {"adminCredentials": "clusterAdmin", "userCredentials": "clusterUser"},
    ),
    (
        "redhatopenshift/OpenShiftCluster",
        "Microsoft.RedHatOpenShift/openShiftClusters/n",
        ["listAdminCredentials", "listCredentials"],
        {"adminCredentials": "kubeconfig", "username": "kubeadminUsername", "password": "kubeadminPassword"},
    ),
    (
        "search/SearchService",
        "Microsoft.Search/searchServices/n",
        ["listQueryKeys", "listQueryKeys", "listAdminKeys"],
        {"queryKey": "query", "adminPrimaryKey": "primaryKey", "adminSecondaryKey": "secondaryKey"},
    ),
    (
        "devices/IotHub",
        "Microsoft.Devices/IotHubs/n",
        ["listkeys"] * 3,
        {
            f"{name}{key}": f"{rule}-{which}"
            for name, rule in HUB.items()
            for key, which in (("PrimaryKey", "primary"), ("SecondaryKey", "secondary"))
        },
    ),
    (
        "appconfiguration/ConfigurationStore",
        "Microsoft.AppConfiguration/configurationStores/n",
        ["listKeys"] * 2,
        {
            f"{name}{key}": f"{entry}-{which}"
            for name, entry in STORE.items()
            for key, which in (("Key", "value"), ("KeyID", "id"), ("ConnectionString", "connection"))
        },
    ),
    ("cognitiveservices/Account", "Microsoft.CognitiveServices/accounts/n", ["listKeys"], KEYS),
    ("eventgrid/Topic", "Microsoft.EventGrid/topics/n", ["listKeys"], KEYS),
    ("eventhub/Namespace", "Microsoft.EventHub/namespaces/n", ["listKeys"], PK4),
    (
        "eventhub/NamespacesAuthorizationRule",
        "Microsoft.EventHub/namespaces/s/authorizationRules/n",
        ["listKeys"],
        PK4,
    ),
    (
        "eventhub/NamespacesEventhubsAuthorizationRule",
        "Microsoft.EventHub/namespaces/s/eventhubs/e/authorizationRules/n",
        ["listKeys"],
        PK4,
    ),
    ("servicebus/Namespace", "Microsoft.ServiceBus/namespaces/n", ["listKeys"], PK4),
    (
        "servicebus/NamespacesAuthorizationRule",
        "Microsoft.ServiceBus/namespaces/s/AuthorizationRules/n",
        ["listKeys"],
        PK4,
    ),
    (
        "servicebus/TopicAuthorizationRule",
        "Microsoft.ServiceBus/namespaces/s/topics/t/authorizationRules/n",
        ["ListKeys"],
        PK4,
    ),
    ("notificationhubs/Namespace", "Microsoft.NotificationHubs/namespaces/n", ["listKeys"], PK4),
    (
        "notificationhubs/NotificationHub",
        "Microsoft.NotificationHubs/namespaces/s/notificationHubs/n",
        ["listKeys"],
        PK4,
    ),
    ("signalrservice/SignalR", "Microsoft.SignalRService/signalR/n", ["listKeys"], PK4),
    ("signalrservice/WebPubSub", "Microsoft.SignalRService/webPubSub/n", ["listKeys"], PK4),
    (
        "communication/CommunicationService",
        "Microsoft.Communication/communicationServices/n",
        ["listKeys"],
        PK4,
    ),
    (
        "apimanagement/Subscription",
        "Microsoft.ApiManagement/service/s/subscriptions/n",
        ["listSecrets"],
        PAIR,
    ),
    (
        "apimanagement/ServiceGateway",
        "Microsoft.ApiManagement/service/s/gateways/n",
        ["listKeys"],
        {"primaryKey": "primary", "secondaryKey": "secondary"},
    ),
    (
        "machinelearningservices/Workspace",
        "Microsoft.MachineLearningServices/workspaces/n",
        ["listKeys"],
        {
            "appInsightsInstrumentationKey": "appInsightsInstrumentationKey",
            "userStorageKey": "userStorageKey",
            "primaryNotebookAccessKey": "primaryAccessKey",
            "secondaryNotebookAccessKey": "secondaryAccessKey",
            "containerRegistryUserName": "username",
            "containerRegistryPassword": "password",
            "containerRegistryPassword2": "password2",
        },
    ),
    (
        "operationalinsights/Workspace",
        "Microsoft.OperationalInsights/workspaces/n",
        ["sharedKeys"],
        {"primarySharedKey": "primarySharedKey", "secondarySharedKey": "secondarySharedKey"},
    ),
    (
        "containerregistry/Registry",
        "Microsoft.ContainerRegistry/registries/n",
        ["listCredentials"],
        {"username": "username", "password": "password", "password2": "password2"},
    ),
    (
        "automation/AutomationAccount",
        "Microsoft.Automation/automationAccounts/n",
        ["listKeys"],
        {"primaryKey": "Primary", "secondaryKey": "Secondary"},
    ),
]


def test_every_type_that_has_an_api_is_read() -> None:
    called = {f"{each.group.removesuffix('.azure.com')}/{each.kind}" for each in TYPES if each.calls}
    assert {kind for kind, *_ in ROWS} == called


async def test_each_type_has_its_names_by_one_login_and_a_call_for_each_page(
    cloud: Azure, clock: Clock
) -> None:
    who = identity(application(cloud))
    async with SECRET_APIS.open(context(clock)) as reader:
        for kind, path, actions, names in ROWS:
            at = cloud.management.add(path)
            cloud.management.calls.clear()
            found = await read(reader, resource(kind, at), None, who)
            expected = {name: cloud.management.secret(at, value) for name, value in names.items()}
            assert (kind, found) == (kind, expected)
            assert [call.partition(" ")[0] for call in cloud.management.calls] == actions, kind
    assert len(cloud.directory.logins) == 1


@pytest.mark.parametrize(
    ("names", "calls"),
    [
        pytest.param([], [], id="none"),
        pytest.param(["adminCredentials"], ["listClusterAdminCredential n"], id="admin"),
        pytest.param(["userCredentials"], ["listClusterUserCredential n"], id="user"),
        pytest.param(
            ["userCredentials", "adminCredentials"],
            ["listClusterAdminCredential n", "listClusterUserCredential n"],
            id="both",
        ),
    ],
)
async def test_only_what_serves_a_name_is_called(
    cloud: Azure, clock: Clock, names: list[str], calls: list[str]
) -> None:
    at = cloud.management.add("Microsoft.ContainerService/managedClusters/n")
    async with SECRET_APIS.open(context(clock)) as reader:
        found = await read(
            reader, resource("containerservice/ManagedCluster", at), names, identity(application(cloud))
        )
    assert set(found) == set(names)
    assert cloud.management.calls == calls
    assert len(cloud.directory.logins) == bool(calls)


STATUS: dict[str, Any] = {"hostName": "c.redis.example", "sslPort": 6380, "port": None}


@pytest.mark.parametrize(
    ("names", "known", "apis"),
    [
        pytest.param(["sslPort"], {"sslPort": "6380"}, [], id="a-number"),
        pytest.param(["port", "hostName"], {"hostName": "c.redis.example"}, [], id="one-is-absent"),
        pytest.param(["sslPort", "primaryKey"], {"sslPort": "6380"}, ["listKeys"], id="with-a-secret"),
        pytest.param(None, {"sslPort": "6380", "hostName": "c.redis.example"}, ["listKeys"], id="all"),
    ],
)
def test_what_the_status_has_needs_no_call(
    names: list[str] | None, known: dict[str, str], apis: list[str]
) -> None:
    at = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Cache/redis/c"
    plan = planned(resource("cache/Redis", at, **STATUS), names)
    assert plan.known == known
    assert [call.api for call in plan.calls] == apis


def test_the_subscription_of_an_identity_is_a_part_of_its_id() -> None:
    at = "/subscriptions/S/resourceGroups/g/providers/Microsoft.ManagedIdentity/userAssignedIdentities/i"
    plan = planned(resource("managedidentity/UserAssignedIdentity", at, clientId="c"), None)
    assert plan == ({"clientId": "c", "subscriptionId": "s"}, ())


def test_a_kind_without_an_api_has_no_plan() -> None:
    kind = GroupKind("network.azure.com", "VirtualNetwork")
    assert SECRET_APIS.plan(kind, resource("network/VirtualNetwork"), None) is None


async def test_another_version_of_the_secret_is_another_login(cloud: Azure, clock: Clock) -> None:
    document = resource("storage/StorageAccount", cloud.management.add("Microsoft.Storage/storageAccounts/n"))
    first, second = application(cloud), application(cloud, "other")
    async with SECRET_APIS.open(context(clock)) as reader:
        for data, version in ((first, "1"), (first, "1"), (second, "2")):
            await read(reader, document, ["key1"], identity(data, version=version))
    assert cloud.directory.logins == [first["AZURE_CLIENT_ID"], second["AZURE_CLIENT_ID"]]


async def test_a_token_that_ended_is_renewed(cloud: Azure, clock: Clock) -> None:
    document = resource("storage/StorageAccount", cloud.management.add("Microsoft.Storage/storageAccounts/n"))
    who = identity(application(cloud))
    async with SECRET_APIS.open(context(clock)) as reader:
        await read(reader, document, ["key1"], who)
        cloud.directory.expire_tokens()
        await read(reader, document, ["key1"], who)
    assert len(cloud.directory.logins) == 2


@pytest.mark.parametrize(
    ("status", "body", "error", "message"),
    [
        pytest.param(
            404, {"error": {"code": "ResourceNotFound"}}, Malformed, "does not know the resource", id="gone"
        ),
        pytest.param(404, "nothing", Malformed, "not from Azure Resource Manager", id="a-proxys-404"),
        pytest.param(409, {"error": {"code": "ScopeLocked"}}, Denied, "a lock forbids it", id="locked"),
        pytest.param(
            403, {"error": {"code": "AuthorizationFailed"}}, Denied, "permission denied", id="forbidden"
        ),
        pytest.param(401, {}, Denied, "does not accept the token", id="another-tenant"),
        pytest.param(400, {}, Malformed, "HTTP 400", id="bad-request"),
        pytest.param(200, "<html>", Malformed, "the answer is", id="no-json"),
    ],
)
async def test_what_azure_refuses(
    cloud: Azure, clock: Clock, status: int, body: object, error: type[SyncError], message: str
) -> None:
    document = resource("storage/StorageAccount", cloud.management.add("Microsoft.Storage/storageAccounts/n"))

    def fault(request: web.Request) -> web.Response | None:
        if "providers" not in request.path:
            return None
        return (
            web.Response(text=body, status=status)
            if isinstance(body, str)
            else web.json_response(body, status=status)
        )

    async with SECRET_APIS.open(context(clock)) as reader:
        with cloud.failing(fault), pytest.raises(error, match=message):
            await read(reader, document, ["key1"], identity(application(cloud)))


async def test_a_subscription_that_asks_for_fewer_calls_is_left_alone_until_then(
    cloud: Azure, clock: Clock
) -> None:
    at, elsewhere = (
        cloud.management.add("Microsoft.Storage/storageAccounts/n", subscription)
        for subscription in (SUBSCRIPTION, "another")
    )
    who = identity(application(cloud))
    async with SECRET_APIS.open(context(clock)) as reader:
        cloud.management.remaining = 0
        for _ in range(3):
            with pytest.raises(Throttled) as caught:
                await read(reader, resource("storage/StorageAccount", at), ["key1"], who)
            assert caught.value.retry_after is not None
            assert cloud.management.retry_after - 1 < caught.value.retry_after <= cloud.management.retry_after
        cloud.management.remaining = 1
        await read(reader, resource("storage/StorageAccount", elsewhere), ["key1"], who)
    assert cloud.management.throttled == 1
    assert cloud.management.calls == ["listKeys n"]


async def test_a_call_without_an_answer_is_made_again(cloud: Azure, clock: Clock) -> None:
    document = resource("storage/StorageAccount", cloud.management.add("Microsoft.Storage/storageAccounts/n"))
    failures = [web.Response(status=502)]

    def fault(request: web.Request) -> web.Response | None:
        return failures.pop() if failures and "providers" in request.path else None

    async with SECRET_APIS.open(context(clock)) as reader:
        with cloud.failing(fault):
            assert await read(reader, document, ["key1"], identity(application(cloud)))


async def test_an_answer_without_end_is_not_read(cloud: Azure, clock: Clock) -> None:
    document = resource("storage/StorageAccount", cloud.management.add("Microsoft.Storage/storageAccounts/n"))

    def fault(request: web.Request) -> web.Response | None:
        return web.Response(body=b" " * (2 << 20)) if "providers" in request.path else None

    async with SECRET_APIS.open(context(clock)) as reader:
        with cloud.failing(fault), pytest.raises(SyncError, match="larger than"):
            await read(reader, document, ["key1"], identity(application(cloud)))


async def test_a_list_that_leads_to_another_server_is_not_followed(cloud: Azure, clock: Clock) -> None:
    document = resource("devices/IotHub", cloud.management.add("Microsoft.Devices/IotHubs/n"))

    def fault(request: web.Request) -> web.Response | None:
        page: Json = {"value": [], "nextLink": "https://elsewhere.example/next"}
        return web.json_response(page) if "providers" in request.path else None

    async with SECRET_APIS.open(context(clock)) as reader:
        with cloud.failing(fault), pytest.raises(Malformed, match="next page is on another server"):
            await read(reader, document, ["devicePrimaryKey"], identity(application(cloud)))


async def test_a_server_that_the_settings_forbid_is_not_reached(cloud: Azure, clock: Clock) -> None:
    document = resource("storage/StorageAccount", cloud.management.add("Microsoft.Storage/storageAccounts/n"))
    forbidding = replace(context(clock), network=Network(egress=Egress(deny=("loopback",))))
    async with SECRET_APIS.open(forbidding) as reader:
        with pytest.raises(SyncError, match="egress"):
            await read(reader, document, ["key1"], identity(application(cloud)))
    assert cloud.directory.requests == []


@pytest.mark.parametrize(
    ("kind", "path", "right"),
    [
        pytest.param(
            "storage/StorageAccount",
            "Microsoft.Storage/storageAccounts/n",
            "Microsoft.Storage/storageAccounts/listKeys/action",
            id="of-the-resource",
        ),
        pytest.param(
            "eventhub/Namespace",
            "Microsoft.EventHub/namespaces/n",
            "Microsoft.EventHub/namespaces/AuthorizationRules/listKeys/action",
            id="of-a-rule",
        ),
    ],
)
async def test_a_missing_right_is_named(cloud: Azure, clock: Clock, kind: str, path: str, right: str) -> None:
    document = resource(kind, cloud.management.add(path))
    who = identity(application(cloud))
    cloud.management.members.clear()
    async with SECRET_APIS.open(context(clock)) as reader:
        with pytest.raises(Denied, match="permission denied") as caught:
            await read(reader, document, None, who)
    assert caught.value.hint == f"grant the identity {right} on the resource"


async def test_no_error_quotes_what_azure_says(
    cloud: Azure, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    canary = "canary-7f3a"
    monkeypatch.setattr("syncret.providers.azurerm.reader.retried", partial(retried, policy=ONCE))
    at = cloud.management.add("Microsoft.Storage/storageAccounts/n")
    who = identity(application(cloud))
    errors = [
        {"code": canary},
        {"code": "ResourceNotFound", "message": canary},
        {"code": "ScopeLocked", "x": canary},
    ]
    answers = [(200, canary), *product((400, 401, 403, 404, 409, 429, 500, 503), errors)]

    for status, error in answers:

        def fault(request: web.Request, status: int = status, error: Json = error) -> web.Response | None:
            body = {"error": error} if status != 200 else error
            return web.json_response(body, status=status) if "providers" in request.path else None

        async with SECRET_APIS.open(context(clock)) as reader:
            with cloud.failing(fault):
                try:
                    found: object = await read(reader, resource("storage/StorageAccount", at), ["key1"], who)
                except SyncError as failed:
                    found = f"{failed!r} {failed} {failed.hint} {failed.__cause__!r} {failed.__context__!r}"
        assert canary not in str(found)
        assert SECRET not in str(found)
