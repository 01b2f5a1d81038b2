"""Bodies of requests to an API server, and the accepted content types of the answers."""

from typing import Final

import msgspec

from syncret.config.meta import Document, is_object
from syncret.daemon.homes.kubernetes.api import JSON, MERGE_PATCH, METADATA_ONLY
from syncret.daemon.homes.kubernetes.objects import SECRET
from syncret.daemon.homes.kubernetes.resources import Resource
from syncret.providers.kit.http import Body

_OF_SERVER: Final = ("uid", "creationTimestamp", "generation", "managedFields", "resourceVersion", "selfLink")


def accepted(resource: Resource) -> str:
    """The accepted content type of an answer: for a Secret, only its metadata."""
    return f"{METADATA_ONLY},{JSON}" if resource.group_kind == SECRET else JSON


def patch_body(patch: Document) -> Body:
    """A JSON merge patch."""
    return Body(msgspec.json.encode(patch), MERGE_PATCH)


def merge_patch(before: Document, after: Document) -> Document:
    """The JSON merge patch that turns one object into the other."""
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
    """The document of a new object, without the fields that the server sets."""
    metadata = {name: value for name, value in document["metadata"].items() if name not in _OF_SERVER}
    return {**document, "metadata": metadata}
