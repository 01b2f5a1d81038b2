"""The generator Webhook: the members of a JSON object that an HTTP API returns."""

from collections.abc import Iterator
from typing import Final

from syncret.config.catalog import SpecText, SpecType
from syncret.config.fields import Model, Name, SecretKey
from syncret.providers.contract import Generated, Generator, OpenContext
from syncret.providers.webhook import results
from syncret.providers.webhook.spec import WebhookRequest, WebhookResult, request_texts


class GeneratorSecretKey(Model):
    """One Secret in the generator's own namespace.

    Example: {name: api-login}
    """

    name: Name = ""
    """Name of the Secret. Example: api-login"""
    key: SecretKey = ""
    """Accepted as by the operator: all keys of the Secret are available. Example: token"""


class WebhookGeneratorSpec(WebhookRequest[GeneratorSecretKey]):
    """One request, described by templates as in a webhook store.

    Example: {url: 'https://secrets.example.com/login', method: POST, result: {jsonPath: $.data}}
    """

    result: WebhookResult | None  # required, as it has no default
    """Where the values are: the path must lead to a JSON object, whose members become keys.
    Example: {jsonPath: $.data}"""


def _texts(spec: WebhookGeneratorSpec) -> Iterator[SpecText]:
    return request_texts(spec, frozenset(each.name for each in spec.secrets))


async def generate(spec: WebhookGeneratorSpec, context: OpenContext) -> Generated:
    """The members of the object in the response."""
    from syncret.providers.webhook.requests import open_api  # imports asyncio and TLS

    async with open_api(spec, context) as api:
        answer = await api.send(spec.method or "GET", None, doing="asking the webhook", body=spec.body)
        data = api.data(None)
        return Generated(
            await api.compute(lambda work: results.members(answer.body, api.path(data, work), work))
        )


GENERATOR: Final = Generator(SpecType("Webhook", WebhookGeneratorSpec, texts=_texts), generate=generate)
