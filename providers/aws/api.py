"""What the clients of the three services know of the SDK: one call, and how its failures are told.

The SDK itself is imported by `syncret.providers.aws.sdk` alone, and that only when a store is opened.
"""

from typing import Any, Final, Protocol

from syncret.providers.errors import Denied, Malformed

MANAGED_BY: Final = "managed-by"
OWNER: Final = "external-secrets"
"""The tag that marks what may be overwritten and deleted. ESO's own: either takes over from the other."""

NOT_OURS: Final = "secret not managed by external-secrets"


class Absent(Malformed):
    """What was asked for does not exist. Where absence is an answer, the caller makes it one."""


class Forbidden(Denied):
    """AWS knows who asks, and does not let them."""


class Expired(Denied):
    """The credentials were good once and are not any more."""


class Api(Protocol):
    """One service of one region, called with one set of credentials."""

    async def call(self, operation: str, **parameters: object) -> dict[str, Any]:
        """The answer of one call, its operation named as in Python (`get_secret_value`). Raises SyncError."""
        ...


def not_ours(key: str) -> Malformed:
    """Why an entry is left alone that somebody else made."""
    return Malformed(NOT_OURS, hint=f"{key} has no tag {MANAGED_BY}={OWNER}: push to another key, or tag it")


def tag_list(tags: dict[str, str]) -> list[dict[str, str]]:
    """Tags as AWS takes them."""
    return [{"Key": key, "Value": value} for key, value in tags.items()]


def tag_map(tags: list[dict[str, str]] | None) -> dict[str, str]:
    """Tags as AWS gives them, by key."""
    return {tag["Key"]: tag.get("Value", "") for tag in tags or ()}


def surplus(current: dict[str, str], wanted: dict[str, str]) -> list[str]:
    """The keys of tags that are no longer wanted. AWS's own cannot be taken away."""
    return [key for key in current if key not in wanted and not key.startswith("aws:")]
