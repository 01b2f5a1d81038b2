"""The resource types whose secrets can be read: which API has which names. Only data, and how to read it.

The names are those of Azure Service Operator; API versions are those that it calls, or, for types that it
does not export secrets of, those of Azure's clients.
"""

from collections.abc import Collection, Mapping, Sequence
from itertools import product
from typing import Final, NamedTuple

from syncret.providers.azurerm.picks import PK4, Names, Pick, entries, members

ALL: Final = "*"
"""The hint for all names."""

SUBSCRIPTION: Final = "(the subscription in status.id)"
"""The place of a field that is a part of the ID."""

_GROUP: Final = ".azure.com"
_PRIMARY_SECONDARY: Final = members("primaryKey", "secondaryKey")
_ROOT_RULE: Final = "AuthorizationRules/RootManageSharedAccessKey/listKeys"


class Call(NamedTuple):
    """One API: a POST below the resource's ID."""

    action: str
    version: str
    names: Names
    paged: bool = False


class ResourceType(NamedTuple):
    """A kind of resource, what it is at Azure, and where its secrets are."""

    group: str
    kind: str
    type: str
    """As Azure calls it: namespace and types, which an ID must have."""
    calls: Sequence[Call] = ()
    fields: Mapping[str, str] = {}
    """Names that are no secrets: where the status has them. A call is not necessary for them."""

    def needed(self, names: Collection[str]) -> Sequence[Call]:
        """The APIs that serve these names, or all."""
        return [call for call in self.calls if ALL in names or any(name in call.names for name in names)]


def _type(
    group: str, kind: str, azure: str, *calls: Call, fields: Mapping[str, str] | None = None
) -> ResourceType:
    return ResourceType(group + _GROUP, kind, azure, calls, fields or {})


def _keys(version: str, *names: str) -> Call:
    return Call("listKeys", version, members(*names))


def _host() -> Mapping[str, str]:
    return {"fullyQualifiedDomainName": "fullyQualifiedDomainName"}


_HUB_RULES: Final = {
    "iotHubOwner": "iothubowner",
    "service": "service",
    "device": "device",
    "registryRead": "registryRead",
    "registryReadWrite": "registryReadWrite",
}
_HUB_KEYS: Final = {
    f"{name}{key[0].upper()}{key[1:]}": (rule, key)
    for (name, rule), key in product(_HUB_RULES.items(), ("primaryKey", "secondaryKey"))
}
_CONFIGURATION_KEYS: Final = {
    f"{name}{suffix}": (entry, member)
    for (name, entry), (suffix, member) in product(
        {
            "primary": "Primary",
            "secondary": "Secondary",
            "primaryReadOnly": "Primary Read Only",
            "secondaryReadOnly": "Secondary Read Only",
        }.items(),
        {"Key": "value", "KeyID": "id", "ConnectionString": "connectionString"}.items(),
    )
}
_LEARNING: Final = {
    **members(
        "appInsightsInstrumentationKey",
        "userStorageKey",
        primaryNotebookAccessKey="notebookAccessKeys.primaryAccessKey",
        secondaryNotebookAccessKey="notebookAccessKeys.secondaryAccessKey",
        containerRegistryUserName="containerRegistryCredentials.username",
    ),
    **entries(
        "containerRegistryCredentials.passwords",
        "name",
        {
            "containerRegistryPassword": ("password", "value"),
            "containerRegistryPassword2": ("password2", "value"),
        },
    ),
}

