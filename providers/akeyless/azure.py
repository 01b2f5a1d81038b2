"""The proof of an identity at Azure: an access token for the resource manager, as Akeyless takes it."""

from collections.abc import Mapping
from typing import Final

from syncret.config.fields import ServiceAccountSelector
from syncret.providers.akeyless.receivers import server
from syncret.providers.akeyless.spec import AkeylessSpec
from syncret.providers.contract import OpenContext, Receiver
from syncret.providers.errors import Malformed
from syncret.providers.kit.ambient.azure import log_in_with_managed_identity, pod_login
from syncret.providers.kit.azure.clouds import CLOUDS, Cloud, Environment
from syncret.providers.kit.azure.entra import Application, LoginFields
from syncret.providers.kit.azure.workload import CLIENT_ID, TENANT_ID, workload_login
from syncret.providers.kit.environment import ADDRESSES
from syncret.providers.kit.http import Http
from syncret.providers.values import SecretBytes

_TYPE: Final = "the access type azure_ad"
_PARAMETER: Final = "authSecretRef.secretRef.accessTypeParam"
_ACCOUNT: Final = "authSecretRef.serviceAccountRef"
_ACCESS: Final = "an access token of the daemon's own identity at Azure"
_FEDERATED: Final = "the federated token of the daemon's pod"
_HINT: Final = (
    f"give the machine (in AKS the node or pod) an identity, or write {_ACCOUNT}, or another type into the "
    "Secret of authSecretRef.secretRef.accessType"
)
_ASSIGN: Final = "assign the machine, which must be one of Azure, the identity of {}"

_CLOUDS: Final[Mapping[str, Environment]] = {
    "azurecloud": "PublicCloud",
    "azurepubliccloud": "PublicCloud",
    "azureusgovernment": "USGovernmentCloud",
    "azureusgovernmentcloud": "USGovernmentCloud",
    "azurechinacloud": "ChinaCloud",
    "azurechinacloud21vianet": "ChinaCloud",
}
"""The clouds by the names that Akeyless' own clients know."""


async def cloud_id(spec: AkeylessSpec, parameter: str, context: OpenContext) -> bytes:
    """The token of a ServiceAccount's application, otherwise of the daemon. Raises SyncError."""
    account = spec.auth_secret_ref.service_account_ref
    if account is not None:
        return (await _token_of_account(account, parameter, context)).raw
    return (await _own_token(spec, parameter, context)).raw


async def _own_token(spec: AkeylessSpec, object_id: str, context: OpenContext) -> SecretBytes:
    """Of the managed identity with this object ID; empty: of the daemon's pod, otherwise of its machine.

    As Akeyless' clients ask for it, a token for an object ID has an audience that ends with a slash.
    """
    receiver = server(spec, _ACCESS)
    own = context.ambient([receiver])
    cloud = _cloud()
    resource = CLOUDS[cloud].management
    if object_id:
        hint = _ASSIGN.format(f"the object ID in the Secret of {_PARAMETER}")
        login = log_in_with_managed_identity(
            own, f"{resource}/", "", context.now, object_id=object_id, hint=hint
        )
        return (await login).value
    if own.environment.get("AZURE_FEDERATED_TOKEN_FILE"):
        own = context.ambient([receiver, Receiver("azurekv", CLOUDS[cloud].authority, _FEDERATED)])
        async with Http(now=context.now, network=context.network) as http:
            return (await pod_login(own, _here(cloud).authority, resource, http, context.now)()).value
    client = own.environment.get("AZURE_CLIENT_ID", "")
    hint = _ASSIGN.format("AZURE_CLIENT_ID") if client else _HINT
    return (await log_in_with_managed_identity(own, resource, client, context.now, hint=hint)).value


async def _token_of_account(
    account: ServiceAccountSelector, client_id: str, context: OpenContext
) -> SecretBytes:
    """Of the application that a ServiceAccount is annotated with; `client_id`: if the annotation lacks."""
    annotations = await context.credentials.account_annotations(account.name, account.namespace)
    client = annotations.get(CLIENT_ID) or client_id
    tenant = annotations.get(TENANT_ID) or ADDRESSES.get("AZURE_TENANT_ID", "")
    if not client:
        raise Malformed(
            f"ServiceAccount {account.name} stands for no application of Azure",
            hint=f"annotate it with {CLIENT_ID}, or write the client ID into the Secret of {_PARAMETER}",
        )
    if not tenant:
        raise Malformed(
            f"ServiceAccount {account.name} names no tenant of Azure", hint=f"annotate it with {TENANT_ID}"
        )
    annotated = f"of the ServiceAccount in {_ACCOUNT}"
    cloud = _here(_cloud())
    application = Application(
        authority=cloud.authority,
        tenant=tenant,
        client_id=client,
        resource=cloud.management,
        fields=LoginFields(
            _TYPE,
            client=f"the annotation {CLIENT_ID} {annotated}, or {_PARAMETER}",
            tenant=f"the annotation {TENANT_ID} {annotated}, or AZURE_TENANT_ID",
            proof=_ACCOUNT,
        ),
    )
    async with Http(now=context.now, network=context.network) as http:
        return (await workload_login(http, application, account, context)()).value


def _cloud() -> Environment:
    """The cloud that the daemon's environment names; the public one if it names none that is known."""
    for name in ("AZURE_ENVIRONMENT", "AZURE_CLOUD"):
        found = _CLOUDS.get(ADDRESSES.get(name, "").strip().lower())
        if found is not None:
            return found
    return "PublicCloud"


def _here(cloud: Environment) -> Cloud:
    return CLOUDS[cloud].with_overrides(ADDRESSES)
