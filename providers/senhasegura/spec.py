"""The spec of a senhasegura store, and its rules beyond the schema."""

from collections.abc import Iterator

from syncret.config.catalog import Scope
from syncret.config.errors import Problem
from syncret.config.fields import Defaulted, Model, SecretKeySelector
from syncret.providers.kit import spec_rules
from syncret.providers.kit.spec_rules import address


class SenhaseguraAuth(Model):
    """An OAuth2 client of senhasegura's A2A module.

    Example: {clientId: 5c1d-example, clientSecretSecretRef: {name: senhasegura-login, key: secret}}
    """

    client_id: str
    """ID of the application's authorization. Example: 5c1d-example"""
    client_secret_secret_ref: SecretKeySelector
    """The client's secret, from a Secret. Example: {name: senhasegura-login, key: secret}"""


class SenhaseguraSpec(Model):
    """Reads the secrets of one application in senhasegura; keys are their identities.

    Example: {url: 'https://senhasegura.example.com', module: DSM, auth: {clientId: 5c1d-example,
    clientSecretSecretRef: {name: senhasegura-login, key: secret}}}
    """

    url: str
    """Address of senhasegura, with https. Example: https://senhasegura.example.com"""
    module: str
    """The module of senhasegura; only `DSM` is supported. Example: DSM"""
    auth: SenhaseguraAuth
    """How the store authenticates to senhasegura."""
    ignore_ssl_certificate: Defaulted[bool] = False
    """Whether any certificate is accepted: any machine on the way could read the secrets."""


def check(spec: SenhaseguraSpec, _scope: Scope) -> Iterator[Problem]:
    """The server's address is https, and the client has an ID."""
    url = address(spec.url)
    hint = "write an address such as https://senhasegura.example.com"
    if url is not None and url.scheme != "https":
        yield Problem(
            path="url", message="invalid senhasegura URL, must be HTTPS for security reasons", hint=hint
        )
    elif url is None or not url.host:
        yield Problem(path="url", message="invalid senhasegura URL", hint=hint)
    yield from spec_rules.filled(
        spec.auth.client_id,
        "auth.clientId",
        "missing senhasegura authentication Client ID",
        "write the ID that senhasegura shows for the application",
    )
