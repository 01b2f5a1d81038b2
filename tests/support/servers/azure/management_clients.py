"""Azure's own management clients: for each service, how a program reads its secrets with them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from tests.support.servers.azure.management import GROUP
from tests.support.servers.azure.sdk import Sdk

ROOT = "RootManageSharedAccessKey"
HUB_RULE = "DefaultFullSharedAccessSignature"


class Client(Protocol):
    """A client of one service; checked as Any below, it reads as in Azure's documentation."""

    def __getattr__(self, name: str) -> Any: ...  # noqa: ANN401  # Azure's own


@dataclass(frozen=True, slots=True)
class Service:
    """A resource, the client for it, and what it reads."""

    path: str
    module: str
    client: str
    read: Callable[[Client], list[Any]]
    names: tuple[str, ...]
    """What the values are called in `secret_actions`, in their order."""
    id: str


def plain(found: Sdk, *names: str) -> list[Any]:
    return [getattr(found, name) for name in names]


def pairs(found: Sdk) -> list[Any]:
    names = "primary_key", "secondary_key", "primary_connection_string", "secondary_connection_string"
    return plain(found, *names)


KEYS = ("primaryKey", "secondaryKey")
PAIRS = (*KEYS, "primaryConnectionString", "secondaryConnectionString")
HUB = ("iothubowner", "service", "device", "registryRead", "registryReadWrite")
STORE = ("Primary", "Secondary", "Primary Read Only", "Secondary Read Only")
COSMOS = ("primary_master_key", "secondary_master_key")
COSMOS_READ = ("primary_readonly_master_key", "secondary_readonly_master_key")


