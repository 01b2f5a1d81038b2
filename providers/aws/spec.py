"""The spec of an AWS store, and its rules beyond the schema."""

from collections.abc import Iterator
from typing import ClassVar, Final, Literal

import msgspec

from syncret.config.catalog import Scope
from syncret.config.errors import Problem
from syncret.config.fields import Int64, Model, Rule, SecretKeySelector, ServiceAccountSelector
from syncret.config.meta import Document
from syncret.providers.kit.spec_rules import address, referent

RESERVED_TAGS: Final = ("esoNamespace", "esoStoreName", "esoStoreKind")
"""Session tags that are set for every session under the policies Simple and Custom."""

SHORTEST_RECOVERY: Final = 7
LONGEST_RECOVERY: Final = 30


class AwsSecretRef(Model):
    """Static credentials from Secrets; the session token belongs to temporary ones."""

    access_key_id_secret_ref: SecretKeySelector = msgspec.field(
        default=SecretKeySelector(), name="accessKeyIDSecretRef"
    )
    secret_access_key_secret_ref: SecretKeySelector = SecretKeySelector()
    session_token_secret_ref: SecretKeySelector | None = None


class AwsJwtAuth(Model):
    """Assumes the role that the ServiceAccount is annotated with (`eks.amazonaws.com/role-arn`)."""

    service_account_ref: ServiceAccountSelector | None = None


class AwsAuth(Model):
    """How the store authenticates; without either field, by the default chain of AWS tools."""

    secret_ref: AwsSecretRef | None = None
    jwt: AwsJwtAuth | None = None


class SecretsManagerSpec(Model):
    """How Secrets Manager deletes: at once, or with a recovery window of 7 to 30 days (30 by default)."""

    force_delete_without_recovery: bool = False
    recovery_window_in_days: Int64 = 0


class SessionTag(Model):
    """One tag of the session in a role."""

    key: str
    value: str


def _no_reserved_tags(document: Document) -> bool:
    return not any(tag in document.get("customSessionTags", {}) for tag in RESERVED_TAGS)


class AwsSpec(Model):
    """Reads and writes secrets, parameters or certificates of one region."""

    RULES: ClassVar[tuple[Rule, ...]] = (
        Rule(
            "customSessionTags cannot contain automatically injected reserved keys: "
            "esoNamespace, esoStoreName, esoStoreKind",
            "!has(self.customSessionTags) || (!('esoNamespace' in self.customSessionTags) && "
            "!('esoStoreName' in self.customSessionTags) && !('esoStoreKind' in self.customSessionTags))",
            _no_reserved_tags,
        ),
    )

    service: Literal["SecretsManager", "ParameterStore", "CertificateManager"]
    region: str
    auth: AwsAuth = AwsAuth()
    role: str | None = None
    """The ARN of the role that is assumed last."""
    additional_roles: tuple[str, ...] = ()
    """The ARNs of roles to assume before it, in order."""
    external_id: str | None = msgspec.field(default=None, name="externalID")
    session_tags: tuple[SessionTag, ...] = ()
    session_tags_policy: Literal["None", "Simple", "Custom"] = "None"
    """Simple tags the session with the namespace and the store; Custom adds `customSessionTags`."""
    custom_session_tags: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    transitive_tag_keys: tuple[str, ...] = ()
    prefix: str | None = None
    """Prepended to every key."""
    secrets_manager: SecretsManagerSpec | None = None


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
    base, context = "auth.secretRef", "invalid Auth.SecretRef"
    yield from referent(
        ref.access_key_id_secret_ref, scope, f"{base}.accessKeyIDSecretRef", f"{context}.AccessKeyID"
    )
    yield from referent(
        ref.secret_access_key_secret_ref,
        scope,
        f"{base}.secretAccessKeySecretRef",
        f"{context}.SecretAccessKey",
    )
    yield from referent(
        ref.session_token_secret_ref, scope, f"{base}.sessionTokenSecretRef", f"{context}.SessionToken"
    )
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
