"""Objects: what the server makes of a manifest, and how versions follow each other."""

import asyncio

import pytest

from syncret.config.fields import LabelRequirement, LabelSelector
from syncret.config.meta import Document, GroupKind
from syncret.daemon.homes.contract import AlreadyExists, Conflict, Home, Invalid, NotFound
from syncret.providers.errors import Malformed
from tests.suites.homes.objects import OURS, SECRET, THING, document_of, existing, manifest, ref, secret
from tests.support.homes import delete_by_name


async def test_a_created_object_is_what_was_given_and_what_the_server_adds(backend: Home) -> None:
    stored = await backend.create(manifest(meta={"labels": {"team": "a"}}))
    document = stored.document
    metadata = document["metadata"]
    assert document["spec"] == manifest()["spec"]
    assert metadata["labels"] == {"team": "a"}
    assert metadata["uid"] == stored.uid
    assert metadata["resourceVersion"] == stored.resource_version
    assert metadata["creationTimestamp"].endswith("Z")
    assert metadata["generation"] == 1
    assert await existing(backend, ref()) == stored


async def test_what_is_not_there_is_none(backend: Home) -> None:
    assert await backend.get(ref()) is None


async def test_a_name_is_taken_once(backend: Home) -> None:
    await backend.create(manifest())
    with pytest.raises(AlreadyExists):
        await backend.create(manifest())


async def test_the_same_name_may_stand_in_other_namespaces_and_kinds(backend: Home) -> None:
    created = [
        await backend.create(manifest()),
        await backend.create(manifest(namespace="other")),
        await backend.create(manifest(THING)),
        await backend.create(manifest(GroupKind("other.example.com", "Thing"))),
    ]
    assert len({stored.uid for stored in created}) == len(created)
    assert len({stored.resource_version for stored in created}) == len(created)


async def test_a_client_cannot_choose_what_is_the_servers(backend: Home) -> None:
    meta: Document = {
        "uid": "mine",
        "creationTimestamp": "2000-01-01T00:00:00Z",
        "generation": 9,
        "managedFields": [{}],
    }
    stored = await backend.create(manifest(meta=meta, status={"conditions": []}))
    metadata = stored.document["metadata"]
    assert stored.uid != "mine"
    assert metadata["creationTimestamp"] != "2000-01-01T00:00:00Z"
    assert metadata["generation"] == 1
    assert "managedFields" not in metadata
    assert "status" not in stored.document


async def test_a_callers_document_stays_the_callers(backend: Home) -> None:
    document = secret(stringData={"key": "value"}, meta={"labels": None})
    await backend.create(document)
    assert document == secret(stringData={"key": "value"}, meta={"labels": None})
    document["data"] = {"other": "b3RoZXI="}
    assert "other" not in (await document_of(backend, ref(SECRET, "s")))["data"]


@pytest.mark.parametrize(
    ("change", "generation"),
    [
        pytest.param({"spec": {"refreshInterval": "2h"}}, 2, id="spec"),
        pytest.param({"data": {"new": "member"}}, 2, id="beside the spec"),
        pytest.param({"metadata": {"labels": {"a": "b"}}}, 1, id="labels"),
        pytest.param({"metadata": {"finalizers": ["example.com/f"]}}, 1, id="finalizers"),
        pytest.param({"status": {"conditions": []}}, 1, id="status"),
    ],
)
async def test_the_generation_counts_changes_of_the_content(
    backend: Home, change: Document, generation: int
) -> None:
    document = (await backend.create(manifest(THING))).document
    metadata = {**document["metadata"], **change.get("metadata", {})}
    updated = await backend.update({**document, **change, "metadata": metadata})
    assert updated.document["metadata"]["generation"] == generation
    assert updated.resource_version != document["metadata"]["resourceVersion"]


async def test_core_kinds_have_no_generation(backend: Home) -> None:
    await backend.create(secret())
    stored = await backend.update(secret(data={"a": "Yg=="}))
    assert "generation" not in stored.document["metadata"]


async def test_an_update_replaces_all_but_what_is_the_servers(backend: Home) -> None:
    created = await backend.create(manifest(meta={"labels": {"a": "b"}, "annotations": {"c": "d"}}))
    updated = await backend.update(manifest(meta={"labels": {"e": "f"}}, spec={"refreshInterval": "0"}))
    old, new = created.document, updated.document
    assert updated.uid == created.uid
    assert new["spec"] == {"refreshInterval": "0"}
    assert new["metadata"]["labels"] == {"e": "f"}
    assert "annotations" not in new["metadata"]
    assert new["metadata"]["creationTimestamp"] == old["metadata"]["creationTimestamp"]
    assert int(updated.resource_version) > int(created.resource_version)