SERVICES: Final[Sequence[Service]] = (
    Service(
        "Microsoft.Storage/storageAccounts/n",
        "storage",
        "StorageManagementClient",
        lambda c: [each.value for each in c.storage_accounts.list_keys(GROUP, "n").keys_property],
        ("key1", "key2"),
        id="storage",
    ),
    Service(
        "Microsoft.Cache/redis/n",
        "redis",
        "RedisManagementClient",
        lambda c: plain(c.redis.list_keys(GROUP, "n"), "primary_key", "secondary_key"),
        KEYS,
        id="redis",
    ),
    Service(
        "Microsoft.Cache/redisEnterprise/c/databases/n",
        "redisenterprise",
        "RedisEnterpriseManagementClient",
        lambda c: plain(c.databases.list_keys(GROUP, "c", "n"), "primary_key", "secondary_key"),
        KEYS,
        id="redis-enterprise",
    ),
    Service(
        "Microsoft.DocumentDB/databaseAccounts/n",
        "cosmosdb",
        "CosmosDBManagementClient",
        lambda c: plain(c.database_accounts.list_keys(GROUP, "n"), *COSMOS, *COSMOS_READ),
        (
            "primaryMasterKey",
            "secondaryMasterKey",
            "primaryReadonlyMasterKey",
            "secondaryReadonlyMasterKey",
        ),
        id="cosmos",
    ),
    Service(
        "Microsoft.ContainerService/managedClusters/n",
        "containerservice",
        "ContainerServiceClient",
        lambda c: [
            bytes(read(GROUP, "n").kubeconfigs[0].value).decode()
            for read in (
                c.managed_clusters.list_cluster_admin_credentials,
                c.managed_clusters.list_cluster_user_credentials,
            )
        ],
        ("clusterAdmin", "clusterUser"),
        id="aks",
    ),
    Service(
        "Microsoft.RedHatOpenShift/openShiftClusters/n",
        "redhatopenshift",
        "AzureRedHatOpenShiftClient",
        lambda c: [
            c.open_shift_clusters.list_admin_credentials(GROUP, "n").kubeconfig,
            *plain(
                c.open_shift_clusters.list_credentials(GROUP, "n"),
                "kubeadmin_username",
                "kubeadmin_password",
            ),
        ],
        ("kubeconfig", "kubeadminUsername", "kubeadminPassword"),
        id="openshift",
    ),
    Service(
        "Microsoft.Search/searchServices/n",
        "search",
        "SearchManagementClient",
        lambda c: [
            *plain(c.admin_keys.get(GROUP, "n"), "primary_key", "secondary_key"),
            *[each.key for each in c.query_keys.list_by_search_service(GROUP, "n")],
        ],
        (*KEYS, "query-shop", "query-search-page", "query"),
        id="search",
    ),
    Service(
        "Microsoft.Devices/IotHubs/n",
        "iothub",
        "IotHubClient",
        lambda c: [
            value
            for each in c.iot_hub_resource.list_keys(GROUP, "n")
            for value in plain(each, "primary_key", "secondary_key")
        ],
        tuple(f"{name}-{which}" for name in HUB for which in ("primary", "secondary")),
        id="iot-hub",
    ),
    Service(
        "Microsoft.AppConfiguration/configurationStores/n",
        "appconfiguration",
        "AppConfigurationManagementClient",
        lambda c: [
            value
            for each in c.configuration_stores.list_keys(GROUP, "n")
            for value in plain(each, "id", "value", "connection_string")
        ],
        tuple(f"{name}-{which}" for name in STORE for which in ("id", "value", "connection")),
        id="app-configuration",
    ),
    Service(
        "Microsoft.CognitiveServices/accounts/n",
        "cognitiveservices",
        "CognitiveServicesManagementClient",
        lambda c: plain(c.accounts.list_keys(GROUP, "n"), "key1", "key2"),
        ("key1", "key2"),
        id="cognitive",
    ),
    Service(
        "Microsoft.EventGrid/topics/n",
        "eventgrid",
        "EventGridManagementClient",
        lambda c: plain(c.topics.list_shared_access_keys(GROUP, "n"), "key1", "key2"),
        ("key1", "key2"),
        id="event-grid",
    ),
    Service(
        "Microsoft.EventHub/namespaces/n",
        "eventhub",
        "EventHubManagementClient",
        lambda c: pairs(c.namespaces.list_keys(GROUP, "n", ROOT)),
        PAIRS,
        id="event-hub-namespace",
    ),
    Service(
        "Microsoft.EventHub/namespaces/s/authorizationRules/n",
        "eventhub",
        "EventHubManagementClient",
        lambda c: pairs(c.namespaces.list_keys(GROUP, "s", "n")),
        PAIRS,
        id="eventhub-rule-of-namespace",
    ),
    Service(
        "Microsoft.EventHub/namespaces/s/eventhubs/e/authorizationRules/n",
        "eventhub",
        "EventHubManagementClient",
        lambda c: pairs(c.event_hubs.list_keys(GROUP, "s", "e", "n")),
        PAIRS,
        id="event-hub-rule",
    ),
    Service(
        "Microsoft.ServiceBus/namespaces/n",
        "servicebus",
        "ServiceBusManagementClient",
        lambda c: pairs(c.namespaces.list_keys(GROUP, "n", ROOT)),
        PAIRS,
        id="service-bus-namespace",
    ),
    Service(
        "Microsoft.ServiceBus/namespaces/s/AuthorizationRules/n",
        "servicebus",
        "ServiceBusManagementClient",
        lambda c: pairs(c.namespaces.list_keys(GROUP, "s", "n")),
        PAIRS,
        id="servicebus-rule-of-namespace",
    ),
    Service(
        "Microsoft.ServiceBus/namespaces/s/topics/t/authorizationRules/n",
        "servicebus",
        "ServiceBusManagementClient",
        lambda c: pairs(c.topics.list_keys(GROUP, "s", "t", "n")),
        PAIRS,
        id="service-bus-rule",
    ),
    Service(
        "Microsoft.NotificationHubs/namespaces/n",
        "notificationhubs",
        "NotificationHubsManagementClient",
        lambda c: pairs(c.namespaces.list_keys(GROUP, "n", ROOT)),
        PAIRS,
        id="notification-namespace",
    ),
    Service(
        "Microsoft.NotificationHubs/namespaces/s/notificationHubs/n",
        "notificationhubs",
        "NotificationHubsManagementClient",
        lambda c: pairs(c.notification_hubs.list_keys(GROUP, "s", "n", HUB_RULE)),
        PAIRS,
        id="notification-hub",
    ),
    Service(
        "Microsoft.SignalRService/signalR/n",
        "signalr",
        "SignalRManagementClient",
        lambda c: pairs(c.signal_r.list_keys(GROUP, "n")),
        PAIRS,
        id="signalr",
    ),
    Service(
        "Microsoft.SignalRService/webPubSub/n",
        "webpubsub",
        "WebPubSubManagementClient",
        lambda c: pairs(c.web_pub_sub.list_keys(GROUP, "n")),
        PAIRS,
        id="web-pubsub",
    ),
    Service(
        "Microsoft.Communication/communicationServices/n",
        "communication",
        "CommunicationServiceManagementClient",
        lambda c: pairs(c.communication_services.list_keys(GROUP, "n")),
        PAIRS,
        id="communication",
    ),
    Service(
        "Microsoft.ApiManagement/service/s/subscriptions/n",
        "apimanagement",
        "ApiManagementClient",
        lambda c: plain(c.subscription.list_secrets(GROUP, "s", "n"), "primary_key", "secondary_key"),
        KEYS,
        id="api-subscription",
    ),
    Service(
        "Microsoft.ApiManagement/service/s/gateways/n",
        "apimanagement",
        "ApiManagementClient",
        lambda c: plain(c.gateway.list_keys(GROUP, "s", "n"), "primary", "secondary"),
        ("primary", "secondary"),
        id="api-gateway",
    ),
    Service(
        "Microsoft.MachineLearningServices/workspaces/n",
        "machinelearningservices",
        "MachineLearningServicesMgmtClient",
        lambda c: [
            (found := c.workspaces.list_keys(GROUP, "n")).user_storage_key,
            found.app_insights_instrumentation_key,
            found.container_registry_credentials.username,
            *[each.value for each in found.container_registry_credentials.passwords],
            *plain(found.notebook_access_keys, "primary_access_key", "secondary_access_key"),
        ],
        (
            "userStorageKey",
            "appInsightsInstrumentationKey",
            "username",
            "password",
            "password2",
            "primaryAccessKey",
            "secondaryAccessKey",
        ),
        id="machine-learning",
    ),
    Service(
        "Microsoft.OperationalInsights/workspaces/n",
        "loganalytics",
        "LogAnalyticsManagementClient",
        lambda c: plain(
            c.shared_keys.get_shared_keys(GROUP, "n"), "primary_shared_key", "secondary_shared_key"
        ),
        ("primarySharedKey", "secondarySharedKey"),
        id="log-analytics",
    ),
    Service(
        "Microsoft.ContainerRegistry/registries/n",
        "containerregistry",
        "ContainerRegistryManagementClient",
        lambda c: [
            (found := c.registries.list_credentials(GROUP, "n")).username,
            *[each.value for each in found.passwords],
        ],
        ("username", "password", "password2"),
        id="container-registry",
    ),
    Service(
        "Microsoft.Automation/automationAccounts/n",
        "automation",
        "AutomationClient",
        lambda c: [each.value for each in c.keys.list_by_automation_account(GROUP, "n").keys_property],
        ("Primary", "Secondary"),
        id="automation",
    ),
)
