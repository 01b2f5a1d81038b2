"""A cluster that outlives its process: what a journal is told, and what a vault keeps out of it."""

from contextlib import aclosing

import msgspec
import pytest

from syncret.config.meta import Document, ObjectRef
from syncret.daemon.homes.contract import Forbidden, Invalid, StorageUnavailable, StoredObject
from syncret.daemon.homes.memory.cluster import MemoryCluster
from tests.suites.homes.objects import (
    SECRET,
    START,
    THING,
    document_of,
    everything,
    existing,
    manifest,
    owned_by,
    ref,
    replay,
    secret,
    take,
)


# ---------------------------------------------------------------------------------------------------- journal
class Book:
    """A journal that keeps what stands, and all that happened."""

    def __init__(self) -> None:
        self.standing: dict[ObjectRef, StoredObject] = {}
        self.entries: list[str] = []
        self.broken = False
        self.stuck = ""

    def saved(self, stored: StoredObject) -> None:
        if self.broken:
            raise StorageUnavailable("the disk is full")
        self.standing[stored.ref] = stored
        self.entries.append(f"saved {stored.ref}")

    def removed(self, ref: ObjectRef) -> None:
        if ref.name == self.stuck:
            raise StorageUnavailable("the folder is someone else's")
        del self.standing[ref]
        self.entries.append(f"removed {ref}")


async def test_the_journal_is_told_of_every_mutation() -> None:
    book = Book()
    cluster = MemoryCluster(now=lambda: START, journal=book)
    owner = await cluster.create(manifest())
    await cluster.create(secret(meta=owned_by(owner)))
    await cluster.update(manifest())
    await cluster.update_status(owner, {"a": 1})
    await cluster.remove(owner.ref)
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
        await replay(watch, cluster)
        book.broken = True
        with pytest.raises(StorageUnavailable):
            await cluster.update(manifest(spec={}))
        assert await cluster.get(created.ref) == created
        book.broken = False
        stored = await cluster.update(manifest(spec={}))
        assert [change.object for change in await take(watch, 1)] == [stored]


async def test_a_removal_that_fails_in_the_middle_can_be_tried_again() -> None:
    book = Book()
    cluster = MemoryCluster(now=lambda: START, journal=book)
    owner = await cluster.create(manifest())
    for name in ("s", "t"):
        await cluster.create(secret(name, meta=owned_by(owner)))
    book.stuck = "s"
    with pytest.raises(StorageUnavailable):
        await cluster.remove(owner.ref)
    assert [stored.ref.name for stored in await cluster.list(SECRET)] == ["s"]
    await existing(cluster, owner.ref)
    book.stuck = ""
    await cluster.remove(owner.ref)
    assert {stored.ref.kind for stored in book.standing.values()} == {"Namespace"}


async def test_a_cluster_comes_back_from_its_journal() -> None:
    book = Book()
    first = MemoryCluster(now=lambda: START, journal=book)
    owner = await first.create(manifest(meta={"finalizers": ["example.com/f"]}))
    await first.update_status(owner, {"a": 1})
    await first.create(secret(meta=owned_by(owner)))
    await first.create(manifest(THING, namespace="gone", meta={"finalizers": ["example.com/f"]}))
    await first.remove(ref(THING, namespace="gone"))
    await first.remove(ObjectRef("", "Namespace", "", "gone"))
    await first.remove(owner.ref)

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
    await first.remove(last.ref)
    second = MemoryCluster(now=lambda: START, version=first.version)
    assert int((await second.create(manifest())).resource_version) > int(last.resource_version)


# ------------------------------------------------------------------------------------------------------ vault
class Drawer:
    """A vault that keeps the data of Secrets in a dict of its own."""

    def __init__(self) -> None:
        self.data: dict[ObjectRef, Document] = {}

    def strip(self, ref: ObjectRef, document: Document) -> Document:
        if ref.kind != "Secret":
            return document
        return {**document, "data": dict.fromkeys(document.get("data", {}), "")}

    def fill(self, stored: StoredObject) -> StoredObject:
        if stored.ref not in self.data:
            return stored
        document = {**stored.document, "data": self.data[stored.ref]}
        return msgspec.structs.replace(stored, data=msgspec.json.encode(document))


async def test_a_vault_keeps_values_out_of_memory_and_journal() -> None:
    drawer, book = Drawer(), Book()
    cluster = MemoryCluster(now=lambda: START, contents=drawer, journal=book)
    async with aclosing(cluster.watch()) as watch:
        await replay(watch, cluster)
        draft = cluster.prepare_create(secret(stringData={"key": "value"}))
        drawer.data[draft.ref] = draft.document["data"]
        created = cluster.commit(draft)
        assert created.document["data"] == {"key": ""}, "as it is announced"
        assert b"dmFsdWU" not in b"".join(stored.data for stored in book.standing.values())
        assert (await document_of(cluster, draft.ref))["data"] == {"key": "dmFsdWU="}
        assert (await cluster.list(SECRET))[0].document["data"] == {"key": "dmFsdWU="}
        changes = [change.object for change in await take(watch, 2) if change.object]
        assert changes[-1].document["data"] == {"key": ""}


async def test_content_is_compared_with_what_the_vault_keeps() -> None:
    drawer = Drawer()
    cluster = MemoryCluster(now=lambda: START, contents=drawer)
    draft = cluster.prepare_create(secret(data={"a": "MQ=="}, immutable=True))
    drawer.data[draft.ref] = draft.document["data"]
    cluster.commit(draft)
    assert not cluster.prepare_update(secret(data={"a": "MQ=="}, immutable=True)).changed
    with pytest.raises(Invalid):
        cluster.prepare_update(secret(data={"a": "Mg=="}, immutable=True))
    drawer.data[draft.ref] = {"a": "c3RyYXk="}
    assert (await document_of(cluster, draft.ref))["data"] == {"a": "c3RyYXk="}
