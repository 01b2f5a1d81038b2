"""Sends the requests of a webhook spec: renders its templates, with the Secrets that they may use."""

import asyncio
import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Final, NamedTuple
from urllib.parse import quote_plus, unquote, urlsplit

from syncret.config.durations import parse_duration
from syncret.config.spelling import keys_hint
from syncret.providers.contract import OpenContext, Readiness, WholeSecret
from syncret.providers.errors import Malformed, SyncError, Unavailable
from syncret.providers.kit.environment import ADDRESSES
from syncret.providers.kit.http import CONNECTIONS, Answer, Body, Http, Timeouts, Tls, Unauthenticated
from syncret.providers.kit.http.proxies import proxy_for
from syncret.providers.kit.ntlm import Login, NtlmHttp
from syncret.providers.kit.references import ca_bundle
from syncret.providers.webhook.spec import Selector, WebhookNTLM, WebhookRequest
from syncret.providers.work import Work

NOT_MODIFIED: Final = 304

_REACHABLE_WITHIN: Final = 15.0
_PORTS: Final = {"http": 80}
_HTTPS: Final = 443
_LABEL: Final = "external-secrets.io/type"
_WEBHOOK: Final = "webhook"
_PLACEHOLDER: Final = re.compile(r"\{\{.*?\}\}", re.DOTALL)

Data = Mapping[str, Mapping[str, str]]


class _Request(NamedTuple):
    url: str
    headers: Mapping[str, str]
    body: bytes

    def __repr__(self) -> str:
        return "<_Request>"  # any part of it may hold a secret


class Api:
    """Sends the requests of a spec. Its templates may use `secrets` and the data of each call."""

    def __init__(
        self, spec: WebhookRequest[Selector], context: OpenContext, http: Http | NtlmHttp, secrets: Data
    ) -> None:
        self._spec = spec
        self._render = context.render
        self.compute = context.compute
        self._network = context.network
        self._http = http
        self._secrets = secrets

    def data(self, remote_ref: Mapping[str, str] | None) -> Data:
        """The data of templates: the remote reference, if there is one, and the Secrets."""
        if remote_ref is None:
            return self._secrets
        return {"remoteRef": remote_ref, **self._secrets}

    async def send(
        self,
        method: str,
        remote_ref: Mapping[str, str] | None,
        *,
        doing: str,
        body: str | bytes = "",
        accept: Sequence[int] = (),
    ) -> Answer:
        """The response to one request. Raises Malformed for templates that do not render, or SyncError."""
        data = self.data(remote_ref)
        request = await self.compute(lambda work: self._request(data, body, work))
        if _climbs(request.url, self._spec.url):
            raise Malformed(
                f"{doing}: the rendered path of url has a segment . or .., which the template has not",
                hint="it would lead to another path: is the key right?",
            )
        try:
            answer = await self._http.request(
                method,
                request.url,
                doing=doing,
                headers=request.headers,
                body=Body(request.body) if request.body else None,
                accept=(*accept, NOT_MODIFIED),
            )
        except Unauthenticated as error:
            if not isinstance(self._http, NtlmHttp):
                error.hint = (
                    "check the credentials in headers, and the Secrets in secrets that they come from"
                )
            raise
        if answer.status == NOT_MODIFIED:
            raise Malformed(f"{doing}: not modified", hint="HTTP 304 brings no value; what was synced stays")
        return answer

    def _request(self, data: Data, body: str | bytes, work: Work) -> _Request:
        """Render all templates of one request, out of one budget."""
        work.make(4 * sum(len(value) for values in data.values() for value in values.values()))
        escaped = {
            name: {
                key: value if _is_unescaped(name, key) else _escaped(value) for key, value in values.items()
            }
            for name, values in data.items()
        }
        url = self._rendered("url", self._spec.url, escaped, work)
        headers = {
            name: self._rendered(f"headers.{name}", text, data, work)
            for name, text in self._spec.headers.items()
        }
        if isinstance(body, str):
            body = self._rendered("body", body, data, work).encode("utf-8", "surrogateescape")
        return _Request(url, headers, body)

    def path(self, data: Data, work: Work) -> str:
        """The JSONPath of the value, rendered; empty: the whole body."""
        template = self._spec.result.json_path if self._spec.result else ""
        return self._rendered("result.jsonPath", template, data, work)

    async def reachable(self) -> Readiness:
        """Check that the server accepts connections; unknown if templates decide. Raises SyncError."""
        place = _place(self._spec.url)
        if place is None or proxy_for(*place, ADDRESSES):
            return "unknown"
        _, host, port = place
        try:
            async with asyncio.timeout(_REACHABLE_WITHIN):
                address = await self._network.resolve(host)
                _, writer = await asyncio.open_connection(str(address), port)
        except OSError:  # TimeoutError is one
            problem = f"{host}:{port} takes no connections"
            raise Unavailable(
                f"error accessing external store: {problem}",
                hint="check the host and port in url",
                problem=problem,
            ) from None
        writer.close()
        return "ready"

    def _rendered(self, field: str, template: str, data: Data, work: Work) -> str:
        if "{{" not in template:
            return template
        try:
            return self._render(template, data, work)
        except SyncError as error:
            raise error.within(field) from None

    def __repr__(self) -> str:
        return f"<Api {self._http!r}>"


