"""ExternalSecret: from the first sync to deletion, on virtual time."""

import asyncio

import pytest

from syncret.config.fields import Json
from syncret.config.meta import Document
from syncret.daemon.backends.contract import Conflict, TargetUnavailable
from syncret.daemon.engine.clock import Clock
from syncret.providers.errors import Denied, Malformed, Unavailable
from tests.engine.life import (
    HOUR,
    Life,
    X,
    fake_store,
    manifest,
    namespace,
    secret,
    secret_ref,
    store,
    wanting,
)
from tests.engine.support import START, ref

FINALIZER = "externalsecrets.external-secrets.io/externalsecret-cleanup"
CREATED_BY = "reconcile.external-secrets.io/created-by"
MANAGED = "reconcile.external-secrets.io/managed"
SYNCED = ("True", "SecretSynced", "secret synced")
NO_DATA = ("False", "SecretSyncedError", "could not get secret data from provider")


async def test_the_first_sync_writes_the_secret_and_tells_it(life: Life) -> None:
    await life.apply(store(), wanting(metadata={"labels": {"team": "blue"}}))
    written = await life.existing(secret_ref("x"))
    status = await life.status(X)
    assert await life.data("x") == {"a": "v"}
    assert written["type"] == "Opaque"
    assert written["metadata"]["labels"]["team"] == "blue"
    assert [owner["name"] for owner in written["metadata"]["ownerReferences"]] == ["x"]
    assert await life.ready(X) == SYNCED
    assert status["refreshTime"] == "2026-01-01T00:00:00Z"
    assert status["binding"] == {"name": "x"}
    assert status["syncedResourceVersion"].startswith("1-")
    assert await life.finalizers(X) == [FINALIZER]
    assert ("x", False, "Created", "Secret/default/x created") in life.events


async def test_its_own_writes_wake_nobody(life: Life) -> None:
    await life.apply(store())
    await life.apply(wanting())
    assert life.runs("x") == 1  # finalizer, Secret and status have come back as events
    await life.wait(HOUR)
    assert life.runs("x") == 2
    assert life.written() == ["create x"]


async def test_a_store_that_is_not_judged_yet_is_waited_for(life: Life) -> None:
    life.manager.delay = 5
    await life.apply(store(), wanting())
    assert await life.data("x") == {"a": "v"}
    assert life.reads == 1
    assert not [event for event in life.events if event[1]]


async def test_a_store_that_comes_later_wakes_those_who_want_it(life: Life) -> None:
    await life.apply(wanting())
    assert await life.ready(X) == NO_DATA
    warning = next(event for event in life.events if event[1])
    assert warning[2] == "UpdateFailed"
    assert 'could not get SecretStore "s"' in warning[3]
    await life.apply(store())
    assert await life.ready(X) == SYNCED


async def test_a_store_that_is_not_ready_is_not_read(life: Life) -> None:
    life.faults["probe"] = "out of order"
    await life.apply(store(), wanting())
    assert await life.ready(X) == NO_DATA
    assert life.reads == 0
    life.faults.clear()
    await life.wait(HOUR)
    assert await life.ready(X) == SYNCED


async def test_it_is_read_again_at_its_interval_and_not_before(life: Life) -> None:
    await life.apply(store(), wanting(refreshInterval="10m"))
    life.manager.values["k"] = "new"
    await life.wait(599)
    assert await life.data("x") == {"a": "v"}
    await life.wait(1)
    assert await life.data("x") == {"a": "new"}
    assert life.reads == 2


@pytest.mark.parametrize("jump", [pytest.param(-24 * HOUR, id="back"), pytest.param(24 * HOUR, id="ahead")])
async def test_when_the_clock_is_moved_no_value_grows_older_than_its_interval(jump: float) -> None:
    loop = asyncio.get_running_loop()
    moved = START
    clock = Clock(wall=lambda: moved + loop.time())
    async with Life(clock).running() as life:
        await life.apply(store(), wanting())
        life.manager.values["k"] = "new"
        moved += jump
        clock.anchor()
        await life.wait(HOUR)
        assert await life.data("x") == {"a": "new"}
        assert life.reads <= 3


