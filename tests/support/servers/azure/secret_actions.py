"""What the secret APIs of Azure's resources answer: a table, one row for each API.

Written from the published reference of each service: https://learn.microsoft.com/rest/api/azure
"""

from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

Secret: TypeAlias = Callable[[str], str]
"""The value of this name of the resource that is asked for."""

Shown: TypeAlias = dict[str, Any]

ROOT_RULES: Final = ("rootmanagesharedaccesskey", "defaultfullsharedaccesssignature")
"""Rules that every namespace, and every notification hub, has from the start."""


class Action(NamedTuple):
    """One API. In its path a star stands for a name; the versions are all that it is served in here."""

    path: str
    versions: Sequence[str]
    answer: Callable[[Secret], Shown]
    paged: bool = False


def _plain(*names: str, **fixed: str) -> Callable[[Secret], Shown]:
    return lambda secret: {**{name: secret(name) for name in names}, **fixed}


def _rule(path: str, *versions: str, key_name: str = "RootManageSharedAccessKey") -> Action:
    return Action(path, versions, _plain(*_PAIR, keyName=key_name))


_PAIR: Final = ("primaryKey", "secondaryKey", "primaryConnectionString", "secondaryConnectionString")


def _storage(secret: Secret) -> Shown:
    made = "2026-01-01T00:00:00.0000000Z"
    return {
        "keys": [
            {"creationTime": made, "keyName": name, "value": secret(name), "permissions": "FULL"}
            for name in ("key1", "key2")
        ]
    }


def _kubeconfig(name: str) -> Callable[[Secret], Shown]:
    return lambda secret: {
        "kubeconfigs": [{"name": name, "value": b64encode(secret(name).encode()).decode()}]
    }


def _query_keys(secret: Secret) -> Shown:
    named = [{"name": name, "key": secret(f"query-{name}")} for name in ("shop", "search-page")]
    return {"value": [*named, {"name": None, "key": secret("query")}]}


def _hub_keys(secret: Secret) -> Shown:
    rights: Mapping[str, str] = {
        "iothubowner": "RegistryWrite, ServiceConnect, DeviceConnect",
        "service": "ServiceConnect",
        "device": "DeviceConnect",
        "registryRead": "RegistryRead",
        "registryReadWrite": "RegistryWrite",
    }
    return {
        "value": [
            {
                "keyName": name,
                "primaryKey": secret(f"{name}-primary"),
                "secondaryKey": secret(f"{name}-secondary"),
                "rights": granted,
            }
            for name, granted in rights.items()
        ]
    }


def _configuration_keys(secret: Secret) -> Shown:
    return {
        "value": [
            {
                "id": secret(f"{name}-id"),
                "name": name,
                "value": secret(f"{name}-value"),
                "connectionString": secret(f"{name}-connection"),
                "lastModified": "2026-01-01T00:00:00+00:00",
                "readOnly": name.endswith("Read Only"),
            }
            for name in ("Primary", "Secondary", "Primary Read Only", "Secondary Read Only")
        ]
    }


def _learning(secret: Secret) -> Shown:
    return {
        "userStorageKey": secret("userStorageKey"),
        "userStorageResourceId": "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Storage/x",
        "appInsightsInstrumentationKey": secret("appInsightsInstrumentationKey"),
        "containerRegistryCredentials": {"location": "westeurope", **_registry(secret)},
        "notebookAccessKeys": {
            "primaryAccessKey": secret("primaryAccessKey"),
            "secondaryAccessKey": secret("secondaryAccessKey"),
        },
    }


def _registry(secret: Secret) -> Shown:
    passwords = [{"name": name, "value": secret(name)} for name in ("password", "password2")]
    return {"username": secret("username"), "passwords": passwords}


def _automation(secret: Secret) -> Shown:
    return {
        "keys": [
            {"KeyName": name, "Permissions": "Full", "Value": secret(name)}
            for name in ("Primary", "Secondary")
        ]
    }


