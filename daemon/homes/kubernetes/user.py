"""A cluster as a person with a kubeconfig sees it: which rights are missing is recorded.

Nothing is watched and nothing is kept. The only write is an annotation that the person asks for; the effect
of others is found out with `dryRun=All`, which the API server does not carry out.
"""

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Final

import msgspec
from msgspec import Struct

from syncret.config.catalog import Catalog
from syncret.config.meta import Document, GroupKind, ObjectRef, is_object, member, ref_of
from syncret.config.settings import Settings
from syncret.daemon.core.conditions import seconds
from syncret.daemon.homes.contract import Invalid, StorageUnavailable, StoredObject
from syncret.daemon.homes.kubernetes.access.kubeconfig import Access
from syncret.daemon.homes.kubernetes.api import JSON, MERGE_PATCH, METADATA_ONLY, ApiServer, NotAllowed
from syncret.daemon.homes.kubernetes.bodies import merge_patch
from syncret.daemon.homes.kubernetes.objects import stored_of
from syncret.daemon.homes.kubernetes.opening import http_to, own_access
from syncret.daemon.homes.kubernetes.resources import Resource, Resources, listed
from syncret.providers.kit.http import Body

__all__ = ("ClusterEvent", "NotAllowed", "UserCluster", "user_cluster")

LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
MANAGER: Final = "syncret-cli"
"""The field manager of writes for a person."""

_OF_RIGHTS: Final = '" cannot '
"""In the words of a 403 for want of a right; one of a webhook or a quota has others."""

_EVENT: Final = GroupKind("", "Event")


class ClusterEvent(Struct, frozen=True, kw_only=True, rename="camel"):
    """An Event of a controller about an object."""

    at: str
    """When it occurred last."""
    warning: bool
    reason: str
    message: str
    count: int
    """How often."""
    source: str
    """The controller that reported it."""

    @property
    def seconds(self) -> float:
        """The same time since the epoch."""
        return seconds(self.at) or 0.0


class _Involved(Struct, frozen=True):
    kind: str = ""
    namespace: str = ""
    name: str = ""


class _Series(Struct, frozen=True, rename="camel"):
    count: int = 0
    last_observed_time: str | None = None


class _Source(Struct, frozen=True):
    component: str = ""


class _Event(Struct, frozen=True, rename="camel"):
    involved_object: _Involved = _Involved()
    type: str = ""
    reason: str = ""
    message: str = ""
    count: int | None = None
    series: _Series | None = None
    last_timestamp: str | None = None
    event_time: str | None = None
    first_timestamp: str | None = None
    source: _Source | None = None
    reporting_component: str = ""


