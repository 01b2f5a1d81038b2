"""The ID of a resource at Azure, as its status has it. Pure."""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from syncret.providers.errors import Malformed

_ID: Final = re.compile(
    r"/subscriptions/(?P<subscription>[^/]+)/resourceGroups/[^/]+/providers/(?P<namespace>[^/]+)"
    r"(?P<rest>(?:/[^/]+/[^/]+)+)",
    re.IGNORECASE,
)
_PLAIN: Final = re.compile(r"(?!\.+(?:/|\Z))[-\w.()]+(?:/(?!\.+(?:/|\Z))[-\w.()]+)*", re.ASCII)
"""Segments of a path that no server or proxy would resolve or cut off."""


class ResourceId(NamedTuple):
    """The ID, and what its parts say."""

    path: str
    subscription: str
    type: str


def resource_id(status: Mapping[str, object], type_: str) -> ResourceId:
    """The ID in the status of a resource of this type. Raises Malformed if it has none, or another's."""
    text = status.get("id")
    if not isinstance(text, str) or not text:
        raise Malformed(
            "the resource has no status.id: Azure does not have it yet",
            hint="its own operator creates it; the resource's conditions say what that waits for",
        )
    found = _ID.fullmatch(text)
    if found is None or not _PLAIN.fullmatch(text.removeprefix("/")):
        raise Malformed(
            "status.id is not the ID of a resource in a resource group",
            hint=f"it must be /subscriptions/.../resourceGroups/.../providers/{type_.partition('/')[0]}/...",
        )
    kinds = "/".join([found["namespace"], *found["rest"].split("/")[1::2]])
    if kinds.lower() != type_.lower():
        raise Malformed(
            f"status.id is that of a {kinds}, and not of a {type_}",
            hint="secrets are asked for by the kind of the resource: do kind and ID belong together?",
        )
    return ResourceId(text, found["subscription"].lower(), type_)