async def test_an_update_from_a_stale_version_conflicts(backend: Home) -> None:
    stale = (await backend.create(manifest())).document
    await backend.update(manifest(spec={"refreshInterval": "2h"}))
    with pytest.raises(Conflict):
        await backend.update({**stale, "spec": {"refreshInterval": "3h"}})
    assert (await document_of(backend, ref()))["spec"] == {"refreshInterval": "2h"}


async def test_without_a_version_the_last_write_wins(backend: Home) -> None:
    await backend.create(manifest())
    await backend.update(manifest(spec={"refreshInterval": "2h"}))
    await backend.update(manifest(spec={"refreshInterval": "3h"}))
    assert (await document_of(backend, ref()))["spec"] == {"refreshInterval": "3h"}


async def test_an_update_of_a_former_life_conflicts(backend: Home) -> None:
    former = await backend.create(manifest())
    await delete_by_name(backend, former.ref)
    await backend.create(manifest())
    with pytest.raises(Conflict):
        await backend.update(manifest(meta={"uid": former.uid}, spec={}))


async def test_only_what_exists_can_be_updated(backend: Home) -> None:
    with pytest.raises(NotFound):
        await backend.update(manifest())


@pytest.mark.parametrize("kind", [pytest.param(OURS, id="ours"), pytest.param(SECRET, id="secret")])
async def test_finalizers_alone_can_be_replaced(backend: Home, kind: GroupKind) -> None:
    created = await backend.create(manifest(kind, meta={"labels": {"a": "b"}}))
    held = await backend.set_finalizers(created, ["example.com/hold"])
    assert held == await existing(backend, ref(kind))
    assert held.generation == created.generation
    assert int(held.resource_version) > int(created.resource_version)
    assert await backend.set_finalizers(held, ["example.com/hold"]) == held
    freed = (await backend.set_finalizers(held, [])).document
    assert freed == {
        **created.document,
        "metadata": {**created.document["metadata"], "resourceVersion": freed["metadata"]["resourceVersion"]},
    }


async def test_finalizers_of_a_stale_version_are_not_replaced(backend: Home) -> None:
    stale = await backend.create(manifest())
    await backend.update(manifest(spec={"refreshInterval": "2h"}))
    with pytest.raises(Conflict):
        await backend.set_finalizers(stale, ["example.com/hold"])
    await delete_by_name(backend, ref())
    with pytest.raises(NotFound):
        await backend.set_finalizers(stale, [])


@pytest.mark.parametrize("kind", [pytest.param(OURS, id="ours"), pytest.param(SECRET, id="secret")])
async def test_equal_content_is_no_write(backend: Home, kind: GroupKind) -> None:
    created = await backend.create(manifest(kind, meta={"labels": {"a": "b", "c": "d"}}))
    same = await backend.update(manifest(kind, meta={"labels": {"c": "d", "a": "b"}, "annotations": None}))
    assert same == created


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(1, True, id="1 and true"),
        pytest.param(0, False, id="0 and false"),
        pytest.param("", None, id="null"),
    ],
)
async def test_values_that_python_holds_for_equal_are_not(backend: Home, old: object, new: object) -> None:
    await backend.create(manifest(THING, spec={"value": old}))
    stored = await backend.update(manifest(THING, spec={"value": new}))
    assert (await document_of(backend, stored.ref))["spec"]["value"] is new


async def test_an_update_leaves_our_status_alone(backend: Home) -> None:
    created = await backend.create(manifest())
    await backend.update_status(created, {"refreshTime": "then"})
    updated = await backend.update(manifest(spec={}, status={"refreshTime": "now"}))
    assert updated.document["status"] == {"refreshTime": "then"}


async def test_kinds_that_nobody_knows_are_written_as_a_whole(backend: Home) -> None:
    created = await backend.create(manifest(THING, status={"phase": "new"}, extra=[1, {"a": None}]))
    assert (await document_of(backend, created.ref))["status"] == {"phase": "new"}
    assert (await document_of(backend, created.ref))["extra"] == [1, {"a": None}]
    await backend.update(manifest(THING, status={"phase": "old"}))
    assert (await document_of(backend, created.ref))["status"] == {"phase": "old"}


async def test_a_report_replaces_the_status_only(backend: Home) -> None:
    created = await backend.create(manifest(meta={"labels": {"a": "b"}}))
    then = await backend.update_status(created, {"refreshTime": "then", "binding": {"name": "x"}})
    assert then is not None
    reported = await backend.update_status(then, {"refreshTime": "now"})
    assert reported is not None
    expected = created.document
    expected["status"] = {"refreshTime": "now"}
    expected["metadata"]["resourceVersion"] = reported.resource_version
    assert reported.document == expected
    assert int(reported.resource_version) > int(created.resource_version)