TYPES: Final[Sequence[ResourceType]] = (
    _type(
        "storage",
        "StorageAccount",
        "Microsoft.Storage/storageAccounts",
        Call(
            "listKeys",
            "2024-01-01",
            entries("keys", "keyName", {"key1": ("key1", "value"), "key2": ("key2", "value")}),
        ),
        fields={
            f"{name}Endpoint": f"primaryEndpoints.{name}"
            for name in ("blob", "dfs", "file", "queue", "table", "web")
        },
    ),
    _type(
        "cache",
        "Redis",
        "Microsoft.Cache/redis",
        Call("listKeys", "2021-06-01", _PRIMARY_SECONDARY),
        fields={"hostName": "hostName", "port": "port", "sslPort": "sslPort"},
    ),
    _type(
        "cache",
        "RedisEnterpriseDatabase",
        "Microsoft.Cache/redisEnterprise/databases",
        Call("listKeys", "2022-01-01", _PRIMARY_SECONDARY),
    ),
    _type(
        "documentdb",
        "DatabaseAccount",
        "Microsoft.DocumentDB/databaseAccounts",
        _keys(
            "2021-10-15",
            "primaryMasterKey",
            "secondaryMasterKey",
            "primaryReadonlyMasterKey",
            "secondaryReadonlyMasterKey",
        ),
        fields={"documentEndpoint": "documentEndpoint"},
    ),
    _type(
        "containerservice",
        "ManagedCluster",
        "Microsoft.ContainerService/managedClusters",
        *(
            Call(action, "2022-04-01", {name: Pick(("value",), ("kubeconfigs",), encoded=True)})
            for action, name in (
                ("listClusterAdminCredential", "adminCredentials"),
                ("listClusterUserCredential", "userCredentials"),
            )
        ),
    ),
    _type(
        "redhatopenshift",
        "OpenShiftCluster",
        "Microsoft.RedHatOpenShift/openShiftClusters",
        Call("listAdminCredentials", "2023-11-22", members(adminCredentials="kubeconfig")),
        Call(
            "listCredentials",
            "2023-11-22",
            members(username="kubeadminUsername", password="kubeadminPassword"),  # a member's name
        ),
    ),
    _type(
        "search",
        "SearchService",
        "Microsoft.Search/searchServices",
        Call("listQueryKeys", "2025-05-01", {"queryKey": Pick(("key",), ("value",), by="name")}, paged=True),
        Call(
            "listAdminKeys",
            "2025-05-01",
            members(adminPrimaryKey="primaryKey", adminSecondaryKey="secondaryKey"),
        ),
    ),
    _type(
        "devices",
        "IotHub",
        "Microsoft.Devices/IotHubs",
        Call("listkeys", "2023-06-30", entries("value", "keyName", _HUB_KEYS), paged=True),
    ),
    _type(
        "appconfiguration",
        "ConfigurationStore",
        "Microsoft.AppConfiguration/configurationStores",
        Call("listKeys", "2022-05-01", entries("value", "name", _CONFIGURATION_KEYS), paged=True),
    ),
    _type(
        "cognitiveservices",
        "Account",
        "Microsoft.CognitiveServices/accounts",
        _keys("2025-06-01", "key1", "key2"),
    ),
    _type("eventgrid", "Topic", "Microsoft.EventGrid/topics", _keys("2021-12-01", "key1", "key2")),
    _type(
        "eventhub",
        "Namespace",
        "Microsoft.EventHub/namespaces",
        Call(_ROOT_RULE, "2024-01-01", members(*PK4)),
    ),
    _type(
        "eventhub",
        "NamespacesAuthorizationRule",
        "Microsoft.EventHub/namespaces/authorizationRules",
        _keys("2024-01-01", *PK4),
    ),
    _type(
        "eventhub",
        "NamespacesEventhubsAuthorizationRule",
        "Microsoft.EventHub/namespaces/eventhubs/authorizationRules",
        _keys("2024-01-01", *PK4),
    ),
    _type(
        "servicebus",
        "Namespace",
        "Microsoft.ServiceBus/namespaces",
        Call(_ROOT_RULE, "2021-11-01", members(*PK4)),
        fields={"endpoint": "serviceBusEndpoint"},
    ),
    _type(
        "servicebus",
        "NamespacesAuthorizationRule",
        "Microsoft.ServiceBus/namespaces/AuthorizationRules",
        _keys("2021-11-01", *PK4),
    ),
    _type(
        "servicebus",
        "TopicAuthorizationRule",
        "Microsoft.ServiceBus/namespaces/topics/authorizationRules",
        Call("ListKeys", "2021-11-01", members(*PK4)),
    ),
    _type(
        "notificationhubs",
        "Namespace",
        "Microsoft.NotificationHubs/namespaces",
        Call(_ROOT_RULE, "2017-04-01", members(*PK4)),
    ),
    _type(
        "notificationhubs",
        "NotificationHub",
        "Microsoft.NotificationHubs/namespaces/notificationHubs",
        Call("AuthorizationRules/DefaultFullSharedAccessSignature/listKeys", "2017-04-01", members(*PK4)),
    ),
    _type("signalrservice", "SignalR", "Microsoft.SignalRService/signalR", _keys("2023-02-01", *PK4)),
    _type("signalrservice", "WebPubSub", "Microsoft.SignalRService/webPubSub", _keys("2024-03-01", *PK4)),
    _type(
        "communication",
        "CommunicationService",
        "Microsoft.Communication/communicationServices",
        _keys("2020-08-20", *PK4),
    ),
    _type(
        "apimanagement",
        "Subscription",
        "Microsoft.ApiManagement/service/subscriptions",
        Call("listSecrets", "2022-08-01", _PRIMARY_SECONDARY),
    ),
    _type(
        "apimanagement",
        "ServiceGateway",
        "Microsoft.ApiManagement/service/gateways",
        Call("listKeys", "2022-08-01", members(primaryKey="primary", secondaryKey="secondary")),
    ),
    _type(
        "machinelearningservices",
        "Workspace",
        "Microsoft.MachineLearningServices/workspaces",
        Call("listKeys", "2021-07-01", _LEARNING),
    ),
    _type(
        "operationalinsights",
        "Workspace",
        "Microsoft.OperationalInsights/workspaces",
        Call("sharedKeys", "2020-08-01", members("primarySharedKey", "secondarySharedKey")),
    ),
    _type(
        "containerregistry",
        "Registry",
        "Microsoft.ContainerRegistry/registries",
        Call(
            "listCredentials",
            "2023-07-01",
            {
                **members("username"),
                **entries(
                    "passwords",
                    "name",
                    {"password": ("password", "value"), "password2": ("password2", "value")},
                ),
            },
        ),
    ),
    _type(
        "automation",
        "AutomationAccount",
        "Microsoft.Automation/automationAccounts",
        Call(
            "listKeys",
            "2021-06-22",
            entries(
                "keys",
                "KeyName",
                {"primaryKey": ("Primary", "Value"), "secondaryKey": ("Secondary", "Value")},
            ),
        ),
    ),
    _type("dbforpostgresql", "FlexibleServer", "Microsoft.DBforPostgreSQL/flexibleServers", fields=_host()),
    _type("dbformysql", "FlexibleServer", "Microsoft.DBforMySQL/flexibleServers", fields=_host()),
    _type("dbformariadb", "Server", "Microsoft.DBforMariaDB/servers", fields=_host()),
    _type(
        "managedidentity",
        "UserAssignedIdentity",
        "Microsoft.ManagedIdentity/userAssignedIdentities",
        fields={
            **{name: name for name in ("clientId", "principalId", "tenantId")},
            "subscriptionId": SUBSCRIPTION,
        },
    ),
)

_BY_KIND: Final = {(each.group, each.kind): each for each in TYPES}


def type_of(group: str, kind: str) -> ResourceType | None:
    """The type of a kind; None: its secrets have no API that is known here."""
    return _BY_KIND.get((group, kind))
