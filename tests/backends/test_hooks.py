"""What may be hooked into a cluster, coming back from a journal, writes in two steps, idleness."""

import asyncio
from contextlib import aclosing

import msgspec
import pytest

from syncret.config.errors import Problem, Severity
from syncret.config.meta import Document, ObjectRef
from syncret.daemon.backends.contract import (
    AlreadyExists,
    ChangeKind,
    Conflict,
    Forbidden,
    Invalid,
    Stored,
    TargetUnavailable,
)
from syncret.daemon.backends.memory.cluster import MemoryCluster
from syncret.daemon.backends.memory.hooks import Admitted
from syncret.daemon.backends.memory.metadata import counted_uids
from tests.backends.objects import (
    SECRET,
    START,
    THING,
    document_of,
    existing,
    manifest,
    owned_by,
    ref,
    replay,
    secret,
    take,
)


# -------------------------------------------------------------------------------------------------- admission
def only_growing(document: Document, previous: Document | None) -> Admitted:
    """Fills in a size, converts v1beta1, and refuses to shrink."""
    spec = {"size": 1, **document.get("spec", {})}
    document = {**document, "apiVersion": document["apiVersion"].replace("v1beta1", "v1"), "spec": spec}
    problems = [Problem(path="spec.size", message="is small", severity=Severity.WARNING)]
    if previous is not None and previous["spec"]["size"] > spec["size"]:
        problems.append(Problem(path="spec.size", message="may not shrink"))
    return Admitted(document, tuple(problems))


def refusing(document: Document, _: Document | None) -> Admitted:
    """Lets nothing pass."""
    return Admitted(document, (Problem(path="spec", message="is wrong now"),))


@pytest.fixture
def judged() -> MemoryCluster:
    return MemoryCluster(now=lambda: START, admission=only_growing)


async def test_admission_completes_and_converts(judged: MemoryCluster) -> None:
    stored = await judged.apply({**manifest(THING), "apiVersion": "example.com/v1beta1"})
    assert stored.document["spec"] == {"size": 1}
    assert stored.document["apiVersion"] == "example.com/v1"
    assert await judged.apply({**manifest(THING), "apiVersion": "example.com/v1beta1"}) == stored


async def test_admission_refuses_by_the_previous_version(judged: MemoryCluster) -> None:
    created = await judged.create(manifest(THING, spec={"size": 2}))
    with pytest.raises(Invalid) as refusal:
        await judged.update(manifest(THING))
    assert str(refusal.value) == 'Thing.example.com "a" is invalid: spec.size: may not shrink'
    assert [problem.severity for problem in refusal.value.problems] == [Severity.WARNING, Severity.ERROR]
    assert await judged.get(created.ref) == created


async def test_finalizers_come_and_go_whatever_admission_thinks_of_the_rest() -> None:
    cluster = MemoryCluster(now=lambda: START)
    created = await cluster.create(manifest(THING, spec={"size": 2}))
    stricter = MemoryCluster(now=lambda: START, admission=refusing)
    stricter.restore(created)
    held = await stricter.set_finalizers(created, ["example.com/hold"])
    assert held.document["metadata"]["finalizers"] == ["example.com/hold"]


async def test_admission_judges_a_patch_too(judged: MemoryCluster) -> None:
    await judged.apply(manifest(THING, spec={"size": 2}))
    with pytest.raises(Invalid):
        await judged.patch(ref(THING), {"spec": {"size": None}})


# ---------------------------------------------------------------------------------------------------- journal
class Book:
    """A journal that keeps what stands, and all that happened."""

    def __init__(self) -> None:
        self.standing: dict[ObjectRef, Stored] = {}
        self.entries: list[str] = []
        self.broken = False
        self.stuck = ""

    def saved(self, stored: Stored) -> None:
        if self.broken:
            raise TargetUnavailable("the disk is full")
        self.standing[stored.ref] = stored
        self.entries.append(f"saved {stored.ref}")

    def removed(self, ref: ObjectRef) -> None:
        if ref.name == self.stuck:
            raise TargetUnavailable("the folder is someone else's")
        del self.standing[ref]
        self.entries.append(f"removed {ref}")


async def everything(cluster: MemoryCluster) -> dict[ObjectRef, Stored]:
    async with aclosing(cluster.watch()) as watch:
        return {change.stored.ref: change.stored for change in await replay(watch) if change.stored}


async def test_the_journal_is_told_of_every_mutation() -> None:
    book = Book()
    cluster = MemoryCluster(now=lambda: START, journal=book)
    owner = await cluster.create(manifest())
    await cluster.create(secret(meta=owned_by(owner)))
    await cluster.update(manifest())
    await cluster.report(owner.ref, {"a": 1}, uid=owner.uid)
    await cluster.delete(owner.ref)
    assert book.entries == [
        "saved Namespace/default",
        "saved ExternalSecret/default/a",
        "saved Secret/default/s",
        "saved ExternalSecret/default/a",
        "removed Secret/default/s",
        "removed ExternalSecret/default/a",
    ]


