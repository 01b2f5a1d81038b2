"""What requests to an API server carry, and what is accepted for an answer."""

from typing import Final

import msgspec

from syncret.config.meta import Document, is_object
from syncret.daemon.homes.kubernetes.api import JSON, MERGE_PATCH, METADATA_ONLY
from syncret.daemon.homes.kubernetes.objects import SECRET
from syncret.daemon.homes.kubernetes.resources import Resource
from syncret.providers.kit.http import Body

_OF_SERVER: Final = ("uid", "creationTimestamp", "generation", "managedFields", "resourceVersion", "selfLink")


def accepted(resource: Resource) -> str:
    """Of a Secret no value comes back."""
    return f"{METADATA_ONLY},{JSON}" if resource.group_kind == SECRET else JSON


def patch_body(patch: Document) -> Body:
    """A JSON merge patch."""
    return Body(msgspec.json.encode(patch), MERGE_PATCH)


def merge_patch(before: Document, after: Document) -> Document:
    """What a JSON merge patch has to say to make one object the other."""
    patch: Document = {name: None for name in before if name not in after}
    for name, value in after.items():
        old = before.get(name)
        if is_object(value) and is_object(old):
            inner = merge_patch(old, value)
            if inner:
                patch[name] = inner
        elif value != old:
            patch[name] = value
    return patch


def without_server_fields(document: Document) -> Document:
    """A new object: what the server gives is left to it."""
    metadata = {name: value for name, value in document["metadata"].items() if name not in _OF_SERVER}
    return {**document, "metadata": metadata}
