"""Random lives of a cluster, beside a model that is a dict."""

import asyncio
from collections.abc import Coroutine, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from syncret.config.meta import Document, GroupKind, ObjectRef
from syncret.daemon.homes.contract import AlreadyExists, Forbidden, NotFound, StoredObject, WatchEventType
from syncret.daemon.homes.memory.cluster import MemoryCluster
from tests.suites.homes.objects import START, manifest

R = TypeVar("R")
STORE = GroupKind("external-secrets.io", "SecretStore")
NAMESPACES = ["x", "y", ""]
REFS = st.builds(
    ObjectRef,
    group=st.just(STORE.group),
    kind=st.just(STORE.kind),
    namespace=st.sampled_from(NAMESPACES),
    name=st.sampled_from("abcd"),
)
OWNERS = st.lists(st.integers(min_value=0, max_value=30), max_size=2)


@dataclass
class Life:
    """What the model knows of one object."""

    uid: str
    size: int
    owners: set[str]
    held: bool
    deleting: bool = False
    status: int | None = None


@dataclass
class Model:
    """The cluster as a dict."""

    lives: dict[ObjectRef, Life] = field(default_factory=dict[ObjectRef, Life])
    gone: set[str] = field(default_factory=set[str])
    ending: set[str] = field(default_factory=set[str])

    def delete(self, ref: ObjectRef) -> None:
        life = self.lives.get(ref)
        if life is None:
            return
        life.deleting = True
        self.release(ref)

    def release(self, ref: ObjectRef) -> None:
        """Let an object go that waits for nothing, and what hung on it."""
        life = self.lives.get(ref)
        if life is None or not life.deleting or life.held:
            return
        del self.lives[ref]
        self.gone.add(life.uid)
        for other in sorted(self.lives):
            self.adopt(other)
        if not any(ref.namespace == other.namespace for other in self.lives):
            self.ending.discard(ref.namespace)

    def adopt(self, ref: ObjectRef) -> None:
        """Strike off owners that are gone; who had owners and has none left goes, too."""
        life = self.lives.get(ref)
        if life is not None and life.owners & self.gone:
            life.owners -= self.gone
            if not life.owners:
                self.delete(ref)

    def end(self, namespace: str) -> None:
        """Delete a namespace."""
        inside = [ref for ref in sorted(self.lives) if ref.namespace == namespace]
        if inside:
            self.ending.add(namespace)
        for ref in inside:
            self.delete(ref)


def view(stored: StoredObject, gone: Iterable[str]) -> Life:
    """What the model would say of a stored object. Owners that are gone may stand in what is itself going."""
    document = stored.document
    metadata = document["metadata"]
    owners = {reference["uid"] for reference in metadata.get("ownerReferences", ())}
    deleting = "deletionTimestamp" in metadata
    return Life(
        uid=stored.uid,
        size=document["spec"]["size"],
        owners=owners - set(gone) if deleting else owners,
        held="finalizers" in metadata,
        deleting=deleting,
        status=document.get("status", {}).get("seen"),
    )


