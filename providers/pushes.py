"""Values of a push, and the entries that are deleted or looked up for one."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from syncret.config.meta import Document
from syncret.providers.values import SecretBytes


@dataclass(frozen=True, slots=True)
class PushItem:
    """One value to push to a secret manager.

    `value` is what to store: one key's bytes, or the whole Secret as a JSON object of strings. `source` is
    the Secret it comes from (its type and labels too), for providers that store more than a value.
    """

    remote_key: str
    property: str
    value: SecretBytes
    metadata: Any = None
    secret_key: str = ""
    source: Document = field(default_factory=dict[str, Any], repr=False)


class RemoteTarget(NamedTuple):
    """The entry to delete or look up: a remote key, or one property of it."""

    remote_key: str
    property: str = ""
