"""The spec of an Azure Key Vault store, and its rules beyond the schema."""

from collections.abc import Iterator
from typing import Literal

import msgspec

from syncret.config.catalog import Scope
from syncret.config.errors import Problem
from syncret.config.fields import Defaulted, Model, SecretKeySelector, ServiceAccountSelector
from syncret.providers.kit.spec_rules import filled, referent


class AzureSecretRef(Model):
    """A service principal: its client ID with a secret or a certificate, from Secrets.

    With WorkloadIdentity, client ID and tenant ID are here or in the ServiceAccount's annotations.
    """

    client_id: SecretKeySelector | None = None
    client_secret: SecretKeySelector | None = None
    client_certificate: SecretKeySelector | None = None
    tenant_id: SecretKeySelector | None = None


class CustomCloud(Model):
    """The endpoints of a cloud that is not in Azure's list, such as an Azure Stack."""

    active_directory_endpoint: str
    key_vault_endpoint: str | None = None
    key_vault_dns_suffix: str | None = msgspec.field(default=None, name="keyVaultDNSSuffix")
    resource_manager_endpoint: str | None = None


class AzureKvSpec(Model):
    """Reads and writes secrets, keys and certificates of one vault."""

    vault_url: str
    auth_type: Literal["ServicePrincipal", "ManagedIdentity", "WorkloadIdentity"] = "ServicePrincipal"
    auth_secret_ref: AzureSecretRef = AzureSecretRef()
    service_account_ref: ServiceAccountSelector | None = None
    """The account whose token WorkloadIdentity exchanges."""
    identity_id: str | None = None
    """The managed identity to use, if the machine has several."""
    tenant_id: str | None = None
    environment_type: Literal[
        "PublicCloud", "USGovernmentCloud", "ChinaCloud", "GermanCloud", "AzureStackCloud"
    ] = "PublicCloud"
    custom_cloud_config: CustomCloud | None = None
    use_azure_sdk: Defaulted[bool] = msgspec.field(default=False, name="useAzureSDK")
    """Selected one of two libraries in ESO; here it permits `customCloudConfig` and refuses GermanCloud."""


def check(spec: AzureKvSpec, scope: Scope) -> Iterator[Problem]:
    """Selectors are in scope; a custom cloud is described if it is used, and permitted."""
    ref = spec.auth_secret_ref
    base, context = "authSecretRef", "invalid AuthSecretRef"
    yield from referent(ref.client_id, scope, f"{base}.clientId", f"{context}.ClientID")
    yield from referent(ref.client_secret, scope, f"{base}.clientSecret", f"{context}.ClientSecret")
    yield from referent(spec.service_account_ref, scope, "serviceAccountRef", "invalid ServiceAccountRef")
    if spec.custom_cloud_config:
        yield from filled(
            spec.use_azure_sdk,
            "useAzureSDK",
            "CustomCloudConfig requires UseAzureSDK to be set to true",
            "write useAzureSDK: true",
        )
        yield from filled(
            spec.custom_cloud_config.active_directory_endpoint,
            "customCloudConfig.activeDirectoryEndpoint",
            "activeDirectoryEndpoint is required in CustomCloudConfig",
            "write the address of the cloud's login endpoint",
        )
    elif spec.environment_type == "AzureStackCloud":
        yield Problem(
            path="customCloudConfig",
            message="CustomCloudConfig is required when EnvironmentType is AzureStackCloud",
            hint="describe the cloud's endpoints there",
        )
