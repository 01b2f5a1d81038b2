"""The spec of a BeyondTrust Workload Credentials store, and its rules beyond the schema."""

import re
from collections.abc import Iterator
from typing import Final

from syncret.config.catalog import Scope
from syncret.config.errors import Problem
from syncret.config.fields import Base64, CAProvider, Model, SecretKeySelector
from syncret.providers.kit.spec_rules import address, filled, strict

_UUID4: Final = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", re.IGNORECASE
)
_MISSING: Final = (
    "missing or invalid BeyondtrustWorkloadCredentials {} in BeyondtrustWorkloadCredentials SecretStore"
)


class ApiKey(Model):
    """The token of the API, from a Secret.

    Example: {token: {name: beyondtrust-login, key: token}}
    """

    token: SecretKeySelector
    """An API token; the key is `token` by default. Example: {name: beyondtrust-login, key: token}"""


class WorkloadCredentialsAuth(Model):
    """How the store authenticates.

    Example: {apikey: {token: {name: beyondtrust-login, key: token}}}
    """

    apikey: ApiKey
    """A token that is kept in a Secret."""


class WorkloadCredentialsServer(Model):
    """The instance, and the site in it.

    Example: {apiUrl: 'https://api.beyondtrust.io/site', siteId: 1f0e1d3c-8a6b-4c5d-9e7f-2a3b4c5d6e7f}
    """

    api_url: str
    """Address of the API, with https and `/site`. Example: https://api.beyondtrust.io/site"""
    site_id: str
    """ID of the site, a UUID of version 4 that the admin console shows.
    Example: 1f0e1d3c-8a6b-4c5d-9e7f-2a3b4c5d6e7f"""


class BeyondTrustWorkloadCredentialsSpec(Model):
    """Reads static secrets of one site.

    Example: {auth: {apikey: {token: {name: beyondtrust-login, key: token}}}, server: {apiUrl:
    'https://api.beyondtrust.io/site', siteId: 1f0e1d3c-8a6b-4c5d-9e7f-2a3b4c5d6e7f}}
    """

    auth: WorkloadCredentialsAuth
    """How the store authenticates to BeyondTrust."""
    server: WorkloadCredentialsServer
    """Where the secrets are."""
    folder_path: str | None = None
    """The folder of the secrets; absent: the root. Example: shop/prod"""
    ca_bundle: Base64 | None = None
    """The authorities that signed the server's certificate, as base64 of PEM; absent: the machine's.
    Example: LS0tLS1CRUdJTi4uLi0tLS0t"""
    ca_provider: CAProvider | None = None
    """Where these authorities are kept, instead of in the store."""


def check(spec: BeyondTrustWorkloadCredentialsSpec, scope: Scope) -> Iterator[Problem]:
    """The token is named and in scope; the server's address is https, its site a UUID."""
    yield from _check_auth(spec.auth, scope)
    yield from _check_server(spec.server)


def _check_auth(auth: WorkloadCredentialsAuth, scope: Scope) -> Iterator[Problem]:
    path = "auth.apikey.token"
    yield from strict(auth.apikey.token, scope, path)
    yield from filled(
        auth.apikey.token.name,
        f"{path}.name",
        _MISSING.format("API Token name"),
        "name the Secret of the token",
    )


def _check_server(server: WorkloadCredentialsServer) -> Iterator[Problem]:
    if not server.api_url:
        message = _MISSING.format("Server API URL")
        yield Problem(path="server.apiUrl", message=message, hint="write the instance's address")
    elif problem := _url_problem(server.api_url):
        yield Problem(
            path="server.apiUrl",
            message=f"invalid apiUrl: {problem}",
            hint="write it as https://api.example.com/site",
        )
    if not server.site_id:
        message = _MISSING.format("Server site ID")
        yield Problem(path="server.siteId", message=message, hint="copy it from the admin console")
    elif not _UUID4.fullmatch(server.site_id):
        yield Problem(
            path="server.siteId",
            message="invalid siteId: siteId must be a valid UUID format",
            hint="copy it from the admin console",
        )


def _url_problem(url: str) -> str:
    server = address(url)
    if server is None:
        return "failed to parse apiUrl"
    if not server.scheme:
        return "apiUrl must include a scheme (https)"
    if server.scheme != "https":
        return f'apiUrl must use https scheme, got "{server.scheme}"'
    return "" if server.host else "apiUrl must include a host"
