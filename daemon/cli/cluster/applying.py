"""Applies documents to a cluster as a dry run: what the API server would do, before any controller acts."""

from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Literal, NamedTuple

from syncret.config.errors import Problem
from syncret.config.manifests.loader import LoadedDocument
from syncret.config.manifests.references import references
from syncret.config.meta import Document, GroupKind, ObjectRef, is_object, member, ref_of
from syncret.config.resources.kinds import (
    CLUSTER_SECRET_STORE,
    EXTERNAL_SECRET,
    NAMESPACE,
    PUSH_SECRET,
    SECRET,
    SECRET_STORE,
    Kinds,
    kind_of,
    role_of,
)
from syncret.daemon.core.ownership import CREATED_BY, created_by
from syncret.daemon.homes.contract import (
    AlreadyExists,
    HomeError,
    Invalid,
    NotFound,
    StorageUnavailable,
    StoredObject,
)
from syncret.daemon.homes.kubernetes.rehearsal import Rehearsal
from syncret.daemon.homes.kubernetes.user import NotAllowed, UserCluster
from syncret.providers.registry import Registry


class Applied(NamedTuple):
    """What the API server would do with one document."""

    ref: ObjectRef
    place: str
    action: Literal["create", "update", "unchanged", "refused", "unknown"]
    """`unknown`: there is no right to read whether it exists."""
    message: str = ""
    tried: bool = True
    """Whether the API server was asked; otherwise the rules of syncret were applied."""

    def as_document(self) -> Document:
        """As JSON shows it."""
        named = {"action": self.action, "object": str(self.ref), "place": self.place}
        return {**named, "message": self.message, "tried": self.tried}


class Broken(NamedTuple):
    """A document that cannot be applied at all."""

    place: str
    problem: Problem


class Applier:
    """Puts documents into the rehearsal, as the API server would store them."""

    def __init__(self, cluster: UserCluster, home: Rehearsal) -> None:
        self._cluster = cluster
        self._home = home
        self._kinds = Kinds(Registry())
        self.changed: list[ObjectRef] = []
        """Live objects that would be different."""

    async def apply(self, loaded: Iterable[LoadedDocument]) -> tuple[list[Applied], list[Broken]]:
        """Apply each document in order, except those of other tools. Raises HomeError."""
        applied: list[Applied] = []
        broken: list[Broken] = []
        ours = [(each, self._placed(each, broken)) for each in loaded]
        spaces = {ref_of(document).name for _, document in ours if document and _is_namespace(document)}
        for each, document in ours:
            if document is not None:
                applied.append(await self._one(document, f"{each.file}:{each.line}", spaces))
        return applied, broken

    def _placed(self, loaded: LoadedDocument, broken: list[Broken]) -> Document | None:
        """The document in its namespace; None for one of another tool, and for what is broken."""
        document = loaded.document
        problems = [problem for problem in loaded.problems if problem.fatal]
        if document is not None and not problems:
            problems = list(loaded.located(_head_problems(document)))
        if problems or document is None:
            broken += [Broken(loaded.file, problem) for problem in problems]
            return None
        group, _, _ = document["apiVersion"].rpartition("/")
        kind = self._kinds.find(GroupKind(group, document["kind"]))
        if kind is None:
            return None
        given = member(document, "metadata")
        if not (isinstance(given.get("name"), str) and given["name"]):
            problem = Problem(path="metadata.name", message="is required, and must be a string")
            broken += [Broken(loaded.file, each) for each in loaded.located([problem])]
            return None
        metadata = {name: value for name, value in given.items() if name != "namespace"}
        if kind.namespaced:
            metadata["namespace"] = given.get("namespace") or self._cluster.namespace
        return {**document, "metadata": metadata}

    async def _one(self, document: Document, place: str, spaces: Iterable[str]) -> Applied:
        ref = ref_of(document)
        standing: StoredObject | None = None
        try:
            standing = await self._cluster.get(ref)
            stored = await self._cluster.dry_run(document, standing)
        except (NotAllowed, AlreadyExists) as error:  # the latter: it is there, and may not be read
            exists = isinstance(error, AlreadyExists)
            if isinstance(error, NotAllowed):
                self._cluster.note(error)
            return await self._by_our_rules(document, place, exists=exists)
        except NotFound as error:
            if ref.namespace in spaces:
                return await self._by_our_rules(document, place)
            return Applied(ref, place, "refused", str(error))
        except Invalid as error:
            if standing is not None:
                self._home.load(standing.document)
            return Applied(ref, place, "refused", str(error))
        self._home.load(stored)
        if standing is None:
            return Applied(ref, place, "create")
        if _content(stored) == _content(standing.document):
            return Applied(ref, place, "unchanged")
        self.changed.append(ref)
        return Applied(ref, place, "update")

    async def _by_our_rules(self, document: Document, place: str, *, exists: bool = False) -> Applied:
        """Apply a document by the rules of syncret: its dry run is not allowed, or its namespace is new."""
        ref = ref_of(document)
        standing, may_read = None, True
        try:
            standing = await self._cluster.get(ref)
        except NotAllowed as error:
            self._cluster.note(error)
            may_read = False
        if standing is not None:
            self._home.load(standing.document)
        try:
            await self._home.apply(document)
        except HomeError as error:
            return Applied(ref, place, "refused", str(error), tried=False)
        if standing is not None or exists:
            self.changed.append(ref)
            return Applied(ref, place, "update", tried=False)
        return Applied(ref, place, "create" if may_read else "unknown", tried=False)


