"""ExternalSecret: a process that ends after a write and before the status is known by what it wrote."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from syncret.config.meta import Document
from syncret.daemon.core.ownership import DATA_HASH
from syncret.daemon.engine.clock import Clock
from syncret.daemon.homes.contract import StoredObject
from tests.unit.daemon.engine.life import HOUR, Life, X, manifest, secret_ref, store, wanting
from tests.unit.daemon.engine.reconcilers.external_secrets import SYNCED
from tests.unit.daemon.engine.support import manifest as support_manifest

PASSWORD: Document = {
    "apiVersion": "generators.external-secrets.io/v1alpha1",
    "kind": "Password",
    "metadata": {"name": "g", "namespace": "default"},
    "spec": {"length": 24, "noUpper": False, "allowRepeat": True},
}
ONCE: Document = {"refreshPolicy": "CreatedOnce"}


def generating(**spec: object) -> Document:
    source = {"sourceRef": {"generatorRef": {"kind": "Password", "name": "g"}}}
    return manifest("ExternalSecret", "x", {"dataFrom": [source], **spec})


@asynccontextmanager
async def killed_before_the_status(life: Life, *objects: Document) -> AsyncGenerator[None]:
    """A process that writes targets and ends before it writes the status of an ExternalSecret."""
    update_status = life.target.update_status

    async def hang(seen: StoredObject, status: Document) -> StoredObject | None:
        if seen.ref == X:
            await asyncio.get_running_loop().create_future()
        return await update_status(seen, status)

    async with life.running(drain_timeout=0.001):
        life.target.update_status = hang  # type: ignore[method-assign,assignment]
        for each in objects:
            await life.cluster.apply(each)
        await asyncio.sleep(5)
        assert await life.get(secret_ref("x")) is not None
        yield
    life.target.update_status = update_status  # type: ignore[method-assign]
    assert await life.ready(X) == ("", "", "")


@pytest.mark.parametrize("spec", [ONCE, {"refreshInterval": "0s"}], ids=["CreatedOnce", "interval 0"])
async def test_a_password_that_is_made_once_stays(clock: Clock, spec: Document) -> None:
    life = Life(clock)
    async with killed_before_the_status(life, PASSWORD, generating(**spec)):
        first = await life.existing(secret_ref("x"))
    async with life.running():
        assert await life.ready(X) == SYNCED
        status = await life.status(X)
        assert status["binding"] == {"name": "x"}
        assert status["syncedResourceVersion"].startswith("1-")
        await life.wait(5 * HOUR)
        assert await life.existing(secret_ref("x")) == first
        assert life.runs("x") == 1


NOT_OWNER = ["Orphan", "CreateOrMerge", "Merge"]


def keeper() -> Document:
    """A Secret that is there already, into which others may merge."""
    return support_manifest("Secret", "x", group="", data={"kept": "MQ=="})


@pytest.mark.parametrize("policy", NOT_OWNER)
async def test_a_password_that_is_made_once_stays_where_it_has_no_owner(clock: Clock, policy: str) -> None:
    life = Life(clock)
    once = generating(**ONCE, target={"creationPolicy": policy})
    async with killed_before_the_status(life, keeper(), PASSWORD, once):
        first = await life.existing(secret_ref("x"))
        assert "password" in first["data"]
    async with life.running():
        assert await life.ready(X) == SYNCED
        await life.wait(5 * HOUR)
        assert await life.existing(secret_ref("x")) == first


@pytest.mark.parametrize("policy", NOT_OWNER)
@pytest.mark.parametrize("later", [0, 5], ids=["in the same second", "later"])
async def test_what_another_object_of_that_name_wrote_is_not_its_own(
    clock: Clock, policy: str, later: float
) -> None:
    life = Life(clock)
    once = generating(**ONCE, target={"creationPolicy": policy})
    async with life.running():
        await life.apply(keeper(), PASSWORD, once)
        first = await life.existing(secret_ref("x"))
        assert "password" in first["data"]
        await life.delete(X)
        await life.wait(later)
        await life.apply(once)
        assert (await life.existing(secret_ref("x")))["data"] != first["data"]


@pytest.mark.parametrize("policy", NOT_OWNER)
async def test_a_target_that_somebody_changed_since_is_not_taken_as_it_is(clock: Clock, policy: str) -> None:
    life = Life(clock)
    once = generating(**ONCE, target={"creationPolicy": policy})
    async with killed_before_the_status(life, keeper(), PASSWORD, once):
        first = await life.existing(secret_ref("x"))
    await life.cluster.patch(secret_ref("x"), {"data": {"kept": "Mg=="}})
    async with life.running():
        assert await life.ready(X) == SYNCED
        assert (await life.existing(secret_ref("x")))["data"]["password"] != first["data"]["password"]


async def test_what_is_synced_once_is_not_read_again(clock: Clock) -> None:
    life = Life(clock)
    async with killed_before_the_status(life, store(), wanting(**ONCE)):
        assert life.reads == 1
    async with life.running():
        assert await life.ready(X) == SYNCED
        assert life.reads == 1


@pytest.mark.parametrize(
    "spec", [{"refreshInterval": "1h"}, {"refreshPolicy": "OnChange"}], ids=["Periodic", "OnChange"]
)
async def test_what_is_synced_again_and_again_is_synced_anew(clock: Clock, spec: Document) -> None:
    life = Life(clock)
    async with killed_before_the_status(life, store(), wanting(**spec)):
        life.manager.values["k"] = "new"
    async with life.running():
        assert await life.data("x") == {"a": "new"}


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"data": {"a": "Zm9yZ2Vk"}}, id="its data"),
        pytest.param({"metadata": {"annotations": {DATA_HASH: "0"}}}, id="its hash"),
        pytest.param({"metadata": {"ownerReferences": None}}, id="its owner"),
    ],
)
async def test_a_target_that_was_changed_since_is_made_anew(clock: Clock, changes: Document) -> None:
    life = Life(clock)
    async with killed_before_the_status(life, store(), wanting(**ONCE)):
        pass
    await life.cluster.patch(secret_ref("x"), changes)
    async with life.running():
        assert await life.data("x") == {"a": "v"}
        assert life.reads == 2


async def test_a_target_of_a_former_object_of_that_name_is_not_taken_over(clock: Clock) -> None:
    life = Life(clock)
    async with life.running():
        await life.apply(store(), wanting(**ONCE, target={"creationPolicy": "Orphan"}))
        life.manager.values["k"] = "new"
        await life.delete(X)
        await life.apply(wanting(**ONCE, target={"creationPolicy": "Orphan"}))
        assert await life.data("x") == {"a": "new"}
