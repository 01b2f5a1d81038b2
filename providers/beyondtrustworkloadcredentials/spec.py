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
    """The token of the API, from a Secret."""

    token: SecretKeySelector


class WorkloadCredentialsAuth(Model):
    """How the store authenticates."""

    apikey: ApiKey


class WorkloadCredentialsServer(Model):
    """The instance, and the site in it."""

    api_url: str
    """Must be https."""
    site_id: str
    """A UUID of version 4, shown in the admin console."""


class BeyondTrustWorkloadCredentialsSpec(Model):
    """Reads secrets of one site."""

    auth: WorkloadCredentialsAuth
    server: WorkloadCredentialsServer
    folder_path: str | None = None
    """The folder that keys start from; the root by default."""
    ca_bundle: Base64 | None = None
    ca_provider: CAProvider | None = None


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