async def test_a_change_of_the_spec_or_the_annotations_is_due_at_once(life: Life) -> None:
    await life.apply(store(), wanting())
    life.manager.values["k"] = "new"
    await life.patch(X, metadata={"annotations": {"external-secrets.io/force-sync": "1"}})
    assert await life.data("x") == {"a": "new"}
    await life.patch(X, spec={"data": [{"secretKey": "b", "remoteRef": {"key": "k"}}]})
    assert await life.data("x") == {"b": "new"}


async def test_objects_that_share_a_key_share_a_slot_and_a_read(clock: Clock) -> None:
    async with Life(clock).running(spread=True) as life:
        await life.apply(store())
        await life.apply(*(wanting(f"x{number}") for number in range(20)))
        await life.wait(HOUR)  # into the common slot
        begin = life.reads
        await life.wait(HOUR)
        assert life.reads == begin + 1
        assert all(life.runs(f"x{number}") == 3 for number in range(20))


async def test_a_cluster_store_has_one_slot_for_all_namespaces(clock: Clock) -> None:
    spaces = ("a", "b", "c", "d")
    async with Life(clock).running(spread=True) as life:
        await life.apply(store(namespace=""), *(namespace(each) for each in spaces))
        for each in spaces:  # one a minute
            wants = wanting(secretStoreRef={"name": "s", "kind": "ClusterSecretStore"})
            wants["metadata"]["namespace"] = each
            await life.apply(wants)
            await life.wait(60)
        dues = {life.controllers.engine.due(ref("x", namespace=each)) for each in spaces}
        assert len(dues) == 1


@pytest.mark.parametrize(
    ("policy", "reads"),
    [
        pytest.param({"refreshInterval": "0s"}, [1, 1, 1], id="interval 0 reads once, whatever changes"),
        pytest.param({"refreshPolicy": "CreatedOnce"}, [1, 1, 1], id="CreatedOnce reads once"),
        pytest.param({"refreshPolicy": "OnChange"}, [1, 1, 2], id="OnChange reads what changed"),
        pytest.param({"refreshInterval": "1h"}, [1, 2, 3], id="Periodic reads both"),
    ],
)
async def test_refresh_policies(life: Life, policy: Document, reads: list[int]) -> None:
    await life.apply(store(), wanting(**policy))
    found = [life.reads]
    await life.wait(HOUR)
    found.append(life.reads)
    await life.patch(X, metadata={"labels": {"changed": "yes"}})
    found.append(life.reads)
    assert found == reads


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param({"refreshPolicy": "CreatedOnce"}, id="CreatedOnce"),
        pytest.param({"refreshInterval": "0s"}, id="interval 0"),
    ],
)
async def test_a_generator_is_drawn_from_once(life: Life, spec: Document) -> None:
    password = {
        "apiVersion": "generators.external-secrets.io/v1alpha1",
        "kind": "Password",
        "metadata": {"name": "g", "namespace": "default"},
        "spec": {"length": 24, "noUpper": False, "allowRepeat": True},
    }
    source = {"sourceRef": {"generatorRef": {"kind": "Password", "name": "g"}}}
    await life.apply(password, manifest("ExternalSecret", "x", {"dataFrom": [source], **spec}))
    first = await life.data("x")
    assert first is not None
    assert len(first["password"]) == 24
    await life.wait(5 * HOUR)
    await life.patch(X, metadata={"labels": {"a": "b"}})
    assert await life.data("x") == first


async def test_a_generator_that_comes_later_is_noticed(life: Life) -> None:
    source = {"sourceRef": {"generatorRef": {"kind": "Fake", "name": "g"}}}
    await life.apply(manifest("ExternalSecret", "x", {"dataFrom": [source]}))
    assert await life.ready(X) == NO_DATA
    fake = manifest("Fake", "g", {"data": {"q": "1"}})
    await life.apply(fake | {"apiVersion": "generators.external-secrets.io/v1alpha1"})
    assert await life.data("x") == {"q": "1"}


