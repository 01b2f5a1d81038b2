"""ExternalSecret: names, creation and deletion policies, and whose a Secret is."""

import pytest

from syncret.config.fields import Json
from syncret.config.meta import Document
from syncret.daemon.homes.contract import Forbidden, StorageUnavailable
from tests.unit.daemon.engine.life import HOUR, Life, X, manifest, secret, secret_ref, store, wanting
from tests.unit.daemon.engine.reconcilers.external_secrets import SYNCED
from tests.unit.daemon.engine.support import ref

CREATED_BY = "reconcile.external-secrets.io/created-by"


async def test_after_a_change_of_the_name_the_former_secret_goes(life: Life) -> None:
    await life.apply(store(), wanting())
    await life.patch(X, spec={"target": {"name": "y"}})
    assert await life.data("x") is None
    assert await life.data("y") == {"a": "v"}
    assert (await life.status(X))["binding"] == {"name": "y"}
    for former, name in (("y", "z"), ("z", "x")):
        await life.patch(X, spec={"target": {"name": name}})
        assert await life.data(former) is None
        assert await life.data(name) == {"a": "v"}


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param({"target": {"creationPolicy": "None"}}, id="none is written"),
        pytest.param({"key": "gone"}, id="nothing to write"),
    ],
)
async def test_an_empty_name_tells_that_there_is_no_secret_to_bind_to(life: Life, spec: Document) -> None:
    await life.apply(store(), wanting(**spec))
    assert (await life.status(X))["binding"] == {"name": ""}


async def test_what_cannot_be_made_as_its_namespace_goes_is_no_failure(life: Life) -> None:
    life.target.troubles["Secret"] = [Forbidden("its namespace is being terminated")]
    await life.apply(store(), wanting())
    assert "conditions" not in await life.status(X)
    assert not life.controllers.engine.failing
    await life.wait(2 * HOUR)
    assert await life.data("x") is None, "it is not tried again"


async def test_a_former_secret_that_is_not_ours_any_more_stays(life: Life) -> None:
    await life.apply(store(), wanting())
    await life.patch(secret_ref("x"), metadata={"labels": {CREATED_BY: "somebody"}})
    await life.patch(X, spec={"target": {"name": "y"}})
    # the label is repaired with the next refresh only, so at the change of the name it is somebody's
    assert await life.data("x") == {"a": "v"}
    assert await life.data("y") == {"a": "v"}


async def test_a_former_secret_that_cannot_be_deleted_is_told_in_its_own_words(life: Life) -> None:
    await life.apply(store(), wanting())
    life.target.troubles["Secret"] = [StorageUnavailable("read-only")]
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