@asynccontextmanager
async def open_api(spec: WebhookRequest[Selector], context: OpenContext) -> AsyncGenerator[Api, None]:
    """Open an API with its credentials. Raises SyncError if one of them is missing."""
    secrets: dict[str, dict[str, str]] = {}
    for each in spec.secrets:
        found = await _labelled_secret(context, each.secret_ref)
        texts = {key: value.raw.decode("utf-8", "surrogateescape") for key, value in found.data.items()}
        secrets.setdefault(each.name, {}).update(texts)
    tls = Tls(ca=await ca_bundle(spec.ca_bundle, spec.ca_provider, context))
    timeouts = Timeouts(total=parse_duration(spec.timeout) if spec.timeout else Timeouts().total)
    ntlm = spec.auth.ntlm if spec.auth else None
    login = None if ntlm is None else await _login(context, ntlm)
    async with Http(
        tls=tls,
        timeouts=timeouts,
        now=context.now,
        connections=1 if login else CONNECTIONS,
        network=context.network,
        parses=bool(spec.result and spec.result.json_path),
        names_servers=_place(spec.url) is not None,
    ) as http:
        yield Api(
            spec, context, NtlmHttp(http, login, context.now, context.log_in) if login else http, secrets
        )


async def _login(context: OpenContext, ntlm: WebhookNTLM) -> Login:
    texts: list[str] = []
    for selector in (ntlm.username_secret, ntlm.password_secret):
        found = await _labelled_secret(context, selector)
        if selector.key not in found.data:
            raise Malformed(
                f'cannot find key "{selector.key}" in Secret "{selector.name}"',
                hint=keys_hint(selector.key, found.data),
            )
        texts.append(found.data[selector.key].raw.decode("utf-8", "replace"))
    return Login(*texts)


async def _labelled_secret(context: OpenContext, selector: Selector) -> WholeSecret:
    """A Secret with the label for this use: no other Secret may be sent in a request."""
    namespace: str | None = getattr(selector, "namespace", None)
    if context.scope.cluster and namespace is None:
        raise Malformed(
            f'no namespace on ClusterScoped webhook secret "{selector.name}"',
            hint="write secretRef.namespace",
        )
    found = await context.credentials.secret(selector.name, namespace)
    if found.labels.get(_LABEL) != _WEBHOOK:
        raise Malformed(
            f"secret does not contain needed label '{_LABEL}: {_WEBHOOK}'. "
            "Update secret label to use it with webhook",
            hint=f'label Secret "{selector.name}", if its values may be sent to this API',
        )
    return found


def _is_unescaped(name: str, key: str) -> bool:
    """As in the operator, the namespace and whole Secrets are not escaped in a URL."""
    return name != "remoteRef" or key == "namespace"


def _escaped(value: str) -> str:
    return quote_plus(value.encode("utf-8", "surrogateescape"), safe="~")


def _climbs(url: str, template: str) -> bool:
    """Whether the rendered path has more segments `.` and `..` than the template."""
    return _dot_segments(url) > _dot_segments(_PLACEHOLDER.sub("_", template))


def _dot_segments(url: str) -> int:
    path = unquote(url.partition("?")[0].partition("#")[0]).replace("\\", "/")
    return sum(segment in {".", ".."} for segment in path.split("/"))


def _place(url: str) -> tuple[str, str, int] | None:
    """Scheme, host and port; None if a template determines them."""
    try:
        parts = urlsplit(url.partition("{{")[0])
        port = parts.port or _PORTS.get(parts.scheme, _HTTPS)
    except ValueError:
        return None
    rest = url.removeprefix(f"{parts.scheme}://").removeprefix(parts.netloc)
    return (parts.scheme, parts.hostname, port) if parts.hostname and not rest.startswith("{{") else None