# ------------------------------------------------------------------------------------------------------ drift
@pytest.mark.parametrize(
    "drift",
    [
        pytest.param({"stringData": {"a": "forged"}}, id="a value"),
        pytest.param({"stringData": {"more": "key"}}, id="a key more"),
        pytest.param({"metadata": {"labels": {MANAGED: None}}}, id="the mark"),
        pytest.param(
            {"metadata": {"annotations": {"reconcile.external-secrets.io/data-hash": "0"}}}, id="the hash"
        ),
    ],
)
async def test_drift_is_repaired_at_once(life: Life, drift: Document) -> None:
    await life.apply(store(), wanting())
    before = await life.existing(secret_ref("x"))
    await life.patch(secret_ref("x"), **drift)
    after = await life.existing(secret_ref("x"))
    assert await life.data("x") == {"a": "v"}
    for field in ("labels", "annotations"):
        assert after["metadata"][field] == before["metadata"][field]


async def test_a_deleted_secret_is_made_again_at_once(life: Life) -> None:
    await life.apply(store(), wanting())
    await life.delete(secret_ref("x"))
    assert await life.data("x") == {"a": "v"}


async def test_an_orphan_is_left_as_somebody_changed_it(life: Life) -> None:
    await life.apply(store(), wanting(target={"creationPolicy": "Orphan"}))
    await life.patch(secret_ref("x"), stringData={"a": "mine"})
    assert await life.data("x") == {"a": "mine"}
    assert life.reads == 1


# ---------------------------------------------------------------------------------------------------- failure
async def test_a_failed_refresh_keeps_the_last_good_secret_and_its_time(life: Life) -> None:
    await life.apply(store(), wanting(refreshInterval="10m"))
    synced = await life.status(X)
    life.manager.key_errors["k"] = Denied("not this key")
    await life.wait(600)
    status = await life.status(X)
    assert await life.data("x") == {"a": "v"}
    assert await life.ready(X) == NO_DATA
    for field in ("refreshTime", "syncedResourceVersion", "binding"):
        assert status[field] == synced[field]
    life.manager.key_errors.clear()
    await life.wait(600)
    assert await life.ready(X) == SYNCED


async def test_the_flip_of_the_condition_is_dated_once(life: Life) -> None:
    await life.apply(store(), wanting(refreshInterval="10m"))
    life.manager.key_errors["k"] = Unavailable("away")
    await life.wait(600)
    since = (await life.status(X))["conditions"][0]["lastTransitionTime"]
    assert since == "2026-01-01T00:10:00Z"
    await life.wait(1200)
    assert (await life.status(X))["conditions"][0]["lastTransitionTime"] == since


async def test_a_retry_never_waits_longer_than_the_interval(life: Life) -> None:
    await life.apply(store(), wanting(refreshInterval="20s"))
    life.manager.key_errors["k"] = Malformed("never mind")
    await life.wait(HOUR)
    runs = life.runs("x")
    await life.wait(200)
    assert life.runs("x") - runs == 10


async def test_a_conflict_is_tried_again_at_once(life: Life) -> None:
    life.target.troubles["Secret"] = [Conflict("modified")]
    await life.apply(store(), wanting())
    assert await life.ready(X) == SYNCED
    assert not [event for event in life.events if event[1]]


async def test_a_home_that_cannot_be_written_is_told_and_tried_again(life: Life) -> None:
    life.target.troubles["Secret"] = [TargetUnavailable("the disk is full", hint="make room")]
    await life.apply(store(), wanting())
    assert await life.ready(X) == ("False", "SecretSyncedError", "could not update secret")
    failure = life.controllers.world.facts.failure(X)
    assert failure is not None
    assert (failure.message, failure.hint) == ("the disk is full", "make room")
    await life.wait(HOUR)
    assert await life.ready(X) == SYNCED
    assert life.controllers.world.facts.failure(X) is None


async def test_absence_is_no_failure_of_the_call_and_not_a_deletion(life: Life) -> None:
    await life.apply(store(), wanting(refreshInterval="10m", target={"deletionPolicy": "Delete"}))
    life.manager.key_errors["k"] = Unavailable("away")
    await life.wait(600)
    assert await life.data("x") == {"a": "v"}
    del life.manager.key_errors["k"], life.manager.values["k"]
    await life.wait(600)
    assert await life.data("x") is None
    assert await life.ready(X) == ("True", "SecretDeleted", "secret deleted due to DeletionPolicy=Delete")
    assert ("x", False, "MissingProviderSecret") in [event[:3] for event in life.events]
    life.manager.values["k"] = "back"
    await life.wait(600)
    assert await life.data("x") == {"a": "back"}


