"""Assumes a role with other credentials (AssumeRole)."""

import re
from dataclasses import dataclass, field
from typing import Final

from aiobotocore.session import AioSession
from botocore.credentials import ReadOnlyCredentials

from syncret.providers.aws import sdk
from syncret.providers.aws.auth.refreshable_credentials import RefreshableCredentials, expiring_keys
from syncret.providers.aws.service import tag_list
from syncret.providers.contract import OpenContext
from syncret.providers.errors import Denied
from syncret.providers.kit.auth.logins import ExpiringValue

_NOT_IN_A_NAME: Final = re.compile(r"[^\w+=,.@-]", re.ASCII)
_LONGEST_NAME: Final = 64


@dataclass(frozen=True, slots=True)
class Role:
    """A role, and the options of the request to assume it."""

    arn: str
    external_id: str = ""
    tags: dict[str, str] = field(default_factory=dict[str, str])
    transitive: tuple[str, ...] = ()


def assumed_role(source: AioSession, role: Role, region: str, context: OpenContext) -> AioSession:
    """A session in that role, which is assumed on first use, and again before the credentials expire."""

    async def assume() -> ExpiringValue[ReadOnlyCredentials]:
        optional: dict[str, object] = {}
        if role.external_id:
            optional["ExternalId"] = role.external_id
        if role.tags:
            optional["Tags"] = tag_list(role.tags)
        if role.transitive:
            optional["TransitiveTagKeys"] = list(role.transitive)
        name = session_name(context)
        async with sdk.open_client("sts", region, source) as sts:
            try:
                answer = await sts.call("assume_role", RoleArn=role.arn, RoleSessionName=name, **optional)
            except Denied as error:
                raise Denied(
                    f"the role {role.arn} cannot be assumed: {error.message}",
                    hint="its trust policy must name who asks, and external ID and sts:TagSession if used",
                ) from None
        return expiring_keys(answer)

    return sdk.session(RefreshableCredentials(assume, context.now))


def session_name(context: OpenContext) -> str:
    """The name of the session in CloudTrail: that of the store."""
    return _NOT_IN_A_NAME.sub("-", f"syncret-{context.store.name}")[:_LONGEST_NAME]
