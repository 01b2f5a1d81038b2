"""The spec of an AWS store, and its rules beyond the schema."""

from collections.abc import Iterator
from typing import ClassVar, Final, Literal

import msgspec

from syncret.config.catalog import Scope
from syncret.config.errors import Problem
from syncret.config.fields import Int64, Model, Rule, SecretKeySelector, ServiceAccountSelector
from syncret.config.meta import Document
from syncret.providers.kit.spec_rules import address, referent, referents

RESERVED_TAGS: Final = ("esoNamespace", "esoStoreName", "esoStoreKind")
"""Session tags that are set for every session under the policies Simple and Custom."""

SHORTEST_RECOVERY: Final = 7
LONGEST_RECOVERY: Final = 30


class AwsSecretRef(Model):
    """Static credentials from Secrets; the session token belongs to temporary ones.

    Example: {accessKeyIDSecretRef: {name: aws-login, key: key-id}, secretAccessKeySecretRef: {name:
    aws-login, key: secret-key}}
    """

    access_key_id_secret_ref: SecretKeySelector = msgspec.field(
        default=SecretKeySelector(), name="accessKeyIDSecretRef"
    )
    """The access key's ID. Example: {name: aws-login, key: key-id}"""
    secret_access_key_secret_ref: SecretKeySelector = SecretKeySelector()
    """The secret access key; a new one in the Secret takes effect at once.
    Example: {name: aws-login, key: secret-key}"""
    session_token_secret_ref: SecretKeySelector | None = None
    """The session token, if the credentials are temporary; they stop working when they expire.
    Example: {name: aws-login, key: session-token}"""


class AwsJwtAuth(Model):
    """Assumes the role that the ServiceAccount is annotated with (`eks.amazonaws.com/role-arn`).

    Example: {serviceAccountRef: {name: app}}
    """

    service_account_ref: ServiceAccountSelector | None = None
    """The ServiceAccount, for which an API server issues the token. Example: {name: app}"""


class AwsAuth(Model):
    """How the store authenticates; without either field, as the daemon itself, by AWS's default chain.

    Example: {jwt: {serviceAccountRef: {name: app}}}
    """

    secret_ref: AwsSecretRef | None = None
    """An access key that is kept in Secrets."""
    jwt: AwsJwtAuth | None = None
    """The role of a ServiceAccount; needs an API server that AWS trusts."""


class AwsGeneratorSpec(Model):
    """Where a generator asks AWS, and as whom."""

    region: str
    """Code of the region whose service is asked. Example: eu-west-1"""
    auth: AwsAuth | None = None
    """Who asks; absent: the daemon itself, by AWS's default chain."""
    role: str = ""
    """ARN of a role to assume first. Example: arn:aws:iam::123456789012:role/issuer"""


class SecretsManagerSpec(Model):
    """How Secrets Manager deletes: at once, or with a recovery window of 7 to 30 days (30 by default).

    Example: {recoveryWindowInDays: 7}
    """

    force_delete_without_recovery: bool = False
    """Deletes for good and at once; excludes `recoveryWindowInDays`."""
    recovery_window_in_days: Int64 = 0
    """Days in which a deleted secret can be restored, 7 to 30; absent: 30. Example: 7"""


class SessionTag(Model):
    """One tag of the session in a role.

    Example: {key: team, value: payments}
    """

    key: str
    """Name of the tag. Example: team"""
    value: str
    """Value of the tag. Example: payments"""


def _no_reserved_tags(document: Document) -> bool:
    return not any(tag in document.get("customSessionTags", {}) for tag in RESERVED_TAGS)


