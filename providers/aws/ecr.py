"""The generator ECRAuthorizationToken: a login to Amazon's container registry."""

from base64 import b64decode
from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final

from syncret.config.catalog import SpecType
from syncret.providers.aws.extra import needs_sdk
from syncret.providers.aws.receivers import of_generator
from syncret.providers.aws.spec import AwsGeneratorSpec
from syncret.providers.contract import Generated, Generator, OpenContext, Receiver
from syncret.providers.errors import Malformed
from syncret.providers.values import SecretBytes

_PUBLIC: Final = "public"
_REGION_OF_PUBLIC: Final = "us-east-1"
"""The only region where the public registry issues logins."""


class EcrAuthorizationTokenSpec(AwsGeneratorSpec):
    """User name and password for the registry of one region, valid for twelve hours.

    Example: {region: eu-west-1}
    """

    scope: str = ""
    """`public` logs in to the public registry instead; anything else to the account's own. Example: public"""


async def generate(spec: EcrAuthorizationTokenSpec, context: OpenContext) -> Generated:
    """A login. Raises SyncError."""
    with needs_sdk():
        from syncret.providers.aws import identity, sdk

    caller = await identity.credentials_of_generator(spec, receivers(spec), context)
    public = spec.scope == _PUBLIC
    await sdk.check_credentials(caller, spec.region)
    service, region = ("ecr-public", _REGION_OF_PUBLIC) if public else ("ecr", spec.region)
    async with sdk.open_client(service, region, caller, context.network) as api:
        answer: Any = (await api.call("get_authorization_token")).get("authorizationData")
    found = [answer] if public and answer else answer or []
    if len(found) != 1:
        raise Malformed(f"unexpected number of authorization tokens. expected 1, found {len(found)}")
    user, password = _login(found[0].get("authorizationToken", ""))
    expires: datetime = found[0]["expiresAt"]
    values = {"username": user, "password": password, "expires_at": str(int(expires.timestamp()))}
    if not public:
        values["proxy_endpoint"] = found[0].get("proxyEndpoint", "")
    return Generated({key: SecretBytes(value.encode()) for key, value in values.items()})


def _login(token: str) -> tuple[str, str]:
    try:
        parts = b64decode(token, validate=True).decode().split(":")
    except ValueError:
        parts = []
    if len(parts) != 2:  # noqa: PLR2004  # a pair
        raise Malformed("unexpected token format", hint="AWS gives user and password with a colon between")
    return parts[0], parts[1]


def receivers(spec: EcrAuthorizationTokenSpec) -> Iterator[Receiver]:
    """The registry's API, unless the generator names credentials."""
    if spec.scope == _PUBLIC and not spec.role:
        return of_generator(spec.auth, "", _REGION_OF_PUBLIC, "api.ecr-public")
    return of_generator(spec.auth, spec.role, spec.region, "api.ecr")


ECR: Final = Generator(
    SpecType("ECRAuthorizationToken", EcrAuthorizationTokenSpec), generate=generate, receivers=receivers
)
