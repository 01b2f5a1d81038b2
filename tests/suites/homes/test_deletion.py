"""Deletion: finalizers, namespaces, and what goes with its owner."""

from contextlib import aclosing

import pytest

from syncret.config.meta import Document, GroupKind
from syncret.daemon.homes.contract import Conflict, Forbidden, Home, Invalid, NotFound, WatchEventType
from tests.suites.homes.objects import (
    OURS,
    SECRET,
    THING,
    document_of,
    existing,
    manifest,
    owned_by,
    ref,
    replay,
    secret,
    take,
    told,
)
from tests.support.homes import delete_by_name

NAMESPACE = GroupKind("", "Namespace")
CLUSTER_THING = GroupKind("example.com", "ClusterThing")
HELD = {"finalizers": ["example.com/hold"]}


async def test_a_deleted_object_is_gone(backend: Home) -> None:
    await backend.create(manifest())
    await delete_by_name(backend, ref())
    assert await backend.get(ref()) is None
    assert await backend.list(OURS) == []


async def test_only_what_exists_can_be_deleted(backend: Home) -> None:
    with pytest.raises(NotFound):
        await delete_by_name(backend, ref())
    with pytest.raises(NotFound):
        await delete_by_name(backend, ref(), uid="x")


async def test_a_deletion_means_one_version(backend: Home) -> None:
    former = await backend.create(manifest())
    assert await backend.delete(former) is None
    latter = await backend.create(manifest())
    with pytest.raises(Conflict):
        await backend.delete(former)
    newest = await backend.update(manifest(spec={"x": 1}))
    with pytest.raises(Conflict):
        await backend.delete(latter)
    with pytest.raises(Conflict):
        await backend.update_status(latter, {"a": 1})
    assert newest.is_newer_than(latter)
    await existing(backend, ref())


async def test_a_new_life_has_a_new_uid_and_no_status(backend: Home) -> None:
    former = await backend.create(manifest())
    await backend.update_status(former, {"a": 1})
    await delete_by_name(backend, former.ref)
    latter = await backend.create(manifest())
    assert latter.uid != former.uid
    assert int(latter.resource_version) > int(former.resource_version)
    assert "status" not in latter.document


async def test_finalizers_hold_an_object(backend: Home) -> None:
    await backend.create(manifest(meta=HELD))
    await delete_by_name(backend, ref())
    metadata = (await document_of(backend, ref()))["metadata"]
    assert metadata["deletionTimestamp"].endswith("Z")
    assert metadata["deletionGracePeriodSeconds"] == 0
    assert metadata["generation"] == 2


async def test_a_second_deletion_changes_nothing(backend: Home) -> None:
    await backend.create(manifest(meta=HELD))
    await delete_by_name(backend, ref())
    marked = await existing(backend, ref())
    await delete_by_name(backend, ref())
    assert await existing(backend, ref()) == marked


async def test_what_is_being_deleted_can_still_be_written(backend: Home) -> None:
    held = await backend.delete(await backend.create(manifest(meta=HELD)))
    assert held is not None
    await backend.update_status(held, {"a": 1})
    stored = await backend.update(manifest(meta=HELD, spec={}))
    assert "deletionTimestamp" in stored.document["metadata"]
    assert stored.document["status"] == {"a": 1}


async def test_the_last_finalizer_lets_an_object_go(backend: Home) -> None:
    await backend.create(manifest(meta={"finalizers": ["example.com/one", "example.com/two"]}))
    await delete_by_name(backend, ref())
    await backend.update(manifest(meta={"finalizers": ["example.com/two"]}))
    await existing(backend, ref())
    await backend.update(manifest())
    assert await backend.get(ref()) is None


async def test_what_is_being_deleted_takes_no_new_finalizers(backend: Home) -> None:
    await backend.create(manifest(meta=HELD))
    await delete_by_name(backend, ref())
    with pytest.raises(Invalid) as refusal:
        await backend.update(manifest(meta={"finalizers": ["example.com/hold", "example.com/new"]}))
    assert [problem.path for problem in refusal.value.problems] == ["metadata.finalizers"]


async def test_finalizers_that_are_replaced_let_an_object_go_too(backend: Home) -> None:
    await backend.create(manifest(meta=HELD))
    await delete_by_name(backend, ref())
    marked = await existing(backend, ref())
    with pytest.raises(Invalid):
        await backend.set_finalizers(marked, ["example.com/new"])
    await backend.set_finalizers(marked, [])
    assert await backend.get(ref()) is None


async def test_a_deletion_timestamp_is_the_servers(backend: Home) -> None:
    created = await backend.create(manifest(meta={"deletionTimestamp": "2000-01-01T00:00:00Z"}))
    assert "deletionTimestamp" not in created.document["metadata"]
    updated = await backend.update(manifest(meta={"deletionTimestamp": "2000-01-01T00:00:00Z"}))
    assert updated == created


