"""ExternalSecret: when it is read, on virtual time."""

import asyncio

import pytest

from syncret.config.meta import Document
from syncret.daemon.engine.clock import Clock
from tests.unit.daemon.engine.life import HOUR, Life, X, manifest, namespace, secret_ref, store, wanting
from tests.unit.daemon.engine.reconcilers.external_secrets import NO_DATA, SYNCED
from tests.unit.daemon.engine.support import START, ref

FINALIZER = "externalsecrets.external-secrets.io/externalsecret-cleanup"


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
        await life.apply(*(wanting(f"x{number}") for number in range(12)))
        await life.wait(HOUR)  # into the common slot
        begin = life.reads
        await life.wait(HOUR)
        assert life.reads == begin + 1
        assert all(life.runs(f"x{number}") == 3 for number in range(12))


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


async def test_a_generator_without_a_spec_is_told(life: Life) -> None:
    source = {"sourceRef": {"generatorRef": {"kind": "MFA", "name": "g"}}}
    generator = manifest("MFA", "g") | {"apiVersion": "generators.external-secrets.io/v1alpha1"}
    await life.apply(generator, manifest("ExternalSecret", "x", {"dataFrom": [source]}))
    assert await life.ready(X) == ("False", "SecretSyncedError", "could not get secret data from provider")
    assert any("has no spec" in message for *_, message in life.events)


async def test_a_generator_that_comes_later_is_noticed(life: Life) -> None:
    source = {"sourceRef": {"generatorRef": {"kind": "Fake", "name": "g"}}}
    await life.apply(manifest("ExternalSecret", "x", {"dataFrom": [source]}))
    assert await life.ready(X) == NO_DATA
    fake = manifest("Fake", "g", {"data": {"q": "1"}})
    await life.apply(fake | {"apiVersion": "generators.external-secrets.io/v1alpha1"})
    assert await life.data("x") == {"q": "1"}
