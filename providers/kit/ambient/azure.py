"""What Azure gives the machine or pod of the daemon: a managed identity, or a federated token."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final

from syncret.providers.contract import OwnIdentity
from syncret.providers.errors import Malformed, Unavailable
from syncret.providers.kit.ambient import metadata
from syncret.providers.kit.auth.logins import ExpiringValue
from syncret.providers.kit.azure.entra import Application, Login, LoginFields, log_in_with_token, token_of
from syncret.providers.kit.http import Http
from syncret.providers.values import SecretBytes

_IMDS: Final = "http://169.254.169.254"
_HINT: Final = "give the machine (in AKS the node or pod) an identity, or choose another authType"
_EXPECTED: Final = (HTTPStatus.BAD_REQUEST, HTTPStatus.NOT_FOUND, HTTPStatus.GONE)


@dataclass(frozen=True, slots=True)
class _Endpoint:
    url: str
    headers: Mapping[str, str] = field(repr=False)
    version: str
    by_resource: str
    """The parameter for an identity's resource ID, which differs between services."""
    of_machine: bool = False
    """Whether it is the machine's metadata server, which answers 404 also while it is being updated."""


async def log_in_with_managed_identity(
    own: OwnIdentity,
    resource: str,
    identity: str,
    now: Callable[[], float],
    *,
    object_id: str = "",
    hint: str = "",
) -> ExpiringValue[SecretBytes]:
    """A token for a service, from the metadata server of the machine, or the endpoint of an App Service.

    Args:
        own: what the door grants.
        resource: the service.
        identity: client ID or resource ID of the identity; empty: the only one.
        now: the clock.
        object_id: its object ID, in place of `identity`.
        hint: what to do if there is no such identity; empty: as for `identityId` and `authType`.
    """
    endpoint = _endpoint(own.environment)
    params = {"api-version": endpoint.version, "resource": resource}
    if identity:
        params[endpoint.by_resource if "/" in identity else "client_id"] = identity
    if object_id:
        params["object_id"] = object_id
    doing = "logging in as the managed identity"
    answer = await metadata.ask(
        "GET",
        endpoint.url,
        doing=doing,
        hint=hint or _HINT,
        now=now,
        params=params,
        headers=endpoint.headers,
        accept=_EXPECTED,
    )
    if answer.status == HTTPStatus.GONE:
        raise Unavailable(f"{doing}: the metadata server is being updated")
    hint = hint or (f"is identityId {identity} assigned to the machine?" if identity else _HINT)
    if answer.status == HTTPStatus.NOT_FOUND and endpoint.of_machine:
        problem = "the metadata server is being updated, or has no such identity (HTTP 404)"
        raise Unavailable(f"{doing}: {problem}", hint=hint)
    if answer.status != HTTPStatus.OK:
        raise Malformed(f"{doing}: there is no such identity here (HTTP {answer.status})", hint=hint)
    return token_of(answer, now())


def pod_login(own: OwnIdentity, authority: str, resource: str, http: Http, now: Callable[[], float]) -> Login:
    """The workload identity of the daemon's own pod, as Azure's webhook injects it."""
    names = ("AZURE_CLIENT_ID", "AZURE_TENANT_ID", "AZURE_FEDERATED_TOKEN_FILE")
    client, tenant, path = (own.environment.get(name, "") for name in names)
    if not (client and tenant and path):
        raise Malformed(
            "missing environment variables. AZURE_CLIENT_ID, AZURE_TENANT_ID and AZURE_FEDERATED_TOKEN_FILE "
            "must be set",
            hint="label the daemon's pod azure.workload.identity/use=true, or write serviceAccountRef",
        )
    application = Application(
        authority=authority,
        tenant=tenant,
        client_id=client,
        resource=resource,
        fields=LoginFields("the daemon's own workload identity", *names),
    )

    async def login() -> ExpiringValue[SecretBytes]:
        token = own.read_file(path, what="federated token")
        return await log_in_with_token(http, application, token, now)

    return login


def _endpoint(environment: Mapping[str, str]) -> _Endpoint:
    url, secret = environment.get("IDENTITY_ENDPOINT"), environment.get("IDENTITY_HEADER")
    if url and secret:  # App Service, Functions, Container Apps
        return _Endpoint(url, {"X-IDENTITY-HEADER": secret}, "2019-08-01", "mi_res_id")
    host = environment.get("AZURE_POD_IDENTITY_AUTHORITY_HOST", _IMDS).rstrip("/")
    return _Endpoint(
        f"{host}/metadata/identity/oauth2/token",
        {"Metadata": "true"},
        "2018-02-01",
        "msi_res_id",
        of_machine=True,
    )