# ------------------------------------------------------------------------------------ policies, names, owners
async def test_after_a_change_of_the_name_the_former_secret_goes(life: Life) -> None:
    await life.apply(store(), wanting())
    await life.patch(X, spec={"target": {"name": "y"}})
    assert await life.data("x") is None
    assert await life.data("y") == {"a": "v"}
    assert (await life.status(X))["binding"] == {"name": "y"}


async def test_a_former_secret_that_is_not_ours_any_more_stays(life: Life) -> None:
    await life.apply(store(), wanting())
    await life.patch(secret_ref("x"), metadata={"labels": {CREATED_BY: "somebody"}})
    await life.patch(X, spec={"target": {"name": "y"}})
    # the label is repaired with the next refresh only, so at the change of the name it is somebody's
    assert await life.data("x") == {"a": "v"}
    assert await life.data("y") == {"a": "v"}


async def test_a_former_secret_that_cannot_be_deleted_is_told_in_its_own_words(life: Life) -> None:
    await life.apply(store(), wanting())
    life.target.troubles["Secret"] = [TargetUnavailable("read-only")]
    await life.patch(X, spec={"target": {"name": "y"}})
    assert await life.ready(X) == ("False", "SecretSyncedError", "could not delete orphaned secrets")


@pytest.mark.parametrize(
    ("target", "before", "after", "reason"),
    [
        pytest.param({"creationPolicy": "Owner"}, None, {"a": "v"}, "SecretSynced", id="Owner creates"),
        pytest.param(
            {"creationPolicy": "Owner"}, {"b": "1"}, {"a": "v"}, "SecretSynced", id="Owner takes over"
        ),
        pytest.param(
            {"creationPolicy": "Orphan"}, {"b": "1"}, {"a": "v"}, "SecretSynced", id="Orphan replaces"
        ),
        pytest.param({"creationPolicy": "Merge"}, None, None, "SecretMissing", id="Merge waits"),
        pytest.param(
            {"creationPolicy": "Merge"}, {"b": "1"}, {"a": "v", "b": "1"}, "SecretSynced", id="Merge adds"
        ),
        pytest.param(
            {"creationPolicy": "CreateOrMerge"}, None, {"a": "v"}, "SecretSynced", id="CreateOrMerge makes"
        ),
        pytest.param(
            {"creationPolicy": "CreateOrMerge"},
            {"b": "1"},
            {"a": "v", "b": "1"},
            "SecretSynced",
            id="CreateOrMerge adds",
        ),
        pytest.param({"creationPolicy": "None"}, None, None, "SecretSynced", id="None reads only"),
        pytest.param(
            {"creationPolicy": "None"}, {"b": "1"}, {"b": "1"}, "SecretSynced", id="None leaves alone"
        ),
    ],
)
async def test_creation_policies(
    life: Life, target: Document, before: Json, after: Json, reason: str
) -> None:
    if before is not None:
        await life.apply(secret("x", before))
    await life.apply(store(), wanting(target=target))
    assert await life.data("x") == after
    assert (await life.ready(X))[:2] == ("True", reason)


async def test_a_merged_secret_that_appears_is_noticed(life: Life) -> None:
    await life.apply(store(), wanting(target={"creationPolicy": "Merge"}))
    await life.apply(secret("x", {"b": "1"}))
    assert await life.data("x") == {"a": "v", "b": "1"}


async def test_merging_takes_back_only_its_own_keys(life: Life) -> None:
    await life.apply(secret("x", {"b": "1"}), store(), wanting(target={"creationPolicy": "Merge"}))
    await life.patch(X, spec={"data": [{"secretKey": "c", "remoteRef": {"key": "k"}}]})
    assert await life.data("x") == {"b": "1", "c": "v"}


