"""The children of a cluster-wide resource, decided without any I/O: their namespaces and contents."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec
from msgspec import Struct

from syncret.config.durations import DurationError, parse_duration
from syncret.config.fields import LabelSelector, Model
from syncret.config.meta import Document, Metadata, ObjectRef, member
from syncret.config.resources.base import GROUP
from syncret.config.resources.kinds import (
    CLUSTER_EXTERNAL_SECRET,
    CLUSTER_PUSH_SECRET,
    EXTERNAL_SECRET,
    NAMESPACE,
    PUSH_SECRET,
    Kind,
)
from syncret.daemon.core import conditions, selectors
from syncret.daemon.core.ownership import FORCE_SYNC, controller_of, put_controller
from syncret.daemon.core.plan.actions import Action, Event, LastError, Report, Verb
from syncret.daemon.core.plan.child_specs import says_the_same
from syncret.providers.errors import SyncError


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


class AddFinalizer(Struct, frozen=True):
    """The object gets our finalizer, so that its children are deleted before it is gone."""


class CleanUp(Struct, frozen=True):
    """The object is being deleted: delete these children, then drop the finalizer."""

    children: tuple["Child", ...] = ()


class Provision(Struct, frozen=True):
    """Each of these namespaces gets a child, except those that are being deleted."""

    namespaces: tuple[str, ...]


class Conclude(Struct, frozen=True):
    """The namespaces cannot be determined; existing children stay."""

    error: SyncError


Step: TypeAlias = AddFinalizer | CleanUp | Provision | Conclude


class Child(NamedTuple):
    """One object of that name, to create, update or delete."""

    namespace: str
    name: str
    is_wanted: bool
    releases: bool = False
    """Whether the namespace may go once it is gone."""


class ChildPlan(Struct, frozen=True):
    """The write for one child, or why there is none."""

    actions: tuple[Action, ...] = ()
    reason: str = ""


class _Selection(Model):
    """The fields of both kinds that choose namespaces."""

    namespaces: tuple[str, ...] = ()
    namespace_selector: LabelSelector | None = None
    namespace_selectors: tuple[LabelSelector, ...] = ()


# -------------------------------------------------------------------------------------------- what to do next
def next_step(fan: FanOutKind, resource: Document, namespaces: Mapping[str, Mapping[str, str]]) -> Step:
    """The one thing to do now; `namespaces` has the labels of all that exist."""
    metadata = member(resource, "metadata")
    if metadata.get("deletionTimestamp"):
        return CleanUp(tuple(_all_children(fan, resource)) if fan.finalizer else ())
    if fan.finalizer and fan.finalizer not in metadata.get("finalizers", ()):
        return AddFinalizer()
    selection = msgspec.convert(member(resource, "spec"), _Selection)
    single = (selection.namespace_selector,) if selection.namespace_selector is not None else ()
    try:
        found = _chosen(selection.namespaces, [*single, *selection.namespace_selectors], namespaces)
    except SyncError as error:
        return Conclude(error)
    return Provision(tuple(found))


def _chosen(
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


def child_name(fan: FanOutKind, resource: Document) -> str:
    """The name of the child, the same in every namespace."""
    return str(member(resource, "spec").get(fan.name_field) or resource["metadata"]["name"])


def _all_children(fan: FanOutKind, resource: Document) -> Iterable[Child]:
    status = member(resource, "status")
    name = status.get(fan.name_field) or child_name(fan, resource)
    for namespace in _namespaces_with_child(status):
        yield Child(namespace, name, is_wanted=False, releases=True)


def children(fan: FanOutKind, resource: Document, chosen: Sequence[str]) -> Iterable[Child]:
    """Every child that there is or should be: first those that go, by a former name or namespace."""
    status, name = member(resource, "status"), child_name(fan, resource)
    former = status.get(fan.name_field) or name
    for namespace in _namespaces_with_child(status):
        if former != name:
            yield Child(namespace, former, is_wanted=False)
        if namespace not in chosen:
            yield Child(namespace, name, is_wanted=False, releases=True)
    for namespace in chosen:
        yield Child(namespace, name, is_wanted=True)


def _namespaces_with_child(status: Document) -> list[str]:
    """Namespaces that may hold a child: it was made there, or could not be brought up to date."""
    failed = (failure["namespace"] for failure in status.get("failedNamespaces", ()))
    return sorted({*status.get("provisionedNamespaces", ()), *failed})


# --------------------------------------------------------------------------------------- what becomes of each
def decide(
    fan: FanOutKind, resource: Document, child: Child, observed: Document | None, namespace: Document | None
) -> ChildPlan:
    """The write for a child, if any. `namespace` is None if it is gone, or may not be marked.

    A finalizer holds the namespace from before there is a child until it has been deleted; a namespace that
    is being deleted is released.
    """
    is_leaving = bool(member(namespace or {}, "metadata").get("deletionTimestamp"))
    ref = ObjectRef(GROUP, fan.child, child.namespace, child.name)
    is_owned = observed is not None and _is_owned(fan, resource, observed)
    finalizer = fan.namespace_finalizer + resource["metadata"]["name"]
    if is_leaving or not child.is_wanted:
        gone = (Action(verb=Verb.DELETE, ref=ref, before=observed),) if is_owned else ()
        releases = _hold(namespace, finalizer, held=False) if is_leaving or child.releases else ()
        return ChildPlan((*gone, *releases))
    if observed is not None and not is_owned:
        return ChildPlan(reason=fan.name_taken)
    desired = desired_child(fan, resource, child.namespace, observed)
    hold = _hold(namespace, finalizer, held=True)
    if desired == observed:
        return ChildPlan(hold)
    verb = Verb.CREATE if observed is None else Verb.UPDATE
    return ChildPlan((*hold, Action(verb=verb, ref=ref, document=desired, before=observed)))


def _hold(namespace: Document | None, finalizer: str, *, held: bool) -> tuple[Action, ...]:
    if namespace is None:
        return ()
    finalizers = member(namespace, "metadata").get("finalizers", ())
    if (finalizer in finalizers) is held:
        return ()
    others = [each for each in finalizers if each != finalizer]
    document = {"metadata": {"finalizers": [*others, finalizer] if held else others}}
    ref = NAMESPACE.ref("", namespace["metadata"]["name"])
    return (Action(verb=Verb.SET_FINALIZERS, ref=ref, document=document, before=namespace),)


def _is_owned(fan: FanOutKind, resource: Document, child: Document) -> bool:
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
    spec = resource["spec"][fan.spec_field]
    if not says_the_same(fan.child_kind, child.get("spec"), spec):
        child["spec"] = spec
    return child


# --------------------------------------------------------------------------------------------- what to report
def report(
    resource: Document,
    status: Document | None,
    failed: Mapping[str, str],
    failure: Exception | None,
    now: float,
) -> Report:
    """The report: a status or none, the namespaces that failed, and the error if a retry may help.

    It does not help if another object has the name: its deletion requeues the resource.
    """
    message = "; ".join(f"{namespace}: {reason}" for namespace, reason in sorted(failed.items()))
    interval = _interval(resource)
    return Report(
        status=None if status == resource.get("status") else status,
        events=(Event("NamespacesFailed", message, warning=True),) if failed else (),
        last_error=LastError(now, message, getattr(failure, "hint", "")) if failed else None,
        failure=failure,
        next_due=now + interval if interval > 0 else None,
    )


def _interval(resource: Document) -> float:
    """Seconds between runs without a change; 0 for a malformed interval, of which admission warns."""
    try:
        return parse_duration(member(resource, "spec").get("refreshTime") or "0s")
    except DurationError:
        return 0.0


def status_on_selector_error(fan: FanOutKind, resource: Document, error: SyncError, now: float) -> Document:
    """The status if the namespaces cannot be determined; each kind has its own form for it."""
    status = member(resource, "status")
    if fan is EXTERNAL:
        return status_after(fan, resource, status.get("provisionedNamespaces", ()), {"unknown": str(error)})
    condition = {
        "type": "Ready",
        "status": "False",
        "reason": "Errored",
        "message": "failed to get target Namespaces",
    }
    before: Document = next(iter(status.get("conditions", ())), dict[str, Any]())
    since = before.get("lastTransitionTime") if before.get("status") == "False" else None
    condition["lastTransitionTime"] = since or conditions.stamp(now)
    return {**status, fan.name_field: child_name(fan, resource), "conditions": [condition]}


def status_after(
    fan: FanOutKind,
    resource: Document,
    provisioned: Sequence[str],
    failed: Mapping[str, str],
    *,
    left: str = "",
) -> Document:
    """The status after a pass over all namespaces; it keeps the former name if a child of that is `left`."""
    status: dict[str, Any] = {fan.name_field: left or child_name(fan, resource)}
    if provisioned:
        status["provisionedNamespaces"] = sorted(provisioned)
    if failed:
        status["failedNamespaces"] = [{"namespace": name, "reason": failed[name]} for name in sorted(failed)]
    condition: dict[str, Any] = {"type": "Ready", "status": "False" if failed else "True"}
    if failed:
        condition["message"] = "one or more namespaces failed"
    status["conditions"] = [condition]
    return status
