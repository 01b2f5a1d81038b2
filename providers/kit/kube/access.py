"""Opens clients of API servers: by `server` and `auth` of a store, or by a kubeconfig.

A kubeconfig from a Secret may contain data only, not names of files or commands.
"""

from base64 import b64decode
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Final, NamedTuple

from syncret.config.fields import Json, SecretKeySelector
from syncret.config.meta import Document, is_list, is_object
from syncret.config.text.yaml import parse_text
from syncret.providers.contract import OpenContext
from syncret.providers.errors import Malformed
from syncret.providers.kit.auth.logins import ExpiringLogin, ExpiringValue, bearer
from syncret.providers.kit.auth.refused import refused
from syncret.providers.kit.http import Answer, Http, Tls, Unauthenticated
from syncret.providers.kit.kube.client import Kube, Login
from syncret.providers.kit.kube.spec import ClientCertificate, KubernetesAuth, KubernetesServer
from syncret.providers.kit.references import ca_bundle
from syncret.providers.values import SecretBytes

_UNSUPPORTED: Final = {
    "exec": "it would run a program",
    "auth-provider": "it would run a program",
    "client-certificate": "it names a file",
    "client-key": "it names a file",
    "tokenFile": "it names a file",
    "certificate-authority": "it names a file",
    "username": "API servers have no passwords any more",
    "tls-server-name": "write the server's name into its URL",
    "proxy-url": "remove it, and set HTTPS_PROXY for the daemon",
}


class Kubeconfig(NamedTuple):
    """The current context of a kubeconfig."""

    server: str
    tls: Tls
    token: SecretBytes | None
    as_whom: Mapping[str, str]
    """Headers that name the user whose rights count."""


def impersonation(user: Document) -> Mapping[str, str]:
    """The headers of `as` in a kubeconfig: passed over, they would leave more rights than were meant.

    Raises Malformed.
    """
    name: object = user.get("as")
    given = user.get("as-groups")
    groups: Sequence[object] = given if is_list(given) else [given] if given else []
    if not name:
        for field in ("as-groups", "as-uid", "as-user-extra"):
            if user.get(field):
                raise Malformed(f"the kubeconfig has {field} without as", hint=f"write as, or remove {field}")
        return {}
    if user.get("as-user-extra") or len(groups) > 1:
        what = "as-user-extra" if user.get("as-user-extra") else "several as-groups"
        raise Malformed(f"the kubeconfig has {what}, which cannot be sent", hint="use another context")
    headers = {"Impersonate-User": str(name)}
    if user.get("as-uid"):
        headers["Impersonate-Uid"] = str(user["as-uid"])
    if groups:
        headers["Impersonate-Group"] = str(groups[0])
    return headers


def read_kubeconfig(data: bytes) -> Kubeconfig:
    """The current context. Raises Malformed; no message quotes the text."""
    parsed = next(iter(parse_text(data)), None)
    if parsed is None or not is_object(parsed.value):
        raise Malformed("the kubeconfig of authRef is not a YAML mapping", hint="store the file as it is")
    config = parsed.value
    context = _named(config, "contexts", "context", config.get("current-context"))
    cluster = _named(config, "clusters", "cluster", context.get("cluster"))
    user = _named(config, "users", "user", context.get("user"))
    for field in (*cluster, *user):
        if field in _UNSUPPORTED:
            raise Malformed(
                f"the kubeconfig of authRef has {field}: {_UNSUPPORTED[field]}",
                hint="use token, client-certificate-data, client-key-data and certificate-authority-data",
            )
    tls = Tls(
        ca=_decoded(cluster, "certificate-authority-data"),
        certificate=_decoded(user, "client-certificate-data"),
        key=_decoded(user, "client-key-data"),
        verify=cluster.get("insecure-skip-tls-verify") is not True,
    )
    token = user.get("token")
    return Kubeconfig(
        str(cluster.get("server") or ""),
        tls,
        SecretBytes(str(token).encode()) if token else None,
        impersonation(user),
    )


def _named(config: Document, collection: str, field: str, name: Json) -> Document:
    entries = config.get(collection)
    for entry in entries if is_list(entries) else ():
        if is_object(entry) and entry.get("name") == name and is_object(entry.get(field)):
            found: Document = entry[field]
            return found
    raise Malformed(
        f"the kubeconfig of authRef has no {field} that its current context names",
        hint="set current-context, and keep the cluster and user it leads to",
    )