@pytest.mark.parametrize(
    ("target", "left"),
    [
        pytest.param({"creationPolicy": "Owner", "deletionPolicy": "Delete"}, None, id="Owner, Delete"),
        pytest.param(
            {"creationPolicy": "Owner", "deletionPolicy": "Retain"}, None, id="Owner: it goes with its owner"
        ),
        pytest.param({"creationPolicy": "Orphan"}, {"a": "v"}, id="Orphan stays"),
        pytest.param({"creationPolicy": "CreateOrMerge"}, {"a": "v"}, id="CreateOrMerge stays"),
    ],
)
async def test_what_is_left_once_it_is_deleted(life: Life, target: Document, left: Json) -> None:
    await life.apply(store(), wanting(target=target))
    await life.delete(X)
    assert await life.get(X) is None
    assert await life.data("x") == left


async def test_a_secret_of_another_external_secret_is_refused_and_its_keys_stay(life: Life) -> None:
    await life.apply(store(), wanting())
    life.manager.values["other"] = "w"
    await life.apply(wanting("z", key="other", target={"name": "x"}))
    assert await life.ready(ref("z")) == (
        "False",
        "SecretSyncedError",
        "target is owned by another ExternalSecret",
    )
    assert (await life.status(ref("z")))["binding"] == {"name": "x"}
    assert await life.data("x") == {"a": "v"}
    await life.delete(ref("z"))
    assert await life.data("x") == {"a": "v"}


async def test_a_secret_with_a_foreign_controller_is_refused(life: Life) -> None:
    owner = {"apiVersion": "example.com/v1", "kind": "Thing", "name": "t", "uid": "u", "controller": True}
    await life.apply(manifest("Thing", "t") | {"apiVersion": "example.com/v1"})
    thing = await life.existing(ref("t", kind="Thing")._replace(group="example.com"))
    owner["uid"] = thing["metadata"]["uid"]
    await life.apply(secret("x", {"b": "1"}, ownerReferences=[owner]), store(), wanting())
    assert (await life.ready(X))[2] == "failed to take ownership of target secret"
    assert await life.data("x") == {"b": "1"}


async def test_an_immutable_secret_is_never_rewritten(life: Life) -> None:
    await life.apply(store(), wanting(refreshInterval="10m", target={"immutable": True}))
    life.manager.values["k"] = "new"
    await life.wait(600)
    assert await life.data("x") == {"a": "v"}
    assert (await life.existing(secret_ref("x")))["immutable"] is True
    assert await life.ready(X) == SYNCED


async def test_a_secret_that_somebody_made_immutable_is_told(life: Life) -> None:
    await life.apply(store(), wanting(refreshInterval="10m"))
    await life.patch(secret_ref("x"), immutable=True)
    life.manager.values["k"] = "new"
    await life.wait(600)
    assert (await life.ready(X))[2] == "could not update secret, target is immutable"
    assert await life.data("x") == {"a": "v"}


# ----------------------------------------------------------------------------------------- whose it is at all
@pytest.mark.parametrize(
    "objects",
    [
        pytest.param([store(controller="other"), wanting()], id="its store"),
        pytest.param(
            [
                store(),
                store("t", controller="other"),
                wanting(
                    data=[
                        {"secretKey": "a", "remoteRef": {"key": "k"}},
                        {
                            "secretKey": "b",
                            "remoteRef": {"key": "k"},
                            "sourceRef": {"storeRef": {"name": "t"}},
                        },
                    ]
                ),
            ],
            id="the store of one entry",
        ),
        pytest.param(
            [
                {
                    "apiVersion": "generators.external-secrets.io/v1alpha1",
                    "kind": "Fake",
                    "metadata": {"name": "g", "namespace": "default"},
                    "spec": {"controller": "other", "data": {"a": "b"}},
                },
                manifest(
                    "ExternalSecret",
                    "x",
                    {"dataFrom": [{"sourceRef": {"generatorRef": {"kind": "Fake", "name": "g"}}}]},
                ),
            ],
            id="its generator",
        ),
    ],
)
async def test_what_is_another_controllers_is_left_alone(life: Life, objects: list[Document]) -> None:
    await life.apply(*objects)
    assert await life.status(X) == {}
    assert await life.data("x") is None
    assert life.reads == 0


