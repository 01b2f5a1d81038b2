"""The metadata that a PushSecret may give for AWS, and its defaults."""

from typing import Literal, TypeVar

import msgspec

from syncret.config.fields import Json, Model
from syncret.providers.kit import push_options, references
from syncret.providers.kit.push_options import MANAGED_BY, MANAGER, MARK, check_tags

DESCRIPTION = f"secret '{MANAGED_BY}:{MANAGER}'"


class Tagged(Model, forbid_unknown_fields=True):
    """Tags of what is pushed, in addition to the one that marks it as ours."""

    tags: dict[str, str] = {}

    def all_tags(self) -> dict[str, str]:
        """The tags, including the mark."""
        return {**self.tags, **MARK}


class PolicySource(Model, forbid_unknown_fields=True):
    """The source of a resource policy: a key of a ConfigMap or Secret in the PushSecret's namespace."""

    kind: Literal["ConfigMap", "Secret"]
    name: str
    key: str


class ResourcePolicy(Model, forbid_unknown_fields=True):
    """The resource policy of the secret: who else may use it."""

    block_public_policy: bool | None = None
    policy_source_ref: PolicySource | None = None


class SecretPush(Tagged, forbid_unknown_fields=True):
    """Options of Secrets Manager."""

    description: str = ""
    secret_push_format: Literal["", "binary", "string"] = ""
    kms_key_id: str = ""
    resource_policy: ResourcePolicy | None = None
    replication_locations: tuple[str, ...] | None = None

    @property
    def key(self) -> str:
        return self.kms_key_id or "alias/aws/secretsmanager"

    def value(self, raw: bytes) -> dict[str, object]:
        """The value as it is sent: binary, unless the format is string. Raises Malformed."""
        if self.secret_push_format != "string":
            return {"SecretBinary": raw}
        return {"SecretString": references.as_text(raw, "push it with secretPushFormat: binary")}


class Tier(Model, forbid_unknown_fields=True):
    """The tier of a parameter, and the policies that expire it or warn of that."""

    type: Literal["", "Standard", "Advanced", "Intelligent-Tiering"] = ""
    policies: Json = None


class ParameterPush(Tagged, forbid_unknown_fields=True):
    """Options of Parameter Store."""

    description: str = ""
    secret_type: Literal["", "String", "StringList", "SecureString"] = ""
    kms_key_id: str = msgspec.field(name="kmsKeyID", default="")
    tier: Tier = Tier()
    encode_as_decoded: bool = False


T = TypeVar("T", bound=Tagged)


def options(metadata: Json, model: type[T]) -> T:
    """The options of one push. Raises Malformed."""
    found = push_options.decode_spec(metadata, model) or model()
    check_tags(found.tags)
    return found
