"""Finds out who a store or generator is to AWS: its first credentials, then the roles it assumes."""

from aiobotocore.session import AioSession

from syncret.providers.aws import sdk
from syncret.providers.aws.auth.assumed import Role, assumed
from syncret.providers.aws.auth.service_account import service_account
from syncret.providers.aws.auth.static import static
from syncret.providers.aws.spec import RESERVED_TAGS, AwsAuth, AwsSpec
from syncret.providers.contract import OpenContext


async def of_store(spec: AwsSpec, context: OpenContext) -> AioSession:
    """Who a store is. Raises SyncError where the manifest or a Secret does not say it."""
    who = await of_auth(spec.auth, spec.region, context)
    for role in spec.additional_roles:
        who = assumed(who, Role(role), spec.region, context)
    if spec.role:
        role_with_all = Role(
            spec.role,
            external_id=spec.external_id or "",
            tags=_tags(spec, context),
            transitive=spec.transitive_tag_keys,
        )
        who = assumed(who, role_with_all, spec.region, context)
    return who


async def of_generator(auth: AwsAuth | None, role: str, region: str, context: OpenContext) -> AioSession:
    """Who a generator is."""
    who = await of_auth(auth or AwsAuth(), region, context)
    return assumed(who, Role(role), region, context) if role else who


async def of_auth(auth: AwsAuth, region: str, context: OpenContext) -> AioSession:
    """Who is written in `auth`; the daemon itself where nobody is."""
    if auth.jwt is not None and auth.jwt.service_account_ref is not None:
        return sdk.session(service_account(auth.jwt.service_account_ref, region, context))
    if auth.secret_ref is not None:
        return sdk.session(await static(auth.secret_ref, context.credentials))
    return sdk.session()


def _tags(spec: AwsSpec, context: OpenContext) -> dict[str, str]:
    """The tags of the session. Those that the policies set by themselves cannot be overridden."""
    if spec.session_tags_policy == "None":
        return {tag.key: tag.value for tag in spec.session_tags}
    custom = spec.custom_session_tags if spec.session_tags_policy == "Custom" else {}
    given = {key: value for key, value in custom.items() if key and value}
    facts = (context.scope.namespace, context.store.name, context.store.kind)
    return given | dict(zip(RESERVED_TAGS, facts, strict=True))
