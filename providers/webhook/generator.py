"""The generator Webhook: the fields of the JSON object that any HTTP API answers with."""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.config.fields import Base64, CAProvider, Duration, Model, Name, SecretKey
from syncret.providers.contract import Generator
from syncret.providers.webhook.spec import WebhookAuth, WebhookResult


class GeneratorSecretKey(Model):
    """One key of one Secret in the generator's own namespace."""

    name: Name = ""
    key: SecretKey = ""


class GeneratorSecret(Model):
    """A Secret whose keys the templates may use as `.<name>.<key>`.

    It must carry the label `external-secrets.io/type: webhook`, so that no other Secret can be sent away.
    """

    name: str
    secret_ref: GeneratorSecretKey


class WebhookGeneratorSpec(Model):
    """One request, described by templates as in a webhook store."""

    url: str
    """A template; what it inserts is escaped."""
    result: WebhookResult
    """Must lead to a JSON object."""
    method: str = ""
    """Absent: GET."""
    headers: dict[str, str] = {}
    body: str = ""
    auth: WebhookAuth | None = None
    timeout: Duration | None = None
    secrets: tuple[GeneratorSecret, ...] = ()
    ca_bundle: Base64 = ""
    ca_provider: CAProvider | None = None


GENERATOR: Final = Generator(SpecType("Webhook", WebhookGeneratorSpec))
