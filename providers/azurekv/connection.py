"""Opens a store: HTTP, a login, and a client that uses both."""

import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Final
from urllib.parse import urlsplit

from syncret.providers.azurekv.api import VERSION, Api
from syncret.providers.azurekv.auth import choose_login
from syncret.providers.azurekv.client import AzureKvClient
from syncret.providers.azurekv.errors import REFUSALS
from syncret.providers.azurekv.spec import AzureKvSpec
from syncret.providers.contract import OpenContext
from syncret.providers.errors import Malformed
from syncret.providers.kit import environment
from syncret.providers.kit.azure.clouds import CLOUDS, Cloud
from syncret.providers.kit.http import Http
from syncret.providers.kit.rest.connection import connected
from syncret.providers.kit.rest.identities import Identity, LoggedIn

_RESOURCE: Final = re.compile(r'\b(?:resource|scope)="(https://[^"/]+)/?(?:\.default)?"')


@asynccontextmanager
async def open_store(spec: AzureKvSpec, context: OpenContext) -> AsyncGenerator[AzureKvClient, None]:
    """A client that is logged in. Raises SyncError."""
    cloud = cloud_of(spec)

    async def identify(http: Http) -> Identity:
        resource = cloud.vault or await _challenge_resource(http)
        return LoggedIn(await choose_login(spec, cloud.authority, resource, http, context), context)

    async with connected(spec.vault_url, context, identify, REFUSALS) as rest:
        yield AzureKvClient(Api(rest), context.compute)


def cloud_of(spec: AzureKvSpec) -> Cloud:
    """The cloud of a store's `environmentType`. Raises Malformed for one that was shut down."""
    if spec.use_azure_sdk and spec.environment_type == "GermanCloud":
        raise Malformed(
            "Azure Germany was discontinued on October 29, 2021",
            hint="use AzureStackCloud with customCloudConfig, or move to the public cloud",
        )
    usual, custom = CLOUDS[spec.environment_type], spec.custom_cloud_config
    if custom is None:
        return usual.with_overrides(environment.ADDRESSES)
    vault = custom.key_vault_endpoint or ""
    if not vault and custom.key_vault_dns_suffix:
        vault = f"https://{custom.key_vault_dns_suffix.lstrip('.')}"
    return Cloud(
        authority=custom.active_directory_endpoint.rstrip("/"),
        vault=vault.rstrip("/") or usual.vault,
    )


async def _challenge_resource(http: Http) -> str:
    """The resource that the vault's challenge names.

    It must be a suffix of the vault's own host name: a token for another resource could be used elsewhere.
    Raises Malformed.
    """
    doing = "asking the vault which tokens it takes"
    answer = await http.request(
        "GET", "/secrets", doing=doing, params=VERSION, accept=(HTTPStatus.UNAUTHORIZED,)
    )
    found = _RESOURCE.search(answer.headers.get("www-authenticate", ""))
    vault, hint = urlsplit(http.base).hostname or "", "write customCloudConfig.keyVaultEndpoint"
    if answer.status != HTTPStatus.UNAUTHORIZED or found is None:
        raise Malformed(f"{doing}: it does not say so", hint=hint)
    if not vault.endswith(f".{urlsplit(found[1]).hostname}"):
        raise Malformed(f"{doing}: it names another service than its own", hint=hint)
    return found[1]
