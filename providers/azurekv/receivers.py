"""The receivers of the daemon's own identity for a store of Azure."""

from collections.abc import Iterator
from typing import Final

from syncret.providers.azurekv.spec import AzureKvSpec
from syncret.providers.contract import Receiver
from syncret.providers.kit.azure.clouds import CLOUDS, Environment

NAME: Final = "azurekv"
ACCESS: Final = "an access token of the daemon's own identity at Azure"
FEDERATED: Final = "the federated token of the daemon's pod"


def receivers(spec: AzureKvSpec) -> Iterator[Receiver]:
    """The vault, and the login endpoint, unless the store names credentials."""
    federated = spec.auth_type == "WorkloadIdentity" and spec.service_account_ref is None
    if federated:
        custom = spec.custom_cloud_config
        if custom is not None:
            path = "customCloudConfig.activeDirectoryEndpoint"
            yield Receiver(NAME, custom.active_directory_endpoint, FEDERATED, path)
        else:
            yield from login_receivers(spec.environment_type)
    if federated or spec.auth_type == "ManagedIdentity":
        yield Receiver(NAME, spec.vault_url, ACCESS, "vaultUrl")


def login_receivers(cloud: Environment) -> Iterator[Receiver]:
    """The cloud's own login endpoint; if the daemon's environment names another, that is its operator's."""
    if CLOUDS[cloud].authority:
        yield Receiver(NAME, CLOUDS[cloud].authority, FEDERATED, "environmentType")
