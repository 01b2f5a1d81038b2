"""IRSA: the role of AWS that a ServiceAccount is annotated with, and the token that proves the account."""

from typing import Final, NamedTuple

from syncret.config.fields import ServiceAccountSelector
from syncret.providers.contract import OpenContext, SecretBytes
from syncret.providers.errors import Malformed

_ROLE: Final = "eks.amazonaws.com/role-arn"
_AUDIENCE: Final = "eks.amazonaws.com/audience"
_USUAL_AUDIENCE: Final = "sts.amazonaws.com"


class WebIdentity(NamedTuple):
    """What AWS's token service takes for keys of the role."""

    role: str
    token: SecretBytes


async def web_identity(account: ServiceAccountSelector, context: OpenContext) -> WebIdentity:
    """The role as it is annotated now, and a new token. Raises SyncError."""
    credentials = context.credentials
    annotations = await credentials.account_annotations(account.name, account.namespace)
    role = annotations.get(_ROLE)
    if not role:
        raise Malformed(
            f'an IAM role must be associated with service account "{account.name}"',
            hint=f"annotate it with {_ROLE}",
        )
    audiences = (annotations.get(_AUDIENCE) or _USUAL_AUDIENCE, *account.audiences)
    issued = await credentials.account_token(account.name, audiences=audiences, namespace=account.namespace)
    return WebIdentity(role, issued.token)