async def test_what_the_journal_refuses_has_not_happened() -> None:
    book = Book()
    cluster = MemoryCluster(now=lambda: START, journal=book)
    created = await cluster.create(manifest())
    async with aclosing(cluster.watch()) as watch:
        await replay(watch)
        book.broken = True
        with pytest.raises(TargetUnavailable):
            await cluster.update(manifest(spec={}))
        assert await cluster.get(created.ref) == created
        book.broken = False
        stored = await cluster.update(manifest(spec={}))
        assert [change.stored for change in await take(watch, 1)] == [stored]


async def test_a_removal_that_fails_in_the_middle_can_be_tried_again() -> None:
    book = Book()
    cluster = MemoryCluster(now=lambda: START, journal=book)
    owner = await cluster.create(manifest())
    for name in ("s", "t"):
        await cluster.create(secret(name, meta=owned_by(owner)))
    book.stuck = "s"
    with pytest.raises(TargetUnavailable):
        await cluster.delete(owner.ref)
    assert [stored.ref.name for stored in await cluster.list(SECRET)] == ["s"]
    await existing(cluster, owner.ref)
    book.stuck = ""
    await cluster.delete(owner.ref)
    assert {stored.ref.kind for stored in book.standing.values()} == {"Namespace"}


async def test_a_cluster_comes_back_from_its_journal() -> None:
    book = Book()
    first = MemoryCluster(now=lambda: START, journal=book)
    owner = await first.create(manifest(meta={"finalizers": ["example.com/f"]}))
    await first.report(owner.ref, {"a": 1}, uid=owner.uid)
    await first.create(secret(meta=owned_by(owner)))
    await first.create(manifest(THING, namespace="gone", meta={"finalizers": ["example.com/f"]}))
    await first.delete(ref(THING, namespace="gone"))
    await first.delete(ObjectRef("", "Namespace", "", "gone"))
    await first.delete(owner.ref)

    again = Book()
    second = MemoryCluster(now=lambda: START, journal=again, version=first.version)
    for stored in list(book.standing.values()):
        second.restore(stored)
    assert await everything(second) == await everything(first)
    assert second.version == first.version
    assert again.entries == []
    with pytest.raises(Forbidden):
        await second.create(manifest(name="late", namespace="gone"))
    again.standing = book.standing
    await second.update(manifest())
    assert await second.list(SECRET) == []
    await second.update(manifest(THING, namespace="gone"))
    assert {stored.ref.name for stored in (await everything(second)).values()} == {"default"}


async def test_versions_go_on_above_every_restored_one(cluster: MemoryCluster) -> None:
    first = MemoryCluster(now=lambda: START)
    await first.create(manifest(name="older"))
    newest = await first.update(manifest(name="older", spec={}))
    cluster.restore(newest)
    assert int((await cluster.create(manifest())).resource_version) > int(newest.resource_version)


async def test_versions_go_on_where_they_ended_even_if_the_newest_object_is_gone() -> None:
    first = MemoryCluster(now=lambda: START)
    last = await first.create(manifest())
    await first.delete(last.ref)
    second = MemoryCluster(now=lambda: START, version=first.version)
    assert int((await second.create(manifest())).resource_version) > int(last.resource_version)


# ------------------------------------------------------------------------------------------------------ vault
class Drawer:
    """A vault that keeps the data of Secrets in a dict of its own."""

    def __init__(self) -> None:
        self.data: dict[ObjectRef, Document] = {}

    def seal(self, stored: Stored, document: Document) -> Stored:
        if document["kind"] != "Secret":
            return stored
        document = {**document, "data": dict.fromkeys(document.get("data", {}), "")}
        return msgspec.structs.replace(stored, data=msgspec.json.encode(document))

    def unseal(self, stored: Stored) -> Stored:
        if stored.ref not in self.data:
            return stored
        document = {**stored.document, "data": self.data[stored.ref]}
        return msgspec.structs.replace(stored, data=msgspec.json.encode(document))


async def test_a_vault_keeps_values_out_of_memory_and_journal() -> None:
    drawer, book = Drawer(), Book()
    cluster = MemoryCluster(now=lambda: START, vault=drawer, journal=book)
    async with aclosing(cluster.watch()) as watch:
        await replay(watch)
        draft = cluster.prepare_create(secret(stringData={"key": "value"}))
        drawer.data[draft.ref] = draft.document["data"]
        created = cluster.commit(draft)
        assert created.document["data"] == {"key": "dmFsdWU="}
        assert b"dmFsdWU" not in b"".join(stored.data for stored in book.standing.values())
        assert (await document_of(cluster, draft.ref))["data"] == {"key": "dmFsdWU="}
        assert (await cluster.list(SECRET))[0].document["data"] == {"key": "dmFsdWU="}
        changes = [change.stored for change in await take(watch, 2) if change.stored]
        assert changes[-1].document["data"] == {"key": ""}


