"""What a user of the simulated cluster does: apply and patch."""

import pytest

from syncret.config.meta import Document
from syncret.daemon.homes.contract import Conflict, Invalid, NotFound
from syncret.daemon.homes.memory.cluster import MemoryCluster
from syncret.daemon.homes.memory.requests import merged
from tests.suites.homes.objects import SECRET, THING, manifest, owned_by, ref, secret


async def test_apply_creates(cluster: MemoryCluster) -> None:
    stored = await cluster.apply(manifest(meta={"uid": "mine", "resourceVersion": "77"}))
    assert stored.document["metadata"]["creationTimestamp"] == "2026-01-01T00:00:00Z"
    assert stored.uid != "mine"
    assert stored.resource_version != "77"


async def test_apply_replaces_and_keeps_what_is_not_the_users(cluster: MemoryCluster) -> None:
    owner = await cluster.apply(manifest(name="owner"))
    meta = {"finalizers": ["example.com/f"], "labels": {"a": "b"}, **owned_by(owner)}
    created = await cluster.apply(manifest(meta=meta))
    await cluster.update_status(created, {"a": 1})
    applied = await cluster.apply(manifest(meta={"labels": {"c": "d"}}, spec={}))
    document = applied.document
    assert document["spec"] == {}
    assert document["status"] == {"a": 1}
    assert applied.uid == created.uid
    assert document["metadata"]["labels"] == {"c": "d"}
    assert document["metadata"]["finalizers"] == ["example.com/f"]
    assert document["metadata"]["ownerReferences"] == owned_by(owner)["ownerReferences"]


async def test_apply_takes_finalizers_and_owners_that_are_given(cluster: MemoryCluster) -> None:
    await cluster.apply(manifest(meta={"finalizers": ["example.com/old"]}))
    stored = await cluster.apply(manifest(meta={"finalizers": ["example.com/new"]}))
    assert stored.document["metadata"]["finalizers"] == ["example.com/new"]


async def test_apply_goes_by_the_name_not_by_the_version(cluster: MemoryCluster) -> None:
    old = (await cluster.apply(manifest())).document
    await cluster.apply(manifest(spec={}))
    stored = await cluster.apply(old)
    assert stored.document["spec"] == old["spec"]


async def test_apply_of_the_same_is_no_write(cluster: MemoryCluster) -> None:
    assert await cluster.apply(manifest()) == await cluster.apply(manifest())


async def test_a_status_survives_for_kinds_that_nobody_knows(cluster: MemoryCluster) -> None:
    await cluster.apply(manifest(THING, status={"phase": "x"}, type="a"))
    stored = await cluster.apply(manifest(THING))
    assert stored.document["status"] == {"phase": "x"}
    assert "type" not in stored.document


async def test_the_type_of_a_secret_need_not_be_repeated(cluster: MemoryCluster) -> None:
    await cluster.apply(secret(type="kubernetes.io/basic-auth"))
    stored = await cluster.apply(secret(stringData={"password": "x"}))
    assert stored.document["type"] == "kubernetes.io/basic-auth"


async def test_a_patch_reaches_everything_a_user_may_write(cluster: MemoryCluster) -> None:
    await cluster.apply(manifest(meta={"labels": {"a": "b", "c": "d"}}))
    patch = {"metadata": {"labels": {"a": None, "e": "f"}}, "spec": {"refreshInterval": None, "x": [1]}}
    stored = await cluster.patch(ref(), patch)
    assert stored.document["metadata"]["labels"] == {"c": "d", "e": "f"}
    assert stored.document["spec"] == {"secretStoreRef": {"name": "store"}, "x": [1]}


async def test_a_patch_of_string_data_adds_to_data(cluster: MemoryCluster) -> None:
    await cluster.apply(secret(stringData={"a": "1", "b": "2"}))
    stored = await cluster.patch(ref(SECRET, "s"), {"stringData": {"a": "3"}, "data": {"b": None}})
    assert stored.document["data"] == {"a": "Mw=="}


async def test_a_patch_of_finalizers_lets_an_object_go(cluster: MemoryCluster) -> None:
    await cluster.apply(manifest(meta={"finalizers": ["example.com/f"]}))
    await cluster.remove(ref())
    await cluster.patch(ref(), {"metadata": {"finalizers": None}})
    assert await cluster.get(ref()) is None


async def test_a_patch_leaves_a_status_alone(cluster: MemoryCluster) -> None:
    created = await cluster.apply(manifest())
    await cluster.update_status(created, {"a": 1})
    stored = await cluster.patch(ref(), {"status": {"a": 2}, "spec": {"new": True}})
    assert stored.document["status"] == {"a": 1}


async def test_a_patch_with_a_stale_version_conflicts(cluster: MemoryCluster) -> None:
    stale = await cluster.apply(manifest())
    await cluster.apply(manifest(spec={}))
    with pytest.raises(Conflict):
        await cluster.patch(
            ref(), {"metadata": {"resourceVersion": stale.resource_version}, "spec": {"a": 1}}
        )


async def test_only_what_exists_can_be_patched(cluster: MemoryCluster) -> None:
    with pytest.raises(NotFound):
        await cluster.patch(ref(), {"spec": {}})


@pytest.mark.parametrize(
    "patch",
    [
        pytest.param({"metadata": {"name": "b"}}, id="name"),
        pytest.param({"metadata": {"namespace": "b"}}, id="namespace"),
        pytest.param({"metadata": None}, id="metadata"),
        pytest.param({"kind": "SecretStore"}, id="kind"),
        pytest.param({"apiVersion": "example.com/v1"}, id="group"),
    ],
)
async def test_a_patch_cannot_make_another_object(cluster: MemoryCluster, patch: Document) -> None:
    created = await cluster.apply(manifest())
    with pytest.raises(Invalid):
        await cluster.patch(ref(), patch)
    assert await cluster.get(ref()) == created


@pytest.mark.parametrize(
    ("target", "patch", "result"),
    [
        pytest.param({"a": "b"}, {"a": "c"}, {"a": "c"}, id="replace"),
        pytest.param({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}, id="add"),
        pytest.param({"a": "b"}, {"a": None}, {}, id="remove"),
        pytest.param({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}, id="remove one"),
        pytest.param({"a": ["b"]}, {"a": "c"}, {"a": "c"}, id="list by text"),
        pytest.param({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}, id="text by list"),
        pytest.param({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}, id="nested"),
        pytest.param({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}, id="lists do not merge"),
        pytest.param({"e": None}, {"a": 1}, {"e": None, "a": 1}, id="null in the target stays"),
        pytest.param({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}, id="null below what is new"),
        pytest.param({"a": "text"}, {"a": {"b": None, "c": 1}}, {"a": {"c": 1}}, id="object by text"),
    ],
)
def test_merge_patch(target: Document, patch: Document, result: Document) -> None:
    before = (str(target), str(patch))
    assert merged(target, patch) == result
    assert (str(target), str(patch)) == before
