"""Dispatch: the manifests that a fulfilment makes, and the references to it. One table, by source."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple

from syncret.config.meta import Document
from syncret.daemon.core.constraints.verdict import ANNOTATION
from syncret.daemon.release.groups import OPAQUE, Group, encoded
from syncret.daemon.release.model import Field, Fulfilment, Reference, Text
from syncret.daemon.release.platform import Policy


class Ref(NamedTuple):
    """A key of a Secret in the cluster."""

    name: str
    key: str


class Handler(NamedTuple):
    """What one source makes of a group, and what refers to one of its fields."""

    manifest: Callable[[Group, Policy], Document | None]
    ref: Callable[[Field, Group], Ref]
    is_managed: bool = True
    """Whether the Secret is made for the release: it has the module's names."""


def variant_of(fulfilment: Fulfilment) -> str:
    """`literal`, the source of a reference, or `absent`."""
    match fulfilment:
        case Text():
            return "literal"
        case Reference():
            return fulfilment.source
        case _:
            return "absent"


def ref_of(field: Field, group: Group) -> Ref | None:
    """The key that refers to a field's value; None if it has none."""
    handler = HANDLERS.get(variant_of(field.fulfilment))
    return None if handler is None else handler.ref(field, group)


def manifests_of(group: Group, policy: Policy) -> Iterator[Document]:
    """What a group makes of each source."""
    for handler in HANDLERS.values():
        manifest = handler.manifest(group, policy)
        if manifest is not None:
            yield manifest


def _routed(field: Field, group: Group) -> Ref:
    return Ref(group.name, field.routing.data_key)


def _existing(field: Field, group: Group) -> Ref:
    match field.fulfilment:
        case Reference(_, path, remote_key):
            return Ref(path, remote_key)
        case _:
            return _routed(field, group)


def _nothing(_group: Group, _policy: Policy) -> Document | None:
    return None


def _secret(group: Group, _policy: Policy) -> Document | None:
    if not group.texts:
        return None
    secret: Document = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": group.name},
        "type": group.type or OPAQUE,
        "data": encoded(group),
    }
    return secret | ({"immutable": True} if group.immutable else {})


def _external_secret(group: Group, policy: Policy) -> Document | None:
    external = group.external
    if not external:
        return None
    target: Document = {"name": group.name}
    if group.texts:
        target["creationPolicy"] = "Merge"
    elif group.type:
        target["template"] = {"type": group.type}
    metadata: Document = {"name": group.name}
    constraints = _constraints(group, policy)
    if constraints:
        metadata["annotations"] = {ANNOTATION: constraints}
    return {
        "apiVersion": "external-secrets.io/v1",
        "kind": "ExternalSecret",
        "metadata": metadata,
        "spec": {
            "refreshInterval": policy.refresh_interval,
            "secretStoreRef": policy.store,
            "target": target,
            "data": [
                {"secretKey": key, "remoteRef": {"key": ref.path, "property": ref.remote_key}}
                for key, ref in external.items()
            ],
        },
    }


def _constraints(group: Group, policy: Policy) -> str:
    keys = {
        field.routing.data_key: list(field.routing.constraints.all)
        for field in group.fields
        if field.routing.data_key in group.external and field.routing.constraints.all
    }
    carried = {"keys": keys, "policy": policy.constraints}
    return json.dumps(carried, sort_keys=True, separators=(",", ":")) if keys else ""


HANDLERS: Final[Mapping[str, Handler]] = {
    "literal": Handler(_secret, _routed),
    "k8s": Handler(_nothing, _existing, is_managed=False),
    "k8s-eso": Handler(_external_secret, _routed),
}
