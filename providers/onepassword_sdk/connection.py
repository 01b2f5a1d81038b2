"""Opens a store: logged in by the SDK, as the service account of a token."""

import socket
from base64 import urlsafe_b64decode
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import msgspec

from syncret.config.durations import parse_duration
from syncret.providers.contract import OpenContext
from syncret.providers.errors import Malformed, Unavailable
from syncret.providers.kit.environment import ADDRESSES
from syncret.providers.kit.http.resolver import EgressResolver
from syncret.providers.kit.references import read_trimmed
from syncret.providers.onepassword_sdk.client import VaultClient
from syncret.providers.onepassword_sdk.environment import EnvironmentClient
from syncret.providers.onepassword_sdk.kept import Kept
from syncret.providers.onepassword_sdk.push import Pusher
from syncret.providers.onepassword_sdk.sdk import TOKEN, connect, release, require_library
from syncret.providers.onepassword_sdk.spec import IntegrationInfo, OnePasswordSDKSpec
from syncret.providers.onepassword_sdk.vault import vault_named


class _Token(msgspec.Struct, rename="camel"):
    sign_in_address: str


@asynccontextmanager
async def open_store(
    spec: OnePasswordSDKSpec, context: OpenContext
) -> AsyncGenerator[VaultClient | EnvironmentClient, None]:
    """A client that is logged in. Raises SyncError."""
    require_library()
    path = "auth.serviceAccountSecretRef"
    token = await read_trimmed(context, spec.auth.service_account_secret_ref, path)
    await _check_egress(_host(token, path), context)
    info = spec.integration_info or IntegrationInfo()
    client = await context.log_in(lambda: connect(token, info.name, info.version))
    kept = Kept(context.now)
    if spec.cache is not None:
        kept = Kept(context.now, seconds=parse_duration(spec.cache.ttl), most=spec.cache.max_size)
    try:
        if spec.environment:
            yield EnvironmentClient(client, spec.environment, kept)
        else:
            vault = await vault_named(client, spec.vault)
            yield VaultClient(vault, Pusher(vault), kept)
    finally:
        release(client)


async def _check_egress(host: str, context: OpenContext) -> None:
    """Raise Denied if the server may not be reached: the SDK itself resolves the name without this check."""
    context.network.egress.check_host(host)
    if ADDRESSES.get("HTTPS_PROXY"):
        return  # the proxy resolves the name
    try:
        await EgressResolver(context.network).resolve(host, 443, socket.AF_UNSPEC)
    except OSError:
        failed = Unavailable(
            f"logging in to 1Password: there is no host {host}", problem=f"there is no host {host}"
        )
    else:
        return
    raise failed


def _host(token: str, path: str) -> str:
    """The host that a token is for: the SDK calls it, and the author of the token chose it."""
    encoded = token.removeprefix("ops_")
    try:
        written = urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4))
        address = msgspec.json.decode(written, type=_Token).sign_in_address
        host = urlsplit(address if "://" in address else f"https://{address}").hostname
    except (ValueError, msgspec.MsgspecError):
        host = None
    if not host:
        raise Malformed(f"{path}: the Secret holds no token of a service account", hint=TOKEN)
    return host
