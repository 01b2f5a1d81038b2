"""The generator Webhook: the members of a JSON object that an HTTP API returns."""

from collections.abc import Iterator
from typing import Final

from syncret.config.catalog import SpecText, SpecType
from syncret.config.fields import Base64, CAProvider, Duration, Model, Name, SecretKey
from syncret.providers.contract import Generated, Generator, OpenContext
from syncret.providers.webhook import results
from syncret.providers.webhook.spec import WebhookAuth, WebhookResult, request_texts


class GeneratorSecretKey(Model):
    """One Secret in the generator's own namespace.

    Example: {name: api-login}
    """

    name: Name = ""
    """Name of the Secret. Example: api-login"""
    key: SecretKey = ""
    """Accepted as by the operator: all keys of the Secret are available. Example: token"""


class GeneratorSecret(Model):
    """A Secret whose keys the templates may use as `.<name>.<key>`.

    It must have the label `external-secrets.io/type: webhook`, so that no other Secret can be sent elsewhere.

    Example: {name: login, secretRef: {name: api-login}}
    """

    name: str
    """Name by which templates call the Secret. Example: login"""
    secret_ref: GeneratorSecretKey
    """The Secret, which needs the label `external-secrets.io/type: webhook`."""


class WebhookGeneratorSpec(Model):
    """One request, described by templates as in a webhook store.

    Example: {url: 'https://secrets.example.com/login', method: POST, result: {jsonPath: $.data}}
    """

    url: str
    """Address, as a template. Example: https://secrets.example.com/login"""
    result: WebhookResult
    """Where the values are: the path must lead to a JSON object, whose members become keys.
    Example: {jsonPath: $.data}"""
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
    secrets: tuple[GeneratorSecret, ...] = ()
    """Secrets that the templates may use, and so send to the server."""
    ca_bundle: Base64 = ""
    """Certificates that signed the server's, as base64 of PEM; absent, with no `caProvider`: the machine's
    own authorities.
    Example: LS0tLS1CRUdJTi4uLi0tLS0t"""
    ca_provider: CAProvider | None = None
    """A Secret or ConfigMap with these certificates, instead of `caBundle`."""


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
