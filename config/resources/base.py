"""What all kinds share: the base class of resources, API groups, and enumerations of several kinds."""

from typing import Literal, TypeAlias

import msgspec

from syncret.config.fields import Model, Timestamp
from syncret.config.meta import GroupKind, Metadata, ObjectRef, shared

GROUP = "external-secrets.io"
GENERATORS_GROUP = "generators.external-secrets.io"
GENERATORS_API = f"{GENERATORS_GROUP}/v1alpha1"
SERVICE_ACCOUNT_TOKEN = "kubernetes.io/service-account-token"
SERVICE_ACCOUNT_NAME = "kubernetes.io/service-account.name"

ConversionStrategy: TypeAlias = Literal["Default", "Unicode"]
DecodingStrategy: TypeAlias = Literal["Auto", "Base64", "Base64URL", "None"]


class Resource(Model):
    """One object of any kind."""

    api_version: str = ""
    kind: str = ""
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


class ConditionStatus(Model):
    """One condition in a status, as a manifest that was saved with its status carries it."""

    type: str
    status: str
    reason: str = ""
    message: str = ""
    last_transition_time: Timestamp = ""
