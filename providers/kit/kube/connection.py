"""Opens the API server that a store names: by `server` and `auth`, or by a kubeconfig (`authRef`)."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Final

from syncret.config.fields import SecretKeySelector
from syncret.providers.contract import OpenContext, SecretBytes
from syncret.providers.errors import Malformed
from syncret.providers.kit.credentials import Expiring, Lease, bearer
from syncret.providers.kit.http import Answer, Http, Tls
from syncret.providers.kit.kube import kubeconfig
from syncret.providers.kit.kube.client import Kube, Login
from syncret.providers.kit.kube_spec import ClientCertificate, KubernetesAuth, KubernetesServer
from syncret.providers.kit.trust import authorities

TOKEN_SECONDS: Final = 3600
LARGEST: Final = 64 * 2**20
"""Bytes of one page: five hundred objects, of at most 1.5 MB each, which are rarely near that."""


class Fixed:
    """The same headers for ever."""

    def __init__(self, headers: Mapping[str, str]) -> None:
        self._headers = headers

    async def use(self, call: Callable[[Mapping[str, str]], Awaitable[Answer]]) -> Answer:
        return await call(self._headers)


@asynccontextmanager
async def open_kube(
    server: KubernetesServer,
    auth: KubernetesAuth | None,
    auth_ref: SecretKeySelector | None,
    context: OpenContext,
) -> AsyncGenerator[Kube, None]:
    """A client. Raises SyncError where the spec or a credential is not enough to reach a server."""
    if auth_ref is not None:
        if auth is not None:
            raise Malformed("authRef and auth cannot be used together", hint="remove one of them")
        found = kubeconfig.read((await _key(context, auth_ref)).raw)
        url, tls = found.server, found.tls
        login: Login = _token(found.token)
    elif auth is None:
        raise Malformed("no auth provider given", hint="write auth.serviceAccount, auth.token or auth.cert")
    else:
        url = server.url
        ca = await authorities(server.ca_bundle, server.ca_provider, context)
        tls, login = await _who(auth, ca, context)
    url = url if "://" in url else f"https://{url}"
    async with Http(url, tls=tls, largest=LARGEST, now=context.now) as http:
        yield Kube(http, login)


async def _who(auth: KubernetesAuth, ca: bytes, context: OpenContext) -> tuple[Tls, Login]:
    if auth.token is not None:
        return Tls(ca=ca), _token(await _key(context, auth.token.bearer_token))
    if auth.cert is not None:
        return await _certificate(auth.cert, ca, context), Fixed({})
    account = auth.service_account
    if account is None:
        raise Malformed("no auth provider given", hint="write auth.serviceAccount, auth.token or auth.cert")

    async def issued() -> Lease[Mapping[str, str]]:
        token = await context.credentials.account_token(
            account.name, audiences=account.audiences, seconds=TOKEN_SECONDS, namespace=account.namespace
        )
        return Lease(bearer(token.token), token.expires)

    login = Expiring(issued, now=context.now)
    await login.get()
    return Tls(ca=ca), login


async def _certificate(pair: ClientCertificate, ca: bytes, context: OpenContext) -> Tls:
    certificate = await _key(context, pair.client_cert)
    key = await _key(context, pair.client_key)
    return Tls(ca=ca, certificate=certificate.raw, key=key.raw)


async def _key(context: OpenContext, selector: SecretKeySelector) -> SecretBytes:
    return await context.credentials.secret_key(selector.name, selector.key, selector.namespace)


def _token(token: SecretBytes | None) -> Fixed:
    return Fixed({} if token is None else bearer(token))
