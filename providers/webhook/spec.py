"""What a webhook store says; body, headers and most other texts are Go templates."""

from typing import ClassVar

from syncret.config.fields import Base64, CAProvider, Duration, Model, SecretKeySelector


class WebhookNTLM(Model):
    """User name and password for NTLM."""

    username_secret: SecretKeySelector
    password_secret: SecretKeySelector


class WebhookAuth(Model):
    """A protocol by which the requests prove who asks; for all others a header is written."""

    ntlm: WebhookNTLM | None = None

    PROPERTIES: ClassVar[tuple[int, int | None]] = (1, 1)


class WebhookResult(Model):
    """Where the value stands in the answer."""

    json_path: str = ""
    """A template of a JSONPath; absent: the whole body."""


class WebhookSecret(Model):
    """A Secret whose keys the templates may use as `.<name>.<key>`.

    It must carry the label `external-secrets.io/type: webhook`, so that no other Secret can be sent away.
    """

    name: str
    secret_ref: SecretKeySelector


class WebhookSpec(Model):
    """A store behind any HTTP API."""

    url: str
    """A template; what it inserts is escaped."""
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
