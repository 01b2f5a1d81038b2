"""The spec of a webhook store; body, headers and most other texts are Go templates."""

import re
from collections.abc import Iterable, Iterator
from typing import ClassVar, Final, Generic, Protocol, TypeVar

from syncret.config.catalog import SpecText
from syncret.config.fields import Base64, CAProvider, Duration, Model, SecretKeySelector
from syncret.config.paths import write

_ACTION: Final = re.compile(r"\{\{.*?\}\}", re.DOTALL)
_ANYTHING: Final = re.compile(
    r"\bindex\b|\$"  # a computed name
    r"|\.remoteRef\s*[|)}-]|(?:^|[\s({])\.\s*[|)}-]"  # the reference, or everything, as a whole
)


class WebhookNTLM(Model):
    """User name and password for NTLM.

    Example: {usernameSecret: {name: api-login, key: user}, passwordSecret: {name: api-login, key:
    password}}
    """

    username_secret: SecretKeySelector
    r"""The user: `DOMAIN\name`, `name@domain` or `name`. Example: {name: api-login, key: user}"""
    password_secret: SecretKeySelector
    """The password. Example: {name: api-login, key: password}"""


class WebhookAuth(Model):
    """How requests authenticate by NTLM; other methods are headers of the request.

    Example: {ntlm: {usernameSecret: {name: api-login, key: user}, passwordSecret: {name: api-login, key:
    password}}}
    """

    ntlm: WebhookNTLM | None = None
    """NTLMv2; it serves one request at a time, because it authenticates a connection."""

    PROPERTIES: ClassVar[tuple[int, int | None]] = (1, 1)


class WebhookResult(Model):
    """The place of the value in the response.

    Example: {jsonPath: $.data.password}
    """

    json_path: str = ""
    """A template of a JSONPath to the value; absent: the whole body. Example: $.data.password"""


class Selector(Protocol):
    """A reference to a Secret; a generator's is always in its own namespace."""

    @property
    def name(self) -> str: ...


S_co = TypeVar("S_co", bound=Selector, covariant=True)


class WebhookSecret(Model, Generic[S_co]):
    """A Secret whose keys the templates may use as `.<name>.<key>`.

    It must have the label `external-secrets.io/type: webhook`, so that no other Secret can be sent elsewhere.

    Example: {name: login, secretRef: {name: api-login}}
    """

    name: str
    """Name by which templates call the Secret. Example: login"""
    secret_ref: S_co
    """The Secret, all of whose keys are available; it needs the label `external-secrets.io/type: webhook`.
    Example: {name: api-login}"""


class WebhookRequest(Model, Generic[S_co]):
    """One request, described by templates: what the specs of store and generator share."""

    url: str
    """Address, as a template. Example: https://secrets.example.com/login"""
    result: WebhookResult | None
    """Where the value is in the response."""
    method: str = ""
    """Method of the request; absent: GET. Example: POST"""
    headers: dict[str, str] = {}
    """Headers, whose values are templates; headers of the connection itself are refused.
    Example: {X-Api-Key: '{{ .login.key }}'}"""
    body: str = ""
    """Body, as a template in which nothing is escaped: write `toJson` inside JSON.
    Example: '{"user": "app"}'"""
    auth: WebhookAuth | None = None
    """A login by NTLM."""
    timeout: Duration | None = None
    """Longest time for one request; absent: as the setting `callTimeout` says. Example: 10s"""
    secrets: tuple[WebhookSecret[S_co], ...] = ()
    """Secrets that the templates may use, and so send to the server."""
    ca_bundle: Base64 = ""
    """Certificates that signed the server's, as base64 of PEM; absent, with no `caProvider`: the machine's
    own authorities.
    Example: LS0tLS1CRUdJTi4uLi0tLS0t"""
    ca_provider: CAProvider | None = None
    """A Secret or ConfigMap with these certificates, instead of `caBundle`."""


class WebhookSpec(WebhookRequest[SecretKeySelector]):
    """A store behind any HTTP API.

    Example: {url: 'https://secrets.example.com/{{ .remoteRef.key }}', result: {jsonPath: $.value}}
    """

    url: str
    """Address, as a template; what is inserted from the reference is escaped.
    Example: https://secrets.example.com/{{ .remoteRef.key }}"""
    result: WebhookResult | None = None
    """Where the value is in the response."""
    method: str = ""
    """Method of the request; absent: GET for reading, POST for pushing. Example: POST"""
    body: str = ""
    """Body, as a template in which nothing is escaped: write `toJson` inside JSON. Absent: the value, in a
    push.
    Example: '{"key": {{ .remoteRef.key | toJson }}}'"""


def texts_of(spec: WebhookSpec) -> Iterator[SpecText]:
    """The templates of a store, and its JSONPath."""
    return request_texts(spec, frozenset({"remoteRef", *(each.name for each in spec.secrets)}))


def request_texts(spec: WebhookRequest[Selector], names: frozenset[str]) -> Iterator[SpecText]:
    """The templates of a request, and the JSONPath of its result; `names` are what the templates may use."""
    yield SpecText("url", spec.url, "template", names)
    yield SpecText("body", spec.body, "template", names)
    for name, text in spec.headers.items():
        yield SpecText(write(["headers", name]), text, "template", names)
    if spec.result is not None:
        yield SpecText("result.jsonPath", spec.result.json_path, "jsonpath", names)


def depends_on_property(spec: WebhookSpec) -> bool:
    """Whether requests may depend on the property."""
    return _mentions("property", (spec.url, spec.body, *spec.headers.values()))


def depends_on_namespace(spec: WebhookSpec) -> bool:
    """Whether requests, or the values of their responses, may depend on the namespace of the requester."""
    path = spec.result.json_path if spec.result else ""
    return _mentions("namespace", (spec.url, spec.body, path, *spec.headers.values()))


def _mentions(name: str, templates: Iterable[str]) -> bool:
    """Whether some template may use this part of the remote reference."""
    actions = (action for text in templates for action in _ACTION.findall(text))
    return any(name in action or _ANYTHING.search(action) for action in actions)