async def test_content_is_compared_with_what_the_vault_keeps() -> None:
    drawer = Drawer()
    cluster = MemoryCluster(now=lambda: START, vault=drawer)
    draft = cluster.prepare_create(secret(data={"a": "MQ=="}, immutable=True))
    drawer.data[draft.ref] = draft.document["data"]
    cluster.commit(draft)
    assert not cluster.prepare_update(secret(data={"a": "MQ=="}, immutable=True)).changed
    with pytest.raises(Invalid):
        cluster.prepare_update(secret(data={"a": "Mg=="}, immutable=True))
    drawer.data[draft.ref] = {"a": "c3RyYXk="}
    assert (await document_of(cluster, draft.ref))["data"] == {"a": "c3RyYXk="}


# ---------------------------------------------------------------------------------------- writes in two steps
async def test_a_prepared_write_has_not_happened(cluster: MemoryCluster) -> None:
    draft = cluster.prepare_create(manifest())
    assert await cluster.get(draft.ref) is None
    assert cluster.commit(draft) == await cluster.get(draft.ref)


async def test_a_prepared_write_loses_to_one_that_came_in_between(cluster: MemoryCluster) -> None:
    creation = cluster.prepare_create(manifest())
    created = await cluster.create(manifest())
    with pytest.raises(Conflict):
        cluster.commit(creation)
    change = cluster.prepare_update(manifest(spec={}))
    reported = await cluster.report(created.ref, {"a": 1}, uid=created.uid)
    with pytest.raises(Conflict):
        cluster.commit(change)
    assert await cluster.get(created.ref) == reported
    with pytest.raises(AlreadyExists):
        cluster.prepare_create(manifest())


async def test_a_prepared_write_loses_to_the_end_of_its_namespace(cluster: MemoryCluster) -> None:
    await cluster.create(manifest(name="held", meta={"finalizers": ["example.com/f"]}))
    draft = cluster.prepare_create(manifest())
    await cluster.delete(ObjectRef("", "Namespace", "", "default"))
    with pytest.raises(Forbidden):
        cluster.commit(draft)


# ----------------------------------------------------------------------------------------- simulation's needs
async def test_the_same_calls_give_the_same_cluster() -> None:
    async def run() -> dict[ObjectRef, Stored]:
        cluster = MemoryCluster(now=lambda: START, new_uid=counted_uids())
        owner = await cluster.create(manifest())
        await cluster.create(secret(meta=owned_by(owner)))
        return await everything(cluster)

    assert await run() == await run()


async def test_timestamps_come_from_the_given_clock() -> None:
    times = iter([START, START + 3600.9])
    cluster = MemoryCluster(now=lambda: next(times))
    await cluster.create(manifest(THING, namespace="", meta={"finalizers": ["example.com/f"]}))
    await cluster.delete(ref(THING, namespace=""))
    metadata = (await document_of(cluster, ref(THING, namespace="")))["metadata"]
    assert metadata["creationTimestamp"] == "2026-01-01T00:00:00Z"
    assert metadata["deletionTimestamp"] == "2026-01-01T01:00:00Z"


async def test_idle_waits_until_every_watcher_has_dealt_with_everything(cluster: MemoryCluster) -> None:
    done: list[str] = []

    async def controller() -> None:
        async with aclosing(cluster.watch()) as watch:
            async for change in watch:
                await asyncio.sleep(0)
                if change.stored and change.stored.ref.kind == "Thing" and change.kind is ChangeKind.ADDED:
                    await cluster.create(secret(f"of-{change.stored.ref.name}"))
                elif change.stored:
                    done.append(change.stored.ref.name)

    tasks = [asyncio.create_task(controller())]
    await asyncio.sleep(0)
    for name in ("a", "b"):
        await cluster.create(manifest(THING, name))
    async with asyncio.timeout(2):
        await cluster.idle()
    assert done == ["default", "of-a", "of-b"]
    await existing(cluster, ref(SECRET, "of-b"))
    tasks[0].cancel()


async def test_idle_does_not_wait_for_who_has_left(cluster: MemoryCluster) -> None:
    watch = cluster.watch()
    waiter = asyncio.create_task(cluster.idle())
    await asyncio.sleep(0)
    assert not waiter.done()
    await watch.aclose()
    async with asyncio.timeout(2):
        await waiter
        dropped = cluster.watch()
        del dropped
        await cluster.idle()


async def test_a_watch_has_one_reader(cluster: MemoryCluster) -> None:
    async with aclosing(cluster.watch()) as watch:
        await replay(watch)
        reader = asyncio.create_task(take(watch, 1))
        await asyncio.sleep(0)
        with pytest.raises(RuntimeError):
            await anext(watch)
        reader.cancel()