class AwsSpec(Model):
    """Reads and writes secrets, parameters or certificates of one region.

    Example: {service: SecretsManager, region: eu-west-1}
    """

    RULES: ClassVar[tuple[Rule, ...]] = (
        Rule(
            "customSessionTags cannot contain automatically injected reserved keys: "
            "esoNamespace, esoStoreName, esoStoreKind",
            "!has(self.customSessionTags) || (!('esoNamespace' in self.customSessionTags) && "
            "!('esoStoreName' in self.customSessionTags) && !('esoStoreKind' in self.customSessionTags))",
            _no_reserved_tags,
            field="customSessionTags",
        ),
    )

    service: Literal["SecretsManager", "ParameterStore", "CertificateManager"]
    """The service whose entries are read; a store serves one."""
    region: str
    """Code of the region; entries of other regions do not exist for the store. Example: eu-west-1"""
    auth: AwsAuth = AwsAuth()
    """How the store authenticates to AWS."""
    role: str | None = None
    """ARN of the role that is assumed last; its trust policy must name who assumes it.
    Example: arn:aws:iam::123456789012:role/reader"""
    additional_roles: tuple[str, ...] = ()
    """ARNs of roles to assume before `role`, each one through the one before.
    Example: [arn:aws:iam::123456789012:role/hub]"""
    external_id: str | None = msgspec.field(default=None, name="externalID")
    """External ID that the trust policy of `role` demands. Example: shop-prod"""
    session_tags: tuple[SessionTag, ...] = ()
    """Tags of the session in `role`, for policies that look at them; needs `sts:TagSession`.
    Example: [{key: team, value: payments}]"""
    session_tags_policy: Literal["None", "Simple", "Custom"] = "None"
    """Simple tags the session with the namespace and the store instead of `sessionTags`; Custom adds
    `customSessionTags`. Each namespace then gets a session of its own."""
    custom_session_tags: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    """Tags of the session under the policy Custom; those that are set anyway (`esoNamespace`, `esoStoreName`,
    `esoStoreKind`) are refused.
    Example: {team: payments}"""
    transitive_tag_keys: tuple[str, ...] = ()
    """Session tags that later roles of the chain keep. Example: [team]"""
    prefix: str | None = None
    """Text put before every key, in reading and pushing; keys of a `find` are full names. Example: /app/"""
    secrets_manager: SecretsManagerSpec | None = None
    """How Secrets Manager deletes what was pushed."""


def depends_on_namespace(spec: AwsSpec) -> bool:
    """Whether the session's tags contain the namespace of the requester."""
    return bool(spec.role) and spec.session_tags_policy != "None"


def check(spec: AwsSpec, scope: Scope) -> Iterator[Problem]:
    """The region is valid in a host name, the deletion options do not conflict, selectors are in scope."""
    if address(f"https://service.{spec.region}.amazonaws.com") is None:
        yield Problem(
            path="region",
            message=f"region not found: {spec.region}",
            hint="write the region's code, such as eu-west-1",
        )
    if spec.secrets_manager:
        yield from _check_deletion(spec.secrets_manager)
    yield from _check_auth(spec.auth, scope)


def _check_auth(auth: AwsAuth, scope: Scope) -> Iterator[Problem]:
    ref = auth.secret_ref or AwsSecretRef()
    parts = (
        ("accessKeyIDSecretRef", "AccessKeyID", ref.access_key_id_secret_ref),
        ("secretAccessKeySecretRef", "SecretAccessKey", ref.secret_access_key_secret_ref),
        ("sessionTokenSecretRef", "SessionToken", ref.session_token_secret_ref),
    )
    yield from referents(parts, scope, "auth.secretRef", "invalid Auth.SecretRef")
    account = auth.jwt.service_account_ref if auth.jwt else None
    yield from referent(account, scope, "auth.jwt.serviceAccountRef", "invalid Auth.JWT.ServiceAccountRef")


def _check_deletion(spec: SecretsManagerSpec) -> Iterator[Problem]:
    days = spec.recovery_window_in_days
    if not days:  # zero counts as absent
        return
    if not SHORTEST_RECOVERY <= days <= LONGEST_RECOVERY:
        yield Problem(
            path="secretsManager.recoveryWindowInDays",
            message="invalid DeleteSecretInput: RecoveryWindowInDays must be between 7 and 30 days",
            hint="write a number from 7 to 30, or set forceDeleteWithoutRecovery instead",
        )
    if spec.force_delete_without_recovery:
        yield Problem(
            path="secretsManager.forceDeleteWithoutRecovery",
            message="invalid DeleteSecretInput: "
            "ForceDeleteWithoutRecovery conflicts with RecoveryWindowInDays",
            hint="keep only one of the two",
        )
