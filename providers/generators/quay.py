"""The generator QuayAccessToken: exchanges a ServiceAccount's token for a login to a Quay registry."""

from base64 import b64encode
from typing import TYPE_CHECKING, Final

import msgspec

from syncret.config.catalog import SpecType
from syncret.config.fields import Model, ServiceAccountSelector
from syncret.providers.contract import Generated, Generator, OpenContext
from syncret.providers.errors import Denied
from syncret.providers.kit.rest.endpoints import Endpoint
from syncret.providers.values import SecretBytes

if TYPE_CHECKING:  # imports TLS
    from syncret.providers.kit.http import Http
    from syncret.providers.kit.rest.identities import Identity

HOME: Final = "quay.io"

EXCHANGE: Final = Endpoint("GET", "/oauth2/federation/robot/token", "asking Quay for a token")

_SECONDS: Final = 600


class QuayAccessTokenSpec(Model):
    """Exchanges the token of a Kubernetes ServiceAccount (OIDC) for one of a robot account.

    Example: {robotAccount: acme+deploy, serviceAccountRef: {name: deploy}}
    """

    robot_account: str
    """The robot account, with its organization; its federation must trust the cluster's issuer.
    Example: acme+deploy"""
    service_account_ref: ServiceAccountSelector
    """The ServiceAccount whose token is exchanged. Example: {name: deploy}"""
    url: str = ""
    """The registry's host, without a scheme; absent: quay.io. Example: quay.example.com"""


class _Issued(msgspec.Struct):
    token: str


async def generate(spec: QuayAccessTokenSpec, context: OpenContext) -> Generated:
    """A token of the robot account. It ends by itself; there is nothing to clean up."""
    from syncret.providers.kit.auth.jwt import expiry
    from syncret.providers.kit.rest.api import Refusals, means  # imports asyncio and TLS
    from syncret.providers.kit.rest.connection import connected
    from syncret.providers.kit.rest.identities import FixedHeaders
    from syncret.providers.kit.rest.logins import account_jwt

    host = (spec.url or HOME).removeprefix("https://")

    async def identify(_http: "Http") -> "Identity":
        jwt = await account_jwt(context, spec.service_account_ref, seconds=_SECONDS)
        return FixedHeaders({"Authorization": f"Basic {_pair(spec.robot_account, jwt)}"})

    hint = "check robotAccount: does its federation name the cluster's issuer and this ServiceAccount?"
    refused = means(Denied, "the login is refused", hint=hint)
    refusals = Refusals(vendor="Quay", check="check url", errors={401: refused, 403: refused})
    async with connected(f"https://{host}", context, identify, refusals) as api:
        token = (await api.call(EXCHANGE)).decode(_Issued).token
    values = {"registry": host, "auth": _pair(spec.robot_account, token), "expiry": expiry(token)}
    return Generated({name: SecretBytes(value.encode()) for name, value in values.items()})


def _pair(user: str, password: str) -> str:
    return b64encode(f"{user}:{password}".encode()).decode()


GENERATOR: Final = Generator(SpecType("QuayAccessToken", QuayAccessTokenSpec), generate=generate)
