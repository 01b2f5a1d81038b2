"""The AWS credentials of a store or generator; the daemon's own if it names none.

They are static keys from Secrets, or the role of a ServiceAccount (IRSA); then the roles of the spec are
assumed, in order.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from aiobotocore.credentials import AioCredentials
from aiobotocore.session import AioSession
from botocore.credentials import ReadOnlyCredentials

from syncret.config.fields import SecretKeySelector, ServiceAccountSelector
from syncret.providers.aws import sdk
from syncret.providers.aws.receivers import receivers
from syncret.providers.aws.sdk import RefreshableCredentials, expiring_keys
from syncret.providers.aws.service import Forbidden, tag_list
from syncret.providers.aws.spec import RESERVED_TAGS, AwsAuth, AwsGeneratorSpec, AwsSecretRef, AwsSpec
from syncret.providers.contract import Credentials, OpenContext, Receiver
from syncret.providers.errors import Denied, Malformed
from syncret.providers.kit.auth.aws_requests import web_identity
from syncret.providers.kit.auth.logins import ExpiringValue

_SESSION: Final = "external-secrets-provider-aws"
"""ESO's session name: trust policies may require it."""

_NOT_IN_A_NAME: Final = re.compile(r"[^\w+=,.@-]", re.ASCII)
_LONGEST_NAME: Final = 64


def service_account_credentials(
    account: ServiceAccountSelector, region: str, context: OpenContext
) -> RefreshableCredentials:
    """Credentials of the account's role. Annotation and token are read anew each time the role is assumed."""

    async def assume() -> ExpiringValue[ReadOnlyCredentials]:
        role, token = await web_identity(account, context)
        async with sdk.open_client("sts", region, sdk.session(sdk.UNSIGNED), context.network) as sts:
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
                    hint="check auth.jwt.serviceAccountRef: the role's trust policy must name the cluster's "
                    "issuer, the account and the audience",
                ) from None
        return expiring_keys(answer)

    return RefreshableCredentials(assume, context)


async def static_credentials(ref: AwsSecretRef, credentials: Credentials) -> AioCredentials:
    """The keys, and the session token of temporary ones. Raises SyncError with what is missing."""
    secret = await _secret_text(ref.secret_access_key_secret_ref, credentials, "secretAccessKeySecretRef")
    key = await _secret_text(ref.access_key_id_secret_ref, credentials, "accessKeyIDSecretRef")
    token = None
    if ref.session_token_secret_ref is not None:
        token = await _secret_text(ref.session_token_secret_ref, credentials, "sessionTokenSecretRef")
    return sdk.StaticKeys(key, secret, token)


async def _secret_text(selector: SecretKeySelector, credentials: Credentials, field: str) -> str:
    found = await credentials.secret_key(selector.name, selector.key, selector.namespace)
    try:
        text = found.raw.decode("ascii").strip()
    except UnicodeDecodeError:
        text = ""
    if not text:
        raise Malformed(
            f"auth.secretRef.{field}: the value is empty or no text",
            hint=f'look at key "{selector.key}" of Secret "{selector.name}"',
        )
    return text


async def credentials_of_store(spec: AwsSpec, context: OpenContext) -> AioSession:
    """The credentials of a store, after all its roles. Raises SyncError if manifest or Secrets lack them."""
    session = await credentials_of(spec.auth, spec.region, receivers(spec), context)
    for role in spec.additional_roles:
        session = assumed_role(session, Role(role, "additionalRoles"), spec.region, context)
    if spec.role:
        role_with_all = Role(
            spec.role,
            external_id=spec.external_id or "",
            tags=_tags(spec, context),
            transitive=spec.transitive_tag_keys,
        )
        session = assumed_role(session, role_with_all, spec.region, context)
    return session


async def credentials_of_generator(
    spec: AwsGeneratorSpec, wanted: Iterable[Receiver], context: OpenContext
) -> AioSession:
    """The credentials of a generator, after its role. `wanted`: its receivers."""
    session = await credentials_of(spec.auth or AwsAuth(), spec.region, wanted, context)
    return assumed_role(session, Role(spec.role), spec.region, context) if spec.role else session


async def credentials_of(
    auth: AwsAuth, region: str, wanted: Iterable[Receiver], context: OpenContext
) -> AioSession:
    """The credentials that `auth` names; the daemon's own if it names none."""
    if auth.jwt is not None and auth.jwt.service_account_ref is not None:
        return sdk.session(service_account_credentials(auth.jwt.service_account_ref, region, context))
    if auth.secret_ref is not None:
        return sdk.session(await static_credentials(auth.secret_ref, context.credentials))
    return sdk.own_session(context.ambient(wanted))


def _tags(spec: AwsSpec, context: OpenContext) -> dict[str, str]:
    """The session tags; those that the policies Simple and Custom set cannot be overridden."""
    if spec.session_tags_policy == "None":
        return {tag.key: tag.value for tag in spec.session_tags}
    custom = spec.custom_session_tags if spec.session_tags_policy == "Custom" else {}
    tags = {key: value for key, value in custom.items() if key and value}
    reserved = (context.scope.namespace, context.store.name, context.store.kind)
    return tags | dict(zip(RESERVED_TAGS, reserved, strict=True))


@dataclass(frozen=True, slots=True)
class Role:
    """A role, the field that names it, and the options of the request to assume it."""

    arn: str
    named_by: str = "role"
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
        async with sdk.open_client("sts", region, source, context.network) as sts:
            try:
                answer = await sts.call("assume_role", RoleArn=role.arn, RoleSessionName=name, **optional)
            except Forbidden as error:
                raise Denied(
                    f"the role {role.arn} cannot be assumed: {error.message}",
                    hint=f"check {role.named_by}: its trust policy must name who asks, and externalID and "
                    "sts:TagSession if used",
                ) from None
        return expiring_keys(answer)

    return sdk.session(RefreshableCredentials(assume, context))


def session_name(context: OpenContext) -> str:
    """The name of the session in CloudTrail: that of the store."""
    return _NOT_IN_A_NAME.sub("-", f"syncret-{context.store.name}")[:_LONGEST_NAME]