def _decoded(fields: Document, name: str) -> bytes:
    try:
        return b64decode(str(fields.get(name) or ""), validate=True)
    except ValueError:
        pass
    raise Malformed(
        f"the kubeconfig of authRef: {name} is not base64",
        hint="write the PEM there in base64, without line breaks: base64 -w0",
    )


TOKEN_SECONDS: Final = 3600
LARGEST: Final = 4 * 2**20
"""Bytes of a response: an API server takes no object of more than 3 MiB, and pages can be smaller."""


class FixedHeaders:
    """A Login whose headers never change."""

    def __init__(self, headers: Mapping[str, str]) -> None:
        self._headers = headers

    async def use(self, call: Callable[[Mapping[str, str]], Awaitable[Answer]]) -> Answer:
        return await call(self._headers)


class _NamedLogin:
    """A Login that names its method and the field to check if the API server does not accept it."""

    def __init__(self, login: Login, method: str, check: str) -> None:
        self._login = login
        self._method = method
        self._check = check

    async def use(self, call: Callable[[Mapping[str, str]], Awaitable[Answer]]) -> Answer:
        try:
            return await self._login.use(call)
        except Unauthenticated as error:
            error.hint = "it is wrong or has expired"
            raise refused(error, self._method, self._check) from None


@asynccontextmanager
async def open_kube(
    server: KubernetesServer,
    auth: KubernetesAuth | None,
    auth_ref: SecretKeySelector | None,
    context: OpenContext,
) -> AsyncGenerator[Kube, None]:
    """A client. Raises SyncError if the spec or a credential is incomplete."""
    if auth_ref is not None:
        if auth is not None:
            raise Malformed("authRef and auth cannot be used together", hint="remove one of them")
        found = read_kubeconfig((await _key(context, auth_ref)).raw)
        url, tls = found.server, found.tls
        headers = {**(bearer(found.token) if found.token else {}), **found.as_whom}
        login: Login = _NamedLogin(FixedHeaders(headers), "authRef", "the user of the kubeconfig in authRef")
    elif auth is None:
        raise Malformed("no auth provider given", hint="write auth.serviceAccount, auth.token or auth.cert")
    else:
        url = server.url
        ca = await ca_bundle(server.ca_bundle, server.ca_provider, context)
        tls, login = await _authentication(auth, ca, context)
    url = url if "://" in url else f"https://{url}"
    async with Http(url, tls=tls, largest=LARGEST, now=context.now, network=context.network) as http:
        yield Kube(http, login)


async def _authentication(auth: KubernetesAuth, ca: bytes, context: OpenContext) -> tuple[Tls, Login]:
    if auth.token is not None:
        token = FixedHeaders(bearer(await _key(context, auth.token.bearer_token)))
        return Tls(ca=ca), _NamedLogin(token, "auth.token", "auth.token.bearerToken")
    if auth.cert is not None:
        login = _NamedLogin(FixedHeaders({}), "auth.cert", "auth.cert.clientCert")
        return await _certificate(auth.cert, ca, context), login
    account = auth.service_account
    if account is None:
        raise Malformed("no auth provider given", hint="write auth.serviceAccount, auth.token or auth.cert")

    async def issued() -> ExpiringValue[Mapping[str, str]]:
        issue = context.credentials.account_token
        token = await issue(
            account.name, audiences=account.audiences, seconds=TOKEN_SECONDS, namespace=account.namespace
        )
        return ExpiringValue(bearer(token.token), token.expires)

    expiring = ExpiringLogin(issued, now=context.now, log_in=context.log_in)
    await expiring.get()
    check = "auth.serviceAccount, and its audiences"
    return Tls(ca=ca), _NamedLogin(expiring, "auth.serviceAccount", check)


async def _certificate(pair: ClientCertificate, ca: bytes, context: OpenContext) -> Tls:
    certificate = await _key(context, pair.client_cert)
    key = await _key(context, pair.client_key)
    return Tls(ca=ca, certificate=certificate.raw, key=key.raw)


async def _key(context: OpenContext, selector: SecretKeySelector) -> SecretBytes:
    return await context.credentials.secret_key(selector.name, selector.key, selector.namespace)