class UserCluster:
    """An API server, as one person. Methods raise HomeError; `denied` has the rights that were missing."""

    def __init__(self, api: ApiServer, access: Access, catalog: Catalog, settings: Settings) -> None:
        self._api = api
        self._resources = Resources(api, catalog)
        self.server = access.server
        self.namespace = settings.namespace or access.namespace or "default"
        """The default namespace."""
        self.context = settings.context
        self.denied: dict[str, None] = {}
        """The messages of the API server about missing rights, each once."""

    async def get(self, ref: ObjectRef) -> StoredObject | None:
        """The object, whole. Raises NotAllowed."""
        resource = await self._resources.find(ref.group_kind)
        if resource is None:
            return None
        answer = await self._api.read(resource.path_to(ref), doing=f"reading {ref}")
        return None if answer is None else stored_of(resource, answer.decode(Document), whole=True)

    async def exists(self, ref: ObjectRef) -> bool | None:
        """Whether there is such an object, read without its values; None if it may not be read."""
        resource = await self._resources.find(ref.group_kind)
        if resource is None:
            return False
        try:
            answer = await self._api.read(
                resource.path_to(ref), doing=f"looking for {ref}", accept=METADATA_ONLY
            )
        except NotAllowed as error:
            self.note(error)
            return None
        return answer is not None

    async def serves(self, kind: GroupKind) -> bool:
        """Whether the cluster has the kind."""
        return await self._resources.find(kind) is not None

    async def list(
        self, kind: GroupKind, namespace: str = "", *, labels: str = ""
    ) -> Sequence[StoredObject] | None:
        """The objects in one namespace, or (empty) in all; None where they may not be listed."""
        resource = await self._resources.find(kind)
        if resource is None:
            return ()
        params = {"labelSelector": labels} if labels else {}
        found = await self._listed(resource, namespace, params)
        return None if found is None else [stored_of(resource, each, whole=True) for each in found]

    async def events(
        self, namespace: str = "", *, of: ObjectRef | None = None
    ) -> Mapping[ObjectRef, Sequence[ClusterEvent]]:
        """Warnings of a namespace or of all, or the events of one object, the newest first.

        None if that may not be listed.
        """
        resource = await self._resources.find(_EVENT)
        if resource is None:
            return {}
        params = {"fieldSelector": "type=Warning"}
        if of is not None:  # those of cluster-scoped objects are in `default`
            namespace = of.namespace or "default"
            named = {"kind": of.kind, "name": of.name}
            params["fieldSelector"] = ",".join(f"involvedObject.{key}={text}" for key, text in named.items())
        found: dict[ObjectRef, list[ClusterEvent]] = {}
        for document in await self._listed(resource, namespace, params) or ():
            event = msgspec.convert(document, type=_Event, strict=False)
            about = event.involved_object
            group = document.get("involvedObject", {}).get("apiVersion", "").rpartition("/")[0]
            ref = ObjectRef(group, about.kind, about.namespace, about.name)
            found.setdefault(ref, []).append(_event(event))
        for events in found.values():
            events.sort(key=lambda each: each.seconds, reverse=True)
        return found

    async def _listed(
        self, resource: Resource, namespace: str, params: Mapping[str, str]
    ) -> Sequence[Document] | None:
        place = f" in namespace {namespace}" if namespace and resource.namespaced else ""
        try:
            found = listed(
                self._api, resource.path(namespace), doing=f"listing {resource.plural}{place}", params=params
            )
            return [each async for each in found]
        except NotAllowed as error:
            self.note(error)
            return None

    async def annotate(self, ref: ObjectRef, annotations: Mapping[str, str]) -> StoredObject:
        """Set annotations of an object. Raises NotFound."""
        resource = await self._resources.find(ref.group_kind)
        if resource is None:
            raise StorageUnavailable(
                f"{ref}: the API server does not serve this kind",
                hint="install its CRD: `syncret export crds` has those of ours",
            )
        answer = await self._api.write(
            "PATCH",
            resource.path_to(ref),
            Body(msgspec.json.encode({"metadata": {"annotations": annotations}}), MERGE_PATCH),
            doing=f"annotating {ref}",
            params={"fieldManager": MANAGER},
        )
        return stored_of(resource, answer.decode(Document), whole=True)

    async def dry_run(self, document: Document, standing: StoredObject | None) -> Document:
        """What the API server would store if the document were applied as `kubectl apply` does.

        Raises Invalid where it would be refused, NotAllowed, or NotFound for a missing namespace.
        """
        ref = ref_of(document)
        version = str(document["apiVersion"]).rpartition("/")[2]
        resource = await self._resources.find(ref.group_kind, version)
        if resource is None:
            raise Invalid(f"the API server does not serve {ref.kind} of {document['apiVersion']}")
        params = {"dryRun": "All", "fieldManager": "kubectl-client-side-apply", "fieldValidation": "Warn"}
        if standing is None:
            path, method = resource.path(ref.namespace), "POST"
            body = Body(msgspec.json.encode(document), JSON)
        else:
            path, method = resource.path_to(ref), "PATCH"
            body = Body(msgspec.json.encode(apply_patch(standing.document, document)), MERGE_PATCH)
        try:
            answer = await self._api.write(method, path, body, doing=f"trying {ref}", params=params)
        except NotAllowed as error:
            if _OF_RIGHTS in str(error):
                raise
            raise Invalid(str(error)) from None
        stored: Document = answer.decode(Document)
        return {**stored, "apiVersion": resource.api_version, "kind": resource.kind}

    def note(self, error: NotAllowed) -> None:
        """Remember a right that is missing."""
        self.denied[str(error)] = None


@asynccontextmanager
async def user_cluster(
    settings: Settings, catalog: Catalog, environment: Mapping[str, str]
) -> AsyncGenerator[UserCluster, None]:
    """The cluster of the kubeconfig that the settings name, until the block is left. Raises HomeUnusable."""
    chosen = own_access(settings.kubeconfig, settings.context, environment)
    async with http_to(chosen) as http:
        yield UserCluster(ApiServer(http, chosen.login), chosen, catalog, settings)


def apply_patch(standing: Document, document: Document) -> Document:
    """What `kubectl apply` sends: the document, and null for what it has removed from the one before.

    The copy of the document in the annotations is renewed where there is one, as values may be made of it.
    """
    try:
        before = json.loads(member(standing, "metadata", "annotations").get(LAST_APPLIED, ""))
    except ValueError:
        return document
    if not is_object(before):
        return document
    if not is_object(before.get("metadata")):
        return document
    before, wanted = _annotated(before), _annotated(document)
    patch = merged_patches(merge_patch(before, wanted), document)
    if before != wanted:
        text = json.dumps(document, separators=(",", ":"), sort_keys=True, ensure_ascii=False)
        annotations = {**member(patch, "metadata", "annotations"), LAST_APPLIED: f"{text}\n"}
        patch["metadata"] = {**patch["metadata"], "annotations": annotations}
    return patch


def merged_patches(nulls: Document, document: Document) -> Document:
    """The document with the nulls of a patch that leads to it."""
    result = dict(document)
    for name, value in nulls.items():
        if value is None:
            result[name] = None
        elif is_object(value):
            result[name] = merged_patches(value, member(result, name))
    return result


def _annotated(document: Document) -> Document:
    """The document with annotations, if only empty ones: kubectl adds these to its copy."""
    annotations = member(document, "metadata", "annotations")
    return {**document, "metadata": {**document["metadata"], "annotations": annotations}}


def _event(event: _Event) -> ClusterEvent:
    series = event.series or _Series()
    at = series.last_observed_time or event.last_timestamp or event.event_time or event.first_timestamp
    source = event.source.component if event.source is not None else ""
    return ClusterEvent(
        at=at or "",
        warning=event.type == "Warning",
        reason=event.reason,
        message=event.message,
        count=series.count or event.count or 1,
        source=event.reporting_component or source,
    )
