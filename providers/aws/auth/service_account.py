"""The role that a ServiceAccount is annotated with, assumed with a token of that account (IRSA)."""

from typing import Final

from botocore.credentials import ReadOnlyCredentials

from syncret.config.fields import ServiceAccountSelector
from syncret.providers.aws import sdk
from syncret.providers.aws.auth.renewed import Renewed, lease
from syncret.providers.contract import OpenContext
from syncret.providers.errors import Denied
from syncret.providers.kit.credentials import Lease
from syncret.providers.kit.irsa import web_identity

_SESSION: Final = "external-secrets-provider-aws"
"""As ESO names it: trust policies may ask for it."""


def service_account(account: ServiceAccountSelector, region: str, context: OpenContext) -> Renewed:
    """Credentials of the account's role. Account and token are asked for at each draw."""

    async def draw() -> Lease[ReadOnlyCredentials]:
        role, token = await web_identity(account, context)
        async with sdk.opened("sts", region, sdk.session(sdk.NOBODY)) as sts:
            try:
                answer = await sts.call(
                    "assume_role_with_web_identity",
                    RoleArn=role,
                    RoleSessionName=_SESSION,
                    WebIdentityToken=token.raw.decode(),
                )
            except Denied as error:
                raise Denied(
                    f'service account "{account.name}" may not assume the role {role}: {error.message}',
                    hint="its trust policy must name the cluster's issuer, the account and the audience",
                ) from None
        return lease(answer)

    return Renewed(draw, context.now)
