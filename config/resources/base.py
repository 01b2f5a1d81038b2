"""What all kinds share: the base class of resources, API groups, and enumerations of several kinds."""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec

from syncret.config.fields import Model, Timestamp
from syncret.config.meta import GroupKind, Metadata, ObjectRef, shared

GROUP = "external-secrets.io"
GENERATORS_GROUP = "generators.external-secrets.io"
OPERATOR_GROUP = "operator.openshift.io"
SYNCRET_GROUP = "syncret.dev"
GENERATORS_API = f"{GENERATORS_GROUP}/v1alpha1"
SERVICE_ACCOUNT_TOKEN = "kubernetes.io/service-account-token"
SERVICE_ACCOUNT_NAME = "kubernetes.io/service-account.name"

ConversionStrategy: TypeAlias = Literal["Default", "Unicode"]
DecodingStrategy: TypeAlias = Literal["Auto", "Base64", "Base64URL", "None"]


class Resource(Model):
    """One object of any kind."""

    api_version: str = ""
    """Group and version of the kind; an older version is read as the current one, with a warning.
    Example: external-secrets.io/v1"""
    kind: str = ""
    """Kind of the object; it decides which fields it may have. Example: ExternalSecret"""
    metadata: Metadata = msgspec.field(default_factory=Metadata)

    @property
    def ref(self) -> ObjectRef:
        """Group, kind, namespace and name."""
        group, _, _ = self.api_version.rpartition("/")
        return shared(group, self.kind, self.metadata.namespace, self.metadata.name)

    @property
    def group_kind(self) -> GroupKind:
        """API group and kind."""
        return GroupKind(self.api_version.rpartition("/")[0], self.kind)


class WebhookRule(NamedTuple):
    """A rule of a kind's admission webhook that its CRD states, too, so that it holds without the webhook.

    The webhook checks decoded objects, and for this one kind: not where its spec is embedded in another.
    """

    at: str
    """The objects that it holds for: `spec.dataFrom[]`. Below `spec`, so that a server does not check an
    older object again when its status is written."""
    field: str
    """The field to blame, below that object; empty: the object."""
    message: str
    cel: str
    broken: Callable[[Any], bool] | None = None
    """Whether a decoded object breaks it. None: `check` itself says in which entry of a list, and the
    expression sees less than that, because an API server bounds what an expression may cost."""
    hint: str = ""


class ConditionStatus(Model):
    """One condition in a status, as a manifest that was saved with its status carries it."""

    type: str
    """What the condition is about. Example: Ready"""
    status: str
    """True, False, or Unknown. Example: 'True'"""
    reason: str = ""
    """Why, as one word for programs. Example: Synced"""
    message: str = ""
    """Why, for people; it never quotes a secret value. Example: store validated"""
    last_transition_time: Timestamp = ""
    """When the condition last changed. Example: '2026-01-01T00:00:00Z'"""
