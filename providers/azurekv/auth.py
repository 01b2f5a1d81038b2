"""How a store logs in to Azure: service principal, managed identity or workload identity."""

from functools import partial

from syncret.config.fields import SecretKeySelector, ServiceAccountSelector
from syncret.providers.azurekv.receivers import receivers
from syncret.providers.azurekv.spec import AzureKvSpec
from syncret.providers.contract import Credentials, OpenContext
from syncret.providers.errors import Malformed
from syncret.providers.kit import environment
from syncret.providers.kit.ambient.azure import log_in_with_managed_identity, pod_login
from syncret.providers.kit.azure import entra
from syncret.providers.kit.azure.entra import Application, Login, LoginFields
from syncret.providers.kit.azure.signing import ClientCertificate
from syncret.providers.kit.azure.workload import CLIENT_ID, TENANT_ID, workload_login
from syncret.providers.kit.http import Http
from syncret.providers.values import SecretBytes


async def choose_login(
    spec: AzureKvSpec, authority: str, resource: str, http: Http, context: OpenContext
) -> Login:
    """The login for `authType`. Raises SyncError for mistakes that are visible before the first login."""
    match spec.auth_type:
        case "ManagedIdentity":
            own = context.ambient(receivers(spec))
            return partial(log_in_with_managed_identity, own, resource, spec.identity_id or "", context.now)
        case "ServicePrincipal":
            return await _service_principal_login(spec, authority, resource, http, context)
        case "WorkloadIdentity":
            if spec.service_account_ref is None:
                return pod_login(context.ambient(receivers(spec)), authority, resource, http, context.now)
            client, tenant = await _workload_ids(spec, spec.service_account_ref, context.credentials)
            application = Application(
                authority=authority,
                tenant=tenant,
                client_id=client,
                resource=resource,
                fields=workload_fields("WorkloadIdentity", "serviceAccountRef"),
            )
            return workload_login(http, application, spec.service_account_ref, context)


def workload_fields(method: str, account: str) -> LoginFields:
    """The fields to check for a ServiceAccount's workload identity; `account` is the field that names it."""
    annotations = f"of the ServiceAccount in {account}"
    return LoginFields(
        method,
        client=f"the annotation {CLIENT_ID} {annotations}",
        tenant=f"tenantId, or the annotation {TENANT_ID} {annotations}",
        proof=account,
    )


async def read_stripped(selector: SecretKeySelector, credentials: Credentials) -> str:
    """An ID or password from a Secret, without surrounding white space."""
    found = await credentials.secret_key(selector.name, selector.key, selector.namespace)
    return found.raw.decode("utf-8", "replace").strip()


async def _service_principal_login(
    spec: AzureKvSpec, authority: str, resource: str, http: Http, context: OpenContext
) -> Login:
    ref = spec.auth_secret_ref
    if not spec.tenant_id:
        raise Malformed("missing tenantID in store config", hint="write tenantId into the store")
    if ref.client_id is None or (ref.client_secret is None and ref.client_certificate is None):
        raise Malformed(
            "missing accessKeyID/secretAccessKey in store config",
            hint="write authSecretRef.clientId, and clientSecret or clientCertificate",
        )
    if ref.client_secret is not None and ref.client_certificate is not None:
        raise Malformed(
            "both clientSecret and clientCredentials set", hint="keep clientSecret or clientCertificate"
        )
    application = Application(
        authority=authority,
        tenant=spec.tenant_id,
        client_id=await read_stripped(ref.client_id, context.credentials),
        resource=resource,
        fields=LoginFields(
            "ServicePrincipal",
            client="authSecretRef.clientId",
            tenant="tenantId",
            proof=f"authSecretRef.{'clientSecret' if ref.client_secret is not None else 'clientCertificate'}",
        ),
    )
    if ref.client_secret is not None:
        secret = SecretBytes((await read_stripped(ref.client_secret, context.credentials)).encode())
        return partial(entra.log_in_with_secret, http, application, secret, context.now)
    selector = ref.client_certificate or SecretKeySelector()
    document = await context.credentials.secret_key(selector.name, selector.key, selector.namespace)
    place = f'key "{selector.key}" of Secret "{selector.name}"'
    certificate = await context.compute(lambda work: ClientCertificate(document, place, work))
    return partial(entra.log_in_with_certificate, http, application, certificate, context.now)


async def _workload_ids(
    spec: AzureKvSpec, account: ServiceAccountSelector, credentials: Credentials
) -> tuple[str, str]:
    """Client ID and tenant ID: from Secrets, the store, or the annotations of the ServiceAccount."""
    annotations = await credentials.account_annotations(account.name, account.namespace)
    ref = spec.auth_secret_ref
    client = await read_stripped(ref.client_id, credentials) if ref.client_id else ""
    tenant = await read_stripped(ref.tenant_id, credentials) if ref.tenant_id else ""
    client = _consistent(client, annotations.get(CLIENT_ID, ""), "multiple clientID found", "secretRef")
    written = tenant or spec.tenant_id or ""
    annotated = "" if spec.use_azure_sdk and written else annotations.get(TENANT_ID, "")
    tenant = _consistent(
        written, annotated, "multiple tenantID found", "secretRef, 'spec.provider.azurekv.tenantId'"
    )
    tenant = tenant or environment.ADDRESSES.get("AZURE_TENANT_ID", "")
    if not client:
        raise Malformed(
            "missing clientID: either serviceAccountRef or service account annotation "
            f"'{CLIENT_ID}' is missing",
            hint=f"annotate ServiceAccount {account.name}, or write authSecretRef.clientId",
        )
    if not tenant:
        raise Malformed("missing tenantID in store config", hint="write tenantId into the store")
    return client, tenant


def _consistent(written: str, annotated: str, problem: str, places: str) -> str:
    """The value of either source, if any. Raises Malformed if both are set and differ."""
    if written and annotated and written != annotated:
        raise Malformed(f"{problem}. Check {places} and serviceAccountRef", hint="keep one of them")
    return written or annotated