# ------------------------------------------------------------------------------------------------- namespaces
async def test_a_namespace_that_is_used_exists(backend: Home) -> None:
    await backend.create(manifest(namespace="team-a"))
    document = await document_of(backend, ref(NAMESPACE, "team-a", ""))
    assert document["metadata"]["labels"] == {"kubernetes.io/metadata.name": "team-a"}
    assert document["status"] == {"phase": "Active"}


async def test_a_namespace_keeps_its_name_as_a_label(backend: Home) -> None:
    await backend.create(manifest(NAMESPACE, "team-a", "", meta={"labels": {"team": "a"}}))
    await backend.create(manifest(namespace="team-a"))
    await backend.update(manifest(NAMESPACE, "team-a", "", meta={"labels": {"team": "b"}}))
    document = await document_of(backend, ref(NAMESPACE, "team-a", ""))
    assert document["metadata"]["labels"] == {"kubernetes.io/metadata.name": "team-a", "team": "b"}
    assert document["status"] == {"phase": "Active"}


async def test_a_namespace_goes_with_what_is_in_it(backend: Home) -> None:
    for name in ("a", "b"):
        await backend.create(manifest(name=name, namespace="gone"))
    await backend.create(manifest(namespace="stays"))
    await delete_by_name(backend, ref(NAMESPACE, "gone", ""))
    assert [stored.ref.namespace for stored in await backend.list(OURS)] == ["stays"]
    assert [stored.ref.name for stored in await backend.list(NAMESPACE)] == ["stays"]


async def test_a_namespace_waits_for_the_finalizers_in_it(backend: Home) -> None:
    await backend.create(manifest(namespace="gone", meta=HELD))
    await delete_by_name(backend, ref(NAMESPACE, "gone", ""))
    await delete_by_name(backend, ref(NAMESPACE, "gone", ""))
    document = await document_of(backend, ref(NAMESPACE, "gone", ""))
    assert document["status"] == {"phase": "Terminating"}
    with pytest.raises(Forbidden):
        await backend.create(manifest(name="late", namespace="gone"))
    await backend.update(manifest(namespace="gone"))
    assert await backend.list(NAMESPACE) == []


async def test_a_namespace_waits_for_its_own_finalizers(backend: Home) -> None:
    await backend.create(manifest(NAMESPACE, "gone", "", meta=HELD))
    await backend.create(manifest(namespace="gone", meta=HELD))
    await delete_by_name(backend, ref(NAMESPACE, "gone", ""))
    await backend.update(manifest(NAMESPACE, "gone", ""))
    await existing(backend, ref(NAMESPACE, "gone", ""))
    await backend.update(manifest(namespace="gone"))
    assert await backend.list(NAMESPACE) == []
    await backend.create(manifest(namespace="gone"))
    await existing(backend, ref(NAMESPACE, "gone", ""))


# ----------------------------------------------------------------------------------------------------- owners
async def test_what_an_object_owns_goes_with_it(backend: Home) -> None:
    owner = await backend.create(manifest())
    owned = await backend.create(secret(meta=owned_by(owner)))
    await backend.create(secret("other"))
    await backend.create(manifest(THING, "below", meta=owned_by(owned)))
    await delete_by_name(backend, owner.ref)
    assert [stored.ref.name for stored in await backend.list(SECRET)] == ["other"]
    assert await backend.list(THING) == []


async def test_an_owner_that_waits_for_its_finalizers_still_owns(backend: Home) -> None:
    owner = await backend.create(manifest(meta=HELD))
    owned = await backend.create(secret(meta=owned_by(owner)))
    await delete_by_name(backend, owner.ref)
    await existing(backend, owned.ref)
    await backend.update(manifest())
    assert await backend.get(owned.ref) is None


async def test_what_has_another_owner_loses_only_the_reference(backend: Home) -> None:
    one, two = await backend.create(manifest(name="one")), await backend.create(manifest(name="two"))
    await backend.create(secret(meta=owned_by(one, two)))
    await delete_by_name(backend, one.ref)
    metadata = (await document_of(backend, ref(SECRET, "s")))["metadata"]
    assert [owner["uid"] for owner in metadata["ownerReferences"]] == [two.uid]
    await delete_by_name(backend, two.ref)
    assert await backend.list(SECRET) == []


async def test_what_was_let_go_of_stays(backend: Home) -> None:
    owner = await backend.create(manifest())
    await backend.create(secret(meta=owned_by(owner)))
    await backend.update(secret())
    await delete_by_name(backend, owner.ref)
    await existing(backend, ref(SECRET, "s"))


async def test_what_was_taken_over_goes(backend: Home) -> None:
    owner = await backend.create(manifest())
    await backend.create(secret())
    await backend.update(secret(meta=owned_by(owner)))
    await delete_by_name(backend, owner.ref)
    assert await backend.list(SECRET) == []