ACTIONS: Final[Sequence[Action]] = (
    Action("Microsoft.Storage/storageAccounts/*/listKeys", ("2024-01-01", "2026-09-01"), _storage),
    Action("Microsoft.Cache/redis/*/listKeys", ("2021-06-01", "2024-11-01"), _plain(*_PAIR[:2])),
    Action(
        "Microsoft.Cache/redisEnterprise/*/databases/*/listKeys",
        ("2022-01-01", "2025-07-01"),
        _plain(*_PAIR[:2]),
    ),
    Action(
        "Microsoft.DocumentDB/databaseAccounts/*/listKeys",
        ("2021-10-15", "2026-03-15"),
        _plain(
            "primaryMasterKey",
            "secondaryMasterKey",
            "primaryReadonlyMasterKey",
            "secondaryReadonlyMasterKey",
        ),
    ),
    Action(
        "Microsoft.ContainerService/managedClusters/*/listClusterAdminCredential",
        ("2022-04-01", "2026-08-01"),
        _kubeconfig("clusterAdmin"),
    ),
    Action(
        "Microsoft.ContainerService/managedClusters/*/listClusterUserCredential",
        ("2022-04-01", "2026-08-01"),
        _kubeconfig("clusterUser"),
    ),
    Action(
        "Microsoft.RedHatOpenShift/openShiftClusters/*/listAdminCredentials",
        ("2023-11-22", "2025-07-25"),
        _plain("kubeconfig"),
    ),
    Action(
        "Microsoft.RedHatOpenShift/openShiftClusters/*/listCredentials",
        ("2023-11-22", "2025-07-25"),
        _plain("kubeadminUsername", "kubeadminPassword"),
    ),
    Action("Microsoft.Search/searchServices/*/listQueryKeys", ("2025-05-01",), _query_keys, paged=True),
    Action("Microsoft.Search/searchServices/*/listAdminKeys", ("2025-05-01",), _plain(*_PAIR[:2])),
    Action("Microsoft.Devices/IotHubs/*/listkeys", ("2023-06-30",), _hub_keys, paged=True),
    Action(
        "Microsoft.AppConfiguration/configurationStores/*/listKeys",
        ("2022-05-01", "2024-06-01"),
        _configuration_keys,
        paged=True,
    ),
    Action(
        "Microsoft.CognitiveServices/accounts/*/listKeys",
        ("2025-06-01", "2025-09-01"),
        _plain("key1", "key2"),
    ),
    Action("Microsoft.EventGrid/topics/*/listKeys", ("2021-12-01", "2025-02-15"), _plain("key1", "key2")),
    _rule("Microsoft.EventHub/namespaces/*/authorizationRules/*/listKeys", "2024-01-01", "2026-01-01"),
    _rule(
        "Microsoft.EventHub/namespaces/*/eventhubs/*/authorizationRules/*/listKeys",
        "2024-01-01",
        "2026-01-01",
    ),
    _rule("Microsoft.ServiceBus/namespaces/*/AuthorizationRules/*/listKeys", "2021-11-01", "2026-01-01"),
    _rule(
        "Microsoft.ServiceBus/namespaces/*/topics/*/authorizationRules/*/ListKeys",
        "2021-11-01",
        "2026-01-01",
    ),
    _rule("Microsoft.NotificationHubs/namespaces/*/AuthorizationRules/*/listKeys", "2017-04-01"),
    _rule(
        "Microsoft.NotificationHubs/namespaces/*/notificationHubs/*/AuthorizationRules/*/listKeys",
        "2017-04-01",
        key_name="DefaultFullSharedAccessSignature",
    ),
    Action("Microsoft.SignalRService/signalR/*/listKeys", ("2023-02-01",), _plain(*_PAIR)),
    Action("Microsoft.SignalRService/webPubSub/*/listKeys", ("2024-03-01",), _plain(*_PAIR)),
    Action(
        "Microsoft.Communication/communicationServices/*/listKeys",
        ("2020-08-20", "2025-09-01"),
        _plain(*_PAIR),
    ),
    Action(
        "Microsoft.ApiManagement/service/*/subscriptions/*/listSecrets",
        ("2022-08-01", "2024-05-01"),
        _plain(*_PAIR[:2]),
    ),
    Action(
        "Microsoft.ApiManagement/service/*/gateways/*/listKeys",
        ("2022-08-01", "2024-05-01"),
        _plain("primary", "secondary"),
    ),
    Action(
        "Microsoft.MachineLearningServices/workspaces/*/listKeys",
        ("2021-07-01", "2020-08-01"),
        _learning,
    ),
    Action(
        "Microsoft.OperationalInsights/workspaces/*/sharedKeys",
        ("2020-08-01", "2025-07-01"),
        _plain("primarySharedKey", "secondarySharedKey"),
    ),
    Action(
        "Microsoft.ContainerRegistry/registries/*/listCredentials",
        ("2023-07-01", "2025-11-01"),
        _registry,
    ),
    Action("Microsoft.Automation/automationAccounts/*/listKeys", ("2021-06-22", "2024-10-23"), _automation),
)
