"""The generator Webhook: the members of a JSON object that an HTTP API returns."""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.config.fields import Base64, CAProvider, Duration, Model, Name, SecretKey
from syncret.providers.contract import Generated, Generator, OpenContext
from syncret.providers.webhook import results
from syncret.providers.webhook.spec import WebhookAuth, WebhookResult


class GeneratorSecretKey(Model):
    """One key of one Secret in the generator's own namespace."""

    name: Name = ""
    key: SecretKey = ""


class GeneratorSecret(Model):
    """A Secret whose keys the templates may use as `.<name>.<key>`.

    It must have the label `external-secrets.io/type: webhook`, so that no other Secret can be sent elsewhere.
    """

    name: str
    secret_ref: GeneratorSecretKey


class WebhookGeneratorSpec(Model):
    """One request, described by templates as in a webhook store."""

    url: str
    """A template; inserted values are escaped."""
    result: WebhookResult
    """The path must lead to a JSON object."""
    method: str = ""
    """Absent: GET."""
    headers: dict[str, str] = {}
    body: str = ""
    auth: WebhookAuth | None = None
    timeout: Duration | None = None
    secrets: tuple[GeneratorSecret, ...] = ()
    ca_bundle: Base64 = ""
    ca_provider: CAProvider | None = None


async def generate(spec: WebhookGeneratorSpec, context: OpenContext) -> Generated:
    """The members of the object in the response."""
    from syncret.providers.webhook.requests import open_api  # imports asyncio and TLS

    async with open_api(spec, context) as api:
        answer = await api.send(spec.method or "GET", None, doing="asking the webhook", body=spec.body)
        data = api.data(None)
        return Generated(
            await api.compute(lambda work: results.members(answer.body, api.path(data, work), work))
        )


GENERATOR: Final = Generator(SpecType("Webhook", WebhookGeneratorSpec), generate=generate)
