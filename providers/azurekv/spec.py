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

    Example: {clientId: {name: azure-login, key: client-id}, clientSecret: {name: azure-login, key:
    client-secret}}
    """

    client_id: SecretKeySelector | None = None
    """The application's client ID. Example: {name: azure-login, key: client-id}"""
    client_secret: SecretKeySelector | None = None
    """The application's client secret: its value, not its ID.
    Example: {name: azure-login, key: client-secret}"""
    client_certificate: SecretKeySelector | None = None
    """The application's certificate with its RSA key (PEM or PKCS#12), instead of a client secret.
    Example: {name: azure-login, key: certificate.pem}"""
    tenant_id: SecretKeySelector | None = None
    """The tenant's ID, for WorkloadIdentity whose ServiceAccount does not name it.
    Example: {name: azure-login, key: tenant-id}"""


class CustomCloud(Model):
    """The endpoints of a cloud that is not in Azure's list, such as an Azure Stack.

    Example: {activeDirectoryEndpoint: 'https://adfs.local.azurestack.external/adfs', keyVaultEndpoint:
    'https://vault.local.azurestack.external'}
    """

    active_directory_endpoint: str
    """Address of the login: credentials are sent there.
    Example: https://adfs.local.azurestack.external/adfs"""
    key_vault_endpoint: str | None = None
    """Audience that tokens are requested for; absent: what `keyVaultDNSSuffix` or the vault names.
    Example: https://vault.local.azurestack.external"""
    key_vault_dns_suffix: str | None = msgspec.field(default=None, name="keyVaultDNSSuffix")
    """End of the names of vaults, from which the audience is made.
    Example: vault.local.azurestack.external"""
    resource_manager_endpoint: str | None = None
    """Address of the cloud's management API; accepted, and not needed to read secrets.
    Example: https://management.local.azurestack.external"""


class AzureKvSpec(Model):
    """Reads and writes secrets, keys and certificates of one vault.

    Example: {vaultUrl: 'https://acme.vault.azure.net', authType: ManagedIdentity}
    """

    vault_url: str
    """Address of the vault. Example: https://acme.vault.azure.net"""
    auth_type: Literal["ServicePrincipal", "ManagedIdentity", "WorkloadIdentity"] = "ServicePrincipal"
    """The store's identity at Azure: an application, the machine, or a ServiceAccount.
    Example: ManagedIdentity"""
    auth_secret_ref: AzureSecretRef = AzureSecretRef()
    """The application's credentials, for ServicePrincipal and WorkloadIdentity."""
    service_account_ref: ServiceAccountSelector | None = None
    """The ServiceAccount whose token WorkloadIdentity exchanges; absent: the daemon's own pod.
    Example: {name: app}"""
    identity_id: str | None = None
    """Client ID or resource ID of the managed identity, if the machine has several.
    Example: 6d1f9f4e-3a52-4b8e-9d54-1f0f6a0c1b7e"""
    tenant_id: str | None = None
    """ID of the tenant that the application belongs to; required for ServicePrincipal.
    Example: 0b7d7c1e-8f0a-4a6c-9a55-7f3f2f1f0a11"""
    environment_type: Literal[
        "PublicCloud", "USGovernmentCloud", "ChinaCloud", "GermanCloud", "AzureStackCloud"
    ] = "PublicCloud"
    """The cloud, which decides where the store logs in. Example: USGovernmentCloud"""
    custom_cloud_config: CustomCloud | None = None
    """The endpoints of a private cloud; needs `useAzureSDK: true`."""
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
