"""The children of a cluster-wide resource: in which namespaces, what each looks like, and the status."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from syncret.config.fields import LabelSelector
from syncret.config.meta import Document, Metadata, member
from syncret.config.resources.base import GROUP
from syncret.config.resources.kinds import (
    CLUSTER_EXTERNAL_SECRET,
    CLUSTER_PUSH_SECRET,
    EXTERNAL_SECRET,
    PUSH_SECRET,
    Kind,
)
from syncret.daemon.core import selectors
from syncret.daemon.core.ownership import FORCE_SYNC, controller_of, put_controller


class FanOutKind(NamedTuple):
    """The names in which ClusterExternalSecret and ClusterPushSecret differ."""

    parent: Kind
    child_kind: Kind
    finalizer: str
    name_taken: str
    namespace_finalizer: str
    """Begins the finalizer that keeps a namespace with a child of this resource."""

    @property
    def kind(self) -> str:
        return self.parent.kind

    @property
    def child(self) -> str:
        return self.child_kind.kind

    @property
    def spec_field(self) -> str:
        return f"{self.child_kind.field}Spec"

    @property
    def name_field(self) -> str:
        return f"{self.child_kind.field}Name"

    @property
    def metadata_field(self) -> str:
        return f"{self.child_kind.field}Metadata"


EXTERNAL: Final = FanOutKind(
    parent=CLUSTER_EXTERNAL_SECRET,
    child_kind=EXTERNAL_SECRET,
    finalizer="externalsecrets.external-secrets.io/clusterexternalsecret-cleanup",
    name_taken="external secret already exists in namespace",
    namespace_finalizer="externalsecrets.external-secrets.io/ces-",
)
PUSH: Final = FanOutKind(
    parent=CLUSTER_PUSH_SECRET,
    child_kind=PUSH_SECRET,
    finalizer="",
    name_taken="push secret already exists in namespace",
    namespace_finalizer="",
)


def child_name(fan: FanOutKind, resource: Document) -> str:
    """The name of the child, the same in every namespace."""
    return str(member(resource, "spec").get(fan.name_field) or resource["metadata"]["name"])


def chosen(
    names: Iterable[str], wanted: Sequence[LabelSelector], namespaces: Mapping[str, Mapping[str, str]]
) -> list[str]:
    """The namespaces that are named or that any of the selectors matches, in the order of their names.

    Raises Malformed for a selector that makes no sense, whether or not there is a namespace.
    """
    for selector in wanted:
        selectors.check(selector)
    named = set(names)
    return sorted(
        name
        for name, labels in namespaces.items()
        if labels.get("kubernetes.io/metadata.name") in named
        or any(selectors.matches(selector, labels) for selector in wanted)
    )


def owned(fan: FanOutKind, resource: Document, child: Document) -> bool:
    """Whether a child of that name is this resource's."""
    owner = controller_of(child)
    return (
        owner is not None
        and owner.kind == fan.kind
        and owner.api_version.rpartition("/")[0] == GROUP
        and owner.name == resource["metadata"]["name"]
    )


def desired_child(fan: FanOutKind, resource: Document, namespace: str, observed: Document | None) -> Document:
    """The whole child for one namespace, on top of what is there."""
    meta = member(resource, "spec", fan.metadata_field)
    annotations = dict(member(meta, "annotations"))
    force = member(resource, "metadata", "annotations").get(FORCE_SYNC)
    if fan is EXTERNAL and force is not None:
        annotations[FORCE_SYNC] = force
    child: dict[str, Any] = dict(observed) if observed is not None else {}
    metadata = member(child, "metadata") | {"name": child_name(fan, resource), "namespace": namespace}
    for field, entries in (("labels", dict(member(meta, "labels"))), ("annotations", annotations)):
        metadata.pop(field, None)
        if entries:
            metadata[field] = entries
    owner = msgspec.convert(resource["metadata"], Metadata)
    put_controller(metadata, fan.parent.api_version, fan.kind, owner)
    child |= {"apiVersion": fan.child_kind.api_version, "kind": fan.child, "metadata": metadata}
    child["spec"] = resource["spec"][fan.spec_field]
    return child


def namespaces_with_child(status: Document) -> list[str]:
    """Namespaces that may hold a child: it was made there, or could not be brought up to date."""
    failed = (failure["namespace"] for failure in status.get("failedNamespaces", ()))
    return sorted({*status.get("provisionedNamespaces", ()), *failed})


def status_on_selector_error(fan: FanOutKind, resource: Document, reason: str, *, timestamp: str) -> Document:
    """The status if the namespaces cannot be determined; each kind has its own form for it."""
    status = member(resource, "status")
    if fan is EXTERNAL:
        return status_after(fan, resource, status.get("provisionedNamespaces", ()), {"unknown": reason})
    condition = {
        "type": "Ready",
        "status": "False",
        "reason": "Errored",
        "message": "failed to get target Namespaces",
    }
    before: Document = next(iter(status.get("conditions", ())), dict[str, Any]())
    since = before.get("lastTransitionTime") if before.get("status") == "False" else None
    condition["lastTransitionTime"] = since or timestamp
    return {**status, fan.name_field: child_name(fan, resource), "conditions": [condition]}


def status_after(
    fan: FanOutKind, resource: Document, provisioned: Sequence[str], failed: Mapping[str, str]
) -> Document:
    """The status after a pass over all namespaces."""
    status: dict[str, Any] = {fan.name_field: child_name(fan, resource)}
    if provisioned:
        status["provisionedNamespaces"] = sorted(provisioned)
    if failed:
        status["failedNamespaces"] = [{"namespace": name, "reason": failed[name]} for name in sorted(failed)]
    condition: dict[str, Any] = {"type": "Ready", "status": "False" if failed else "True"}
    if failed:
        condition["message"] = "one or more namespaces failed"
    status["conditions"] = [condition]
    return status
