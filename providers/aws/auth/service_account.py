"""The role that a ServiceAccount is annotated with, taken on with a token of that account (IRSA)."""

from typing import Final

from botocore.credentials import ReadOnlyCredentials

from syncret.config.fields import ServiceAccountSelector
from syncret.providers.aws import sdk
from syncret.providers.aws.auth.renewed import Renewed, lease
from syncret.providers.contract import OpenContext
from syncret.providers.errors import Denied, Malformed
from syncret.providers.kit.credentials import Lease

_ROLE: Final = "eks.amazonaws.com/role-arn"
_AUDIENCE: Final = "eks.amazonaws.com/audience"
_DEFAULT_AUDIENCE: Final = "sts.amazonaws.com"
_SESSION: Final = "external-secrets-provider-aws"
"""As ESO names it: trust policies may ask for it."""


def service_account(account: ServiceAccountSelector, region: str, context: OpenContext) -> Renewed:
    """Credentials of the account's role. Account and token are asked for at each draw."""

    async def draw() -> Lease[ReadOnlyCredentials]:
        credentials = context.credentials
        annotations = await credentials.account_annotations(account.name, account.namespace)
        role = annotations.get(_ROLE)
        if not role:
            raise Malformed(
                f'an IAM role must be associated with service account "{account.name}"',
                hint=f"annotate it with {_ROLE}",
            )
        audiences = (annotations.get(_AUDIENCE) or _DEFAULT_AUDIENCE, *account.audiences)
        issued = await credentials.account_token(
            account.name, audiences=audiences, namespace=account.namespace
        )
        async with sdk.opened("sts", region, sdk.session(sdk.NOBODY)) as sts:
            try:
                answer = await sts.call(
                    "assume_role_with_web_identity",
                    RoleArn=role,
                    RoleSessionName=_SESSION,
                    WebIdentityToken=issued.token.raw.decode(),
                )
            except Denied as error:
                raise Denied(
                    f'service account "{account.name}" may not take on the role {role}: {error.message}',
                    hint="its trust policy must name the cluster's issuer, the account and the audience",
                ) from None
        return lease(answer)

    return Renewed(draw, context.now)
