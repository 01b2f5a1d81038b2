"""The generator CloudsmithAccessToken: exchanges a ServiceAccount's token for one of Cloudsmith."""

from base64 import b64encode
from typing import Final

import msgspec

from syncret.config.catalog import SpecType
from syncret.config.fields import Model, ServiceAccountSelector
from syncret.providers.contract import Generated, Generator, OpenContext
from syncret.providers.values import SecretBytes

HOME: Final = "https://api.cloudsmith.io"

_SECONDS: Final = 600


class CloudsmithAccessTokenSpec(Model):
    """Exchanges the token of a Kubernetes ServiceAccount (OIDC) for one of a Cloudsmith service.

    Example: {orgSlug: acme, serviceSlug: deploy, serviceAccountRef: {name: deploy}}
    """

    org_slug: str
    """The organization, as its URL has it. Example: acme"""
    service_slug: str
    """The service account of Cloudsmith that the token is for. Example: deploy"""
    service_account_ref: ServiceAccountSelector
    """The ServiceAccount whose token is exchanged. Example: {name: deploy}"""
    api_url: str = ""
    """Address of the API; absent: https://api.cloudsmith.io. Example: https://cloudsmith.example.com"""


class _Issued(msgspec.Struct):
    token: str


async def generate(spec: CloudsmithAccessTokenSpec, context: OpenContext) -> Generated:
    """A token of the service. It ends by itself; there is nothing to clean up."""
    from syncret.providers.kit.auth.jwt import expiry
    from syncret.providers.kit.http import Http, json_body, segments  # imports asyncio and TLS
    from syncret.providers.kit.rest.logins import account_jwt, log_in_with

    async with Http(spec.api_url or HOME, now=context.now, network=context.network) as http:
        jwt = await account_jwt(context, spec.service_account_ref, seconds=_SECONDS)
        answer = await log_in_with(
            http,
            f"/openid/{segments(spec.org_slug)}/",
            json_body({"oidc_token": jwt, "service_slug": spec.service_slug}),
            doing="asking Cloudsmith for a token",
            hint="check orgSlug and serviceSlug: does the organization trust the cluster's issuer?",
        )
    token = answer.decode(_Issued).token
    values = {"auth": b64encode(f"token:{token}".encode()).decode(), "expiry": expiry(token)}
    return Generated({name: SecretBytes(value.encode()) for name, value in values.items()})


GENERATOR: Final = Generator(SpecType("CloudsmithAccessToken", CloudsmithAccessTokenSpec), generate=generate)
