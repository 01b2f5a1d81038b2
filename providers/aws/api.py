"""All that the clients of the three services see of the SDK: one call, and the errors it raises.

The SDK itself is imported by `syncret.providers.aws.sdk` alone, and that only when a store is opened.
"""

from collections.abc import Mapping
from typing import Any, Protocol

from syncret.providers.errors import Denied, Malformed


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


def tag_list(tags: Mapping[str, str]) -> list[dict[str, str]]:
    """Tags as AWS takes them."""
    return [{"Key": key, "Value": value} for key, value in tags.items()]


def tag_map(tags: list[dict[str, str]] | None) -> dict[str, str]:
    """Tags as AWS gives them, by key."""
    return {tag["Key"]: tag.get("Value", "") for tag in tags or ()}


def surplus(current: dict[str, str], wanted: dict[str, str]) -> list[str]:
    """The keys of tags that are no longer wanted. AWS's own cannot be taken away."""
    return [key for key in current if key not in wanted and not key.startswith("aws:")]