async def test_an_equal_report_is_no_write(backend: Home) -> None:
    created = await backend.create(manifest())
    first = await backend.update_status(created, {"a": 1})
    assert first is not None
    assert await backend.update_status(first, {"a": 1}) == first


async def test_a_report_about_another_life_is_dropped(backend: Home) -> None:
    former = await backend.create(manifest())
    await delete_by_name(backend, former.ref)
    assert await backend.update_status(former, {"a": 1}) is None
    await backend.create(manifest())
    assert await backend.update_status(former, {"a": 1}) is None
    assert "status" not in await document_of(backend, ref())


async def test_a_list_is_ordered_by_name_and_keeps_to_its_namespace(backend: Home) -> None:
    for namespace, name in [("b", "y"), ("a", "z"), ("b", "x"), ("a", "y")]:
        await backend.create(manifest(name=name, namespace=namespace))
    await backend.create(manifest(THING, namespace="a"))
    everywhere = await backend.list(OURS)
    assert [(s.ref.namespace, s.ref.name) for s in everywhere] == [
        ("a", "y"),
        ("a", "z"),
        ("b", "x"),
        ("b", "y"),
    ]
    assert [s.ref.name for s in await backend.list(OURS, namespace="b")] == ["x", "y"]
    assert await backend.list(OURS, namespace="nowhere") == []
    assert await backend.list(GroupKind("", "Nothing")) == []


def _expression(operator: str, *values: str) -> LabelSelector:
    return LabelSelector(match_expressions=(LabelRequirement(key="tier", operator=operator, values=values),))


@pytest.mark.parametrize(
    ("selector", "names"),
    [
        pytest.param(LabelSelector(), ["back", "front", "none"], id="empty"),
        pytest.param(LabelSelector(match_labels={"tier": "back"}), ["back"], id="label"),
        pytest.param(LabelSelector(match_labels={"tier": "back", "a": "b"}), [], id="all labels"),
        pytest.param(_expression("In", "back", "front"), ["back", "front"], id="In"),
        pytest.param(_expression("NotIn", "back"), ["front", "none"], id="NotIn"),
        pytest.param(_expression("Exists"), ["back", "front"], id="Exists"),
        pytest.param(_expression("DoesNotExist"), ["none"], id="DoesNotExist"),
    ],
)
async def test_a_list_takes_a_label_selector(
    backend: Home, selector: LabelSelector, names: list[str]
) -> None:
    await backend.create(manifest(name="none"))
    for tier in ("front", "back"):
        await backend.create(manifest(name=tier, meta={"labels": {"tier": tier}}))
    assert [stored.ref.name for stored in await backend.list(OURS, selector=selector)] == names


async def test_a_selector_that_is_none_is_refused(backend: Home) -> None:
    with pytest.raises(Malformed):
        await backend.list(OURS, selector=_expression("Like", "back"))


@pytest.mark.parametrize(
    ("broken", "path"),
    [
        pytest.param({"metadata": {}}, "metadata.name", id="no name"),
        pytest.param({"metadata": None}, "metadata.name", id="no metadata"),
        pytest.param({"metadata": {"name": "../../etc/passwd"}}, "metadata.name", id="a path"),
        pytest.param({"metadata": {"name": ".."}}, "metadata.name", id="the folder above"),
        pytest.param({"metadata": {"name": "a\0"}}, "metadata.name", id="NUL"),
        pytest.param({"metadata": {"name": "a", "namespace": "../b"}}, "metadata.namespace", id="namespace"),
        pytest.param({"metadata": {"name": "a", "labels": {"x": 1}}}, "metadata.labels[...]", id="label"),
        pytest.param({"metadata": {"name": 1}}, "metadata.name", id="name is a number"),
        pytest.param({"kind": ""}, "kind", id="no kind"),
        pytest.param({"apiVersion": None}, "apiVersion", id="no version"),
        pytest.param({"spec": {1: 2}}, "", id="not JSON"),
    ],
)
async def test_what_is_no_object_is_refused(backend: Home, broken: Document, path: str) -> None:
    with pytest.raises(Invalid) as refusal:
        await backend.create({**manifest(THING), **broken})
    assert [problem.path for problem in refusal.value.problems] == [path]


async def test_writers_of_many_tasks_never_share_a_version(backend: Home) -> None:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(backend.create(manifest(name=f"n{i}"))) for i in range(50)]
    assert len({task.result().resource_version for task in tasks}) == len(tasks)