async def test_what_is_owned_runs_its_finalizers_first(backend: Home) -> None:
    owner = await backend.create(manifest())
    await backend.create(secret(meta={**HELD, **owned_by(owner)}))
    await delete_by_name(backend, owner.ref)
    assert "deletionTimestamp" in (await document_of(backend, ref(SECRET, "s")))["metadata"]
    await backend.update(secret(meta=owned_by(owner)))
    assert await backend.list(SECRET) == []


async def test_a_cluster_scoped_owner_owns_in_every_namespace(backend: Home) -> None:
    owner = await backend.create(manifest(CLUSTER_THING, "c", ""))
    for namespace in ("x", "y"):
        await backend.create(manifest(namespace=namespace, meta=owned_by(owner)))
    await delete_by_name(backend, owner.ref)
    assert await backend.list(OURS) == []


async def test_what_comes_after_its_owner_went_goes_at_once(backend: Home) -> None:
    owner = await backend.create(manifest())
    await delete_by_name(backend, owner.ref)
    await backend.create(manifest())
    late = await backend.create(secret(meta=owned_by(owner)))
    assert await backend.get(late.ref) is None


async def test_what_is_given_to_an_owner_that_went_goes_at_once(backend: Home) -> None:
    owner = await backend.create(manifest())
    await backend.create(secret())
    await delete_by_name(backend, owner.ref)
    await backend.update(secret(meta=owned_by(owner)))
    assert await backend.list(SECRET) == []


async def test_an_owner_that_was_never_seen_counts_as_one(backend: Home) -> None:
    owner = await backend.create(manifest())
    meta = owned_by(owner)
    meta["ownerReferences"][0]["uid"] = "of-another-cluster"
    await backend.create(secret(meta=meta))
    await delete_by_name(backend, owner.ref)
    await existing(backend, ref(SECRET, "s"))


@pytest.mark.parametrize("held", [pytest.param({}, id="free"), pytest.param(HELD, id="held")])
async def test_what_an_object_owns_in_two_ways_goes_once(backend: Home, held: Document) -> None:
    top = await backend.create(manifest(name="top"))
    middle = await backend.create(manifest(name="middle", meta=owned_by(top)))
    await backend.create(secret(meta={**held, **owned_by(top, middle)}))
    await delete_by_name(backend, top.ref)
    assert await backend.list(OURS) == []
    assert [len(left.document["metadata"]["ownerReferences"]) for left in await backend.list(SECRET)] == (
        [2] if held else []
    )


async def test_owners_in_a_ring_go_together(backend: Home) -> None:
    one = await backend.create(manifest(name="one"))
    two = await backend.create(manifest(name="two", meta=owned_by(one)))
    await backend.update(manifest(name="one", meta=owned_by(two)))
    await delete_by_name(backend, two.ref)
    assert await backend.list(OURS) == []


async def test_a_long_line_of_owners_goes(backend: Home) -> None:
    owner = first = await backend.create(manifest(THING, "0"))
    for number in range(1, 1200):  # deeper than Python may recurse
        owner = await backend.create(manifest(THING, str(number), meta=owned_by(owner)))
    await delete_by_name(backend, first.ref)
    assert await backend.list(THING) == []


@pytest.mark.tells_at_once(reason="kinds, and objects of one kind, come in any order")
async def test_a_deletion_is_told_in_a_fixed_order(backend: Home) -> None:
    owner = await backend.create(manifest(name="owner", namespace="gone"))
    for name in ("z", "y"):
        await backend.create(manifest(SECRET, name, "gone", meta=owned_by(owner)))
    await backend.create(manifest(THING, "last", "gone"))
    async with aclosing(backend.watch()) as watch:
        await replay(watch, backend)
        await delete_by_name(backend, ref(NAMESPACE, "gone", ""))
        changes = await take(watch, 6)
    assert told(changes) == ["deleted y", "deleted z", "deleted last", "deleted owner"]
    assert [changes[0].type, changes[-1].type] == [WatchEventType.MODIFIED, WatchEventType.DELETED]


async def test_an_object_may_own_the_namespace_it_is_in(backend: Home) -> None:
    owner = await backend.create(manifest(namespace="n"))
    await backend.update(manifest(NAMESPACE, "n", "", meta=owned_by(owner)))
    await backend.create(manifest(SECRET, "s", "n", meta=owned_by(owner)))
    await delete_by_name(backend, owner.ref)
    assert await backend.list(NAMESPACE) == []
    assert await backend.list(OURS) == []


async def test_a_namespace_goes_with_its_owner(backend: Home) -> None:
    owner = await backend.create(manifest(namespace="home"))
    await backend.create(manifest(NAMESPACE, "n", "", meta=owned_by(owner)))
    await backend.create(manifest(namespace="n", meta=owned_by(owner)))
    await backend.create(manifest(namespace="n", name="held", meta=HELD))
    await delete_by_name(backend, owner.ref)
    assert [stored.ref.name for stored in await backend.list(OURS)] == ["held"]
    await backend.update(manifest(namespace="n", name="held"))
    assert [stored.ref.name for stored in await backend.list(NAMESPACE)] == ["home"]