class Neighbours:
    """Live objects that runs would find in a watch, and that applying concerns."""

    def __init__(self, cluster: UserCluster, home: Rehearsal) -> None:
        self._cluster = cluster
        self._home = home

    async def load(self, applied: Sequence[Applied], changed: Sequence[ObjectRef]) -> list[ObjectRef]:
        """Take them into the rehearsal; those that use a store or generator which would be different."""
        refs = [each.ref for each in applied]
        users = [ref async for ref in self._users(changed)]
        for namespace in sorted(
            {ref.namespace for ref in (*refs, *users) if await self._is_conditional(ref)}
        ):
            await self._read(NAMESPACE.ref("", namespace))
        if any(role_of(ref.group_kind) == "fan_out" for ref in refs):
            await self._look_for(NAMESPACE.ref("", ""))
        for ref in (*refs, *users):
            if ref.group_kind == EXTERNAL_SECRET.group_kind:
                owner = created_by(ref.namespace, ref.name)
                await self._look_for(SECRET.ref(ref.namespace, ""), f"{CREATED_BY}={owner}")
            elif await self._selects_stores(ref):
                await self._look_for(SECRET_STORE.ref(ref.namespace, ""))
            await self._children(ref)
        return users

    async def _is_conditional(self, ref: ObjectRef) -> bool:
        """Whether the labels of its namespace may decide on the stores that it may use."""
        stored = await self._home.get(ref) if ref.namespace else None
        if stored is None:
            return False
        return any(each.target.kind == CLUSTER_SECRET_STORE.kind for each in references(stored.document))

    async def _selects_stores(self, ref: ObjectRef) -> bool:
        """Whether a PushSecret names stores by their labels."""
        stored = await self._home.get(ref) if ref.group_kind == PUSH_SECRET.group_kind else None
        if stored is None:
            return False
        refs: list[object] = member(stored.document, "spec").get("secretStoreRefs") or []
        return any(is_object(each) and "labelSelector" in each for each in refs)

    async def _users(self, changed: Sequence[ObjectRef]) -> AsyncIterator[ObjectRef]:
        sources = {ref for ref in changed if role_of(ref.group_kind) in {"store", "generator"}}
        for namespace in {ref.namespace for ref in sources}:
            for kind in (EXTERNAL_SECRET, PUSH_SECRET):
                for stored in await self._cluster.list(kind.group_kind, namespace) or ():
                    document = stored.document
                    if any(each.target in sources for each in references(document)):
                        await self._read(stored.ref)
                        yield stored.ref

    async def _children(self, ref: ObjectRef) -> None:
        kind = kind_of(ref.group_kind)
        if kind is None or kind.child is None:
            return
        stored = await self._home.get(ref)
        status = {} if stored is None else member(stored.document, "status")
        name = status.get(f"{kind.child.field}Name") or ref.name
        for namespace in status.get("provisionedNamespaces") or ():
            await self._read(kind.child.ref(namespace, name))

    async def _read(self, ref: ObjectRef) -> None:
        with suppress(StorageUnavailable):  # the right that is missing is noted
            await self._home.get(ref)

    async def _look_for(self, any_object: ObjectRef, labels: str = "") -> None:
        with suppress(StorageUnavailable):  # as above
            await self._home.look_for(any_object.group_kind, any_object.namespace, labels)


def _head_problems(document: Document) -> Iterator[Problem]:
    for field in ("apiVersion", "kind"):
        if not isinstance(document.get(field), str):
            yield Problem(path=field, message="is required, and must be a string")


def _is_namespace(document: Document) -> bool:
    return ref_of(document).group_kind == NAMESPACE.group_kind


_OF_SERVER = ("resourceVersion", "generation", "managedFields", "uid", "creationTimestamp", "selfLink")


def _content(document: Document) -> Document:
    """The document without what the API server adds."""
    metadata = {name: value for name, value in document["metadata"].items() if name not in _OF_SERVER}
    rest = {
        name: value for name, value in document.items() if name not in {"status", "metadata", "apiVersion"}
    }
    return {**rest, "metadata": metadata}
