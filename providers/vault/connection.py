"""Opens a store: HTTP, a login, and a client that uses both."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from syncret.providers.contract import OpenContext
from syncret.providers.kit.http import Http, Timeouts, Tls
from syncret.providers.kit.references import ca_bundle, read_text
from syncret.providers.kit.vault.client import Vault
from syncret.providers.kit.vault.entries import Engine
from syncret.providers.kit.vault.key_values import KeyValues
from syncret.providers.kit.vault.wire import Index, Wire
from syncret.providers.vault import auth
from syncret.providers.vault.auth import static
from syncret.providers.vault.auth_spec import VaultAuth
from syncret.providers.vault.client import VaultClient
from syncret.providers.vault.push import VaultPusher
from syncret.providers.vault.spec import VaultSpec


@asynccontextmanager
async def open_store(spec: VaultSpec, context: OpenContext) -> AsyncGenerator[VaultClient, None]:
    """Open a client of a store, logged in; leaving the block revokes the token."""
    async with open_vault(spec, context) as vault:
        entries = KeyValues(vault, Engine(spec.path.strip("/"), spec.version))
        yield VaultClient(vault, entries, VaultPusher(entries, context.compute), context.compute)


@asynccontextmanager
async def open_vault(
    spec: VaultSpec, context: OpenContext, *, timeouts: Timeouts | None = None
) -> AsyncGenerator[Vault, None]:
    """A Vault server, logged in."""
    login = None if spec.auth is None else auth.choose_login(spec, context)
    http = Http(
        spec.server,
        tls=await _tls(spec, context),
        timeouts=timeouts or Timeouts(),
        trusts_redirects=True,  # a standby points to the active node
        now=context.now,
        network=context.network,
    )
    auth_namespace = spec.auth.namespace if spec.auth is not None else ""
    async with http:
        wire = Wire(http, context.compute, _headers(spec), _index(spec))
        async with Vault(
            wire,
            login,
            namespace=spec.namespace,
            auth_namespace=auth_namespace or spec.namespace,
            now=context.now,
            log_in=context.log_in,
        ) as vault:
            yield vault


def _headers(spec: VaultSpec) -> dict[str, str]:
    forward = {"X-Vault-Inconsistent": "forward-active-node"}
    return {**spec.headers, **(forward if spec.read_your_writes and spec.forward_inconsistent else {})}


def _index(spec: VaultSpec) -> Index | None:
    return Index() if spec.read_your_writes or spec.forward_inconsistent else None


async def _tls(spec: VaultSpec, context: OpenContext) -> Tls:
    certificate, key = await _identity(spec, context)
    ca = await ca_bundle(spec.ca_bundle, spec.ca_provider, context)
    return Tls(ca=ca, certificate=certificate, key=key)


async def _identity(spec: VaultSpec, context: OpenContext) -> tuple[bytes, bytes]:
    """Our client certificate: that of the login method `cert`, otherwise that of the spec's `tls`."""
    method, chosen = (spec.auth or VaultAuth()).chosen()
    if method == "cert":
        return await static.pair(chosen, context)
    own = spec.tls
    if own is None or own.cert_secret_ref is None or own.key_secret_ref is None:
        return b"", b""
    key = await read_text(context, own.key_secret_ref, "tls.keySecretRef", key="tls.key")
    certificate = await read_text(context, own.cert_secret_ref, "tls.certSecretRef", key="tls.crt")
    return certificate.encode(), key.encode()
