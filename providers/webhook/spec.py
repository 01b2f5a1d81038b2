"""The spec of a webhook store; body, headers and most other texts are Go templates."""

import re
from collections.abc import Iterable
from typing import ClassVar, Final

from syncret.config.fields import Base64, CAProvider, Duration, Model, SecretKeySelector

_ACTION: Final = re.compile(r"\{\{.*?\}\}", re.DOTALL)
_ANYTHING: Final = re.compile(
    r"\bindex\b|\$"  # a computed name
    r"|\.remoteRef\s*[|)}-]|(?:^|[\s({])\.\s*[|)}-]"  # the reference, or everything, as a whole
)


class WebhookNTLM(Model):
    """User name and password for NTLM."""

    username_secret: SecretKeySelector
    password_secret: SecretKeySelector


class WebhookAuth(Model):
    """How requests authenticate by NTLM; other methods are headers of the request."""

    ntlm: WebhookNTLM | None = None

    PROPERTIES: ClassVar[tuple[int, int | None]] = (1, 1)


class WebhookResult(Model):
    """The place of the value in the response."""

    json_path: str = ""
    """A template of a JSONPath; absent: the whole body."""


class WebhookSecret(Model):
    """A Secret whose keys the templates may use as `.<name>.<key>`.

    It must have the label `external-secrets.io/type: webhook`, so that no other Secret can be sent elsewhere.
    """

    name: str
    secret_ref: SecretKeySelector


class WebhookSpec(Model):
    """A store behind any HTTP API."""

    url: str
    """A template; inserted values are escaped."""
    method: str = ""
    """Absent: GET for reading, POST for pushing."""
    headers: dict[str, str] = {}
    body: str = ""
    auth: WebhookAuth | None = None
    timeout: Duration | None = None
    result: WebhookResult | None = None
    secrets: tuple[WebhookSecret, ...] = ()
    ca_bundle: Base64 = ""
    ca_provider: CAProvider | None = None


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
