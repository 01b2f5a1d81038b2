"""Tokens of managed identities, from the metadata server of a machine or the endpoint of an App Service."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final

from syncret.providers.contract import SecretBytes
from syncret.providers.errors import Malformed, Unavailable
from syncret.providers.kit.auth.logins import ExpiringValue
from syncret.providers.kit.azure.entra import token_of
from syncret.providers.kit.http import Http

_TIMEOUT: Final = 5.0
"""Seconds; outside Azure often nothing answers at all."""

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


async def log_in_with_managed_identity(
    http: Http,
    environment: Mapping[str, str],
    resource: str,
    identity: str,
    now: Callable[[], float],
) -> ExpiringValue[SecretBytes]:
    """A token for a service, of the identity with this client ID or resource ID (empty: the only one)."""
    endpoint = _endpoint(environment)
    params = {"api-version": endpoint.version, "resource": resource}
    if identity:
        params[endpoint.by_resource if "/" in identity else "client_id"] = identity
    doing = "logging in as the managed identity"
    try:
        async with asyncio.timeout(_TIMEOUT):
            answer = await http.request(
                "GET", endpoint.url, doing=doing, params=params, headers=endpoint.headers, accept=_EXPECTED
            )
    except TimeoutError:
        raise Unavailable(f"{doing}: nobody answers", hint=_HINT) from None
    except Unavailable as error:
        raise Unavailable(error.message, hint=_HINT) from None
    if answer.status == HTTPStatus.GONE:
        raise Unavailable(f"{doing}: the metadata server is being updated")
    if answer.status != HTTPStatus.OK:
        hint = f"is identityId {identity} assigned to the machine?" if identity else _HINT
        raise Malformed(f"{doing}: there is no such identity here (HTTP {answer.status})", hint=hint)
    return token_of(answer, now())


def _endpoint(environment: Mapping[str, str]) -> _Endpoint:
    url, secret = environment.get("IDENTITY_ENDPOINT"), environment.get("IDENTITY_HEADER")
    if url and secret:  # App Service, Functions, Container Apps
        return _Endpoint(url, {"X-IDENTITY-HEADER": secret}, "2019-08-01", "mi_res_id")
    host = environment.get("AZURE_POD_IDENTITY_AUTHORITY_HOST", _IMDS).rstrip("/")
    return _Endpoint(
        f"{host}/metadata/identity/oauth2/token", {"Metadata": "true"}, "2018-02-01", "msi_res_id"
    )