class Lives(RuleBasedStateMachine):
    """Creates, changes, reports and deletes at random; a watcher writes down all that it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.cluster = MemoryCluster(now=lambda: START)
        self.model = Model()
        self.uids: list[str] = []
        self.told: dict[ObjectRef, StoredObject] = {}
        self.versions: list[int] = []
        self.reader = self.loop.create_task(self.read())

    def run_now(self, call: Coroutine[Any, Any, R]) -> R:
        return self.loop.run_until_complete(call)

    async def read(self) -> None:
        async for change in self.cluster.watch():
            if change.object is None:
                continue
            ref = change.object.ref
            if change.type is WatchEventType.DELETED:
                assert self.told.pop(ref).uid == change.object.uid
                continue
            assert (change.type is WatchEventType.MODIFIED) == (ref in self.told)
            self.told[ref] = change.object
            self.versions.append(int(change.object.resource_version))

    def document(self, ref: ObjectRef, size: int, owners: list[int], *, held: bool) -> Document:
        uids = {self.uids[number % len(self.uids)] for number in owners} if self.uids else set[str]()
        meta: Document = {"finalizers": ["example.com/hold"]} if held else {}
        head = {"apiVersion": "external-secrets.io/v1", "kind": "SecretStore", "name": "o"}
        meta["ownerReferences"] = [{**head, "uid": uid} for uid in sorted(uids)]
        return manifest(STORE, ref.name, ref.namespace, meta=meta, spec={"size": size})

    @rule(ref=REFS, size=st.integers(0, 3), owners=OWNERS, held=st.booleans())
    def create(self, *, ref: ObjectRef, size: int, owners: list[int], held: bool) -> None:
        document = self.document(ref, size, owners, held=held)
        if ref in self.model.lives or ref.namespace in self.model.ending:
            with pytest.raises((AlreadyExists, Forbidden)):
                self.run_now(self.cluster.create(document))
            return
        stored = self.run_now(self.cluster.create(document))
        self.uids.append(stored.uid)
        named = {reference["uid"] for reference in document["metadata"]["ownerReferences"]}
        self.model.lives[ref] = Life(stored.uid, size, named, held)
        self.model.adopt(ref)

    @rule(ref=REFS, size=st.integers(0, 3), owners=OWNERS, held=st.booleans())
    def update(self, *, ref: ObjectRef, size: int, owners: list[int], held: bool) -> None:
        document = self.document(ref, size, owners, held=held)
        life = self.model.lives.get(ref)
        if life is None:
            with pytest.raises(NotFound):
                self.run_now(self.cluster.update(document))
            return
        self.run_now(self.cluster.update(document))
        life.size, life.held = size, held
        life.owners = {reference["uid"] for reference in document["metadata"]["ownerReferences"]}
        self.model.release(ref)
        self.model.adopt(ref)

    @rule(ref=REFS, seen=st.integers(0, 3))
    def report(self, ref: ObjectRef, seen: int) -> None:
        life = self.model.lives.get(ref)
        stored = self.run_now(self.cluster.get(ref)) or StoredObject(
            ref=ref, uid="none", resource_version="1", data=b"{}"
        )
        assert (self.run_now(self.cluster.update_status(stored, {"seen": seen})) is None) == (life is None)
        if life:
            life.status = seen

    @rule(ref=REFS)
    def delete(self, ref: ObjectRef) -> None:
        if ref not in self.model.lives:
            with pytest.raises(NotFound):
                self.run_now(self.cluster.remove(ref))
            return
        self.run_now(self.cluster.remove(ref))
        self.model.delete(ref)

    @rule(namespace=st.sampled_from([name for name in NAMESPACES if name]))
    def end_namespace(self, namespace: str) -> None:
        ref = ObjectRef("", "Namespace", "", namespace)
        if self.run_now(self.cluster.get(ref)) is not None:
            self.run_now(self.cluster.remove(ref))
            self.model.end(namespace)

    @invariant()
    def holds_what_the_model_holds(self) -> None:
        stored = self.run_now(self.cluster.list(STORE))
        assert {one.ref: view(one, self.model.gone) for one in stored} == self.model.lives

    @invariant()
    def leaves_nothing_to_an_owner_that_is_gone(self) -> None:
        for life in self.model.lives.values():
            assert life.deleting or not life.owners & self.model.gone

    @invariant()
    def tells_watchers_what_it_holds(self) -> None:
        self.run_now(self.cluster.announced())
        assert not self.reader.done()
        told = {ref: one for ref, one in self.told.items() if ref.kind != "Namespace"}
        assert told == {one.ref: one for one in self.run_now(self.cluster.list(STORE))}

    @invariant()
    def numbers_versions_upwards(self) -> None:
        assert self.versions == sorted(set(self.versions))

    def teardown(self) -> None:
        self.reader.cancel()
        self.loop.run_until_complete(asyncio.gather(self.reader, return_exceptions=True))
        self.loop.close()


TestLives = Lives.TestCase
TestLives.settings = settings(max_examples=60, stateful_step_count=30)
