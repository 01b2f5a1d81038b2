"""Opens a store: HTTP, a login, and a client that uses both."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from syncret.providers.contract import OpenContext
from syncret.providers.errors import Malformed
from syncret.providers.kit.http import Http, Tls
from syncret.providers.kit.references import ca_bundle, read_text
from syncret.providers.kit.vault import requests
from syncret.providers.kit.vault.client import Vault
from syncret.providers.kit.vault.entries import Engine
from syncret.providers.kit.vault.key_values import KeyValues
from syncret.providers.kit.vault.replies import Reply
from syncret.providers.kit.vault.tokens import Login
from syncret.providers.kit.vault.wire import Adapter, Wire
from syncret.providers.openbao.client import OpenBaoClient
from syncret.providers.openbao.spec import OpenBaoAuth, OpenBaoSpec
from syncret.providers.values import SecretBytes

_MOUNT: Final = "kv"


@asynccontextmanager
async def open_store(spec: OpenBaoSpec, context: OpenContext) -> AsyncGenerator[OpenBaoClient, None]:
    """Open a client of a store, logged in; leaving the block revokes the token."""
    login = None if spec.auth is None else _login(spec.auth, context)
    auth_namespace = spec.auth.namespace if spec.auth is not None else ""
    ca = await ca_bundle(spec.ca_bundle, spec.ca_provider, context)
    engine = Engine(spec.path.strip("/") or _MOUNT, spec.version, literal=True)
    async with (
        Http(
            spec.server, tls=Tls(ca=ca), trusts_redirects=True, now=context.now, network=context.network
        ) as http,
        Vault(
            Wire(http, context.compute),
            login,
            namespace=spec.namespace,
            auth_namespace=auth_namespace or spec.namespace,
            now=context.now,
            log_in=context.log_in,
        ) as bao,
    ):
        yield OpenBaoClient(KeyValues(bao, engine), context.compute)


def _login(auth: OpenBaoAuth, context: OpenContext) -> Login:
    """The login of the method that the spec has."""
    token, role, user = auth.token_secret_ref, auth.app_role, auth.user_pass

    async def by_token(_adapter: Adapter) -> SecretBytes:
        return SecretBytes((await read_text(context, token, "auth.tokenSecretRef")).encode())

    if token is not None:
        return Login("token", by_token, "check the Secret in auth.tokenSecretRef")
    if role is not None:

        async def by_role(adapter: Adapter) -> Reply:
            name = role.role_id or await read_text(context, role.role_ref, "auth.appRole.roleRef")
            secret = await read_text(context, role.secret_ref, "auth.appRole.secretRef")
            return await requests.app_role(adapter, role.path, name, secret)

        remedy = "check auth.appRole.roleId, and the SecretID in auth.appRole.secretRef"
        return Login("appRole", by_role, remedy)
    if user is not None:

        async def by_password(adapter: Adapter) -> Reply:
            password = await read_text(context, user.secret_ref, "auth.userPass.secretRef")
            return await requests.password(adapter, user.path, user.username, password)

        remedy = "check auth.userPass.username, and the password in auth.userPass.secretRef"
        return Login("userPass", by_password, remedy)
    raise Malformed(
        "unsupported auth method", hint="auth names no method: write one of them, such as appRole"
    )
