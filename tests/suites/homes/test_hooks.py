"""What may be hooked into a cluster: admission before a write, and a write in two steps."""

import pytest

from syncret.config.errors import Problem, Severity
from syncret.config.meta import Document, ObjectRef
from syncret.daemon.homes.contract import AlreadyExists, Conflict, Forbidden, Invalid
from syncret.daemon.homes.memory.cluster import MemoryCluster
from syncret.daemon.homes.memory.plugins import Admitted
from tests.suites.homes.objects import (
    START,
    THING,
    manifest,
    ref,
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
    reported = await cluster.update_status(created, {"a": 1})
    with pytest.raises(Conflict):
        cluster.commit(change)
    assert await cluster.get(created.ref) == reported
    with pytest.raises(AlreadyExists):
        cluster.prepare_create(manifest())


async def test_a_prepared_write_loses_to_the_end_of_its_namespace(cluster: MemoryCluster) -> None:
    await cluster.create(manifest(name="held", meta={"finalizers": ["example.com/f"]}))
    draft = cluster.prepare_create(manifest())
    await cluster.remove(ObjectRef("", "Namespace", "", "default"))
    with pytest.raises(Forbidden):
        cluster.commit(draft)