async def test_a_cluster_store_asks_for_labels_of_the_namespace(life: Life) -> None:
    condition = {"namespaceSelector": {"matchLabels": {"secrets": "yes"}}}
    await life.apply(
        store(namespace="", conditions=[condition]),
        wanting(secretStoreRef={"kind": "ClusterSecretStore", "name": "s"}),
    )
    assert await life.ready(X) == NO_DATA
    namespace = ref("default", kind="Namespace", namespace="")._replace(group="")
    await life.patch(namespace, metadata={"labels": {"secrets": "yes"}})
    assert await life.ready(X) == SYNCED


# ---------------------------------------------------------------------------------------------- other targets
async def test_other_kinds_are_refused_unless_they_are_allowed(life: Life) -> None:
    await life.apply(store(), wanting(target={"manifest": {"apiVersion": "v1", "kind": "ConfigMap"}}))
    assert await life.ready(X) == ("False", "SecretSyncedError", "invalid generic target")
    assert life.reads == 0


async def test_a_config_map_is_written_repaired_and_deleted(clock: Clock) -> None:
    async with Life(clock).running(allow_generic_targets=True) as life:
        target = {"deletionPolicy": "Delete", "manifest": {"apiVersion": "v1", "kind": "ConfigMap"}}
        await life.apply(store(), wanting(target=target))
        written = secret_ref("x")._replace(kind="ConfigMap")
        assert (await life.existing(written))["data"] == {"a": "v"}
        assert await life.ready(X) == ("True", "ResourceSynced", "secret synced")
        await life.patch(written, data={"a": "forged"})
        assert (await life.existing(written))["data"] == {"a": "v"}
        await life.delete(X)
        assert await life.get(written) is None


async def test_a_binary_value_does_not_fit_a_config_map(clock: Clock) -> None:
    async with Life(clock).running(allow_generic_targets=True) as life:
        data = [{"secretKey": "a", "remoteRef": {"key": "k", "decodingStrategy": "Base64"}}]
        target = {"manifest": {"apiVersion": "v1", "kind": "ConfigMap"}}
        await life.apply(fake_store("s", {"k": "/w=="}), wanting(target=target, data=data))
        assert (await life.ready(X))[:2] == ("False", "ResourceSyncedError")


# ------------------------------------------------------------------------------------------------- next lives
async def test_a_restart_reads_nothing_that_is_not_due(clock: Clock) -> None:
    life = Life(clock)
    async with life.running():
        await life.apply(store(), wanting())
    async with life.running():
        assert life.reads == 1
        assert life.calls("probe") == 1
        await life.wait(HOUR)
        assert life.reads == 2


async def test_an_operators_wish_is_granted_at_once_and_outlives_failures(life: Life) -> None:
    await life.apply(store(), wanting())
    life.manager.key_errors["k"] = Unavailable("away")
    life.controllers.world.facts.wish(X)
    life.controllers.engine.refresh(X)
    await life.settle()
    assert life.reads == 2
    assert await life.ready(X) == NO_DATA
    life.manager.key_errors.clear()
    await life.wait(60)
    assert await life.ready(X) == SYNCED
    assert not life.controllers.world.facts.wished(X)


async def test_what_is_gone_is_forgotten(life: Life) -> None:
    await life.apply(store(), wanting())
    assert life.controllers.world.facts.origins(X) == {"a": "spec.data[0]"}
    await life.delete(X)
    assert not life.controllers.world.facts.origins(X)
    assert X in life.seen.left


async def test_no_event_and_no_failure_quotes_a_value(life: Life) -> None:
    extract = {"secretStoreRef": {"name": "s"}, "dataFrom": [{"extract": {"key": "k"}}]}
    await life.apply(fake_store("s", {"k": "planted-value"}), manifest("ExternalSecret", "x", extract))
    failure = life.controllers.world.facts.failure(X)
    assert failure is not None
    assert await life.ready(X) == NO_DATA
    assert "planted" not in repr(life.events) + repr(failure) + repr(await life.get(X))
