"""PushSecret: to which stores it pushes."""

import pytest

from syncret.config.meta import Document
from tests.unit.daemon.engine.life import PUSH, Life, store
from tests.unit.daemon.engine.reconcilers.push_secrets import SOURCE, SYNCED, account, entry, pushing


async def test_a_missing_store_is_told_and_noticed(life: Life) -> None:
    await life.apply(SOURCE, pushing(entry("r")))
    message = 'could not get SecretStore "s", SecretStore.external-secrets.io "s" not found'
    assert (await life.ready(PUSH))[2] == message
    await life.apply(store())
    assert await life.ready(PUSH) == SYNCED


async def test_stores_of_another_class_are_passed_over(life: Life) -> None:
    refs = [{"name": "s"}, {"name": "t"}]
    await life.apply(SOURCE, store(), store("t", controller="other"))
    await life.apply(pushing(entry("r"), secretStoreRefs=refs))
    assert await account(life) == {"SecretStore/s": ["r"]}


async def test_a_store_that_fails_keeps_no_other_from_its_values(life: Life) -> None:
    bad = {"storeRef": {"name": "s"}, "match": {"regexp": "("}}
    good = {"storeRef": {"name": "t"}, "match": {"regexp": "a"}}
    await life.apply(SOURCE, store(), store("t"))
    await life.apply(pushing(secretStoreRefs=[{"name": "s"}, {"name": "t"}], dataTo=[bad, good]))
    status, reason, message = await life.ready(PUSH)
    assert (status, reason) == ("False", "Errored")
    assert "failed to compile regexp pattern" in message
    assert await account(life) == {"SecretStore/s": [], "SecretStore/t": ["a"]}


async def test_with_no_store_of_its_own_it_is_left_alone(life: Life) -> None:
    await life.apply(SOURCE, store(controller="other"), pushing(entry("r")))
    assert await life.status(PUSH) == {}


async def test_stores_are_selected_by_labels_and_new_ones_noticed(life: Life) -> None:
    refs = [{"kind": "SecretStore", "labelSelector": {"matchLabels": {"push": "yes"}}}]
    await life.apply(SOURCE)
    await life.apply(pushing(entry("r"), secretStoreRefs=refs))
    assert await life.status(PUSH) == {}
    labelled = store()
    labelled["metadata"]["labels"] = {"push": "yes"}
    await life.apply(labelled)
    assert await account(life) == {"SecretStore/s": ["r"]}


async def test_a_cluster_store_that_does_not_allow_the_namespace_is_told(life: Life) -> None:
    refs = [{"kind": "ClusterSecretStore", "name": "s"}]
    await life.apply(SOURCE, store(namespace="", conditions=[{"namespaces": ["other"]}]))
    await life.apply(pushing(entry("r"), secretStoreRefs=refs))
    assert (await life.ready(PUSH))[2] == (
        "set secret failed: could not get secrets client for store s: "
        'using cluster store "s" is not allowed from namespace "default": denied by spec.condition'
    )


@pytest.mark.parametrize(
    ("ref", "message"),
    [
        pytest.param({"name": "t"}, 'dataTo[0]: storeRef "t" not found in secretStoreRefs', id="not listed"),
        pytest.param(
            {"labelSelector": {"matchLabels": {"no": "one"}}},
            "dataTo[0]: labelSelector does not match any store in secretStoreRefs",
            id="selects none",
        ),
    ],
)
async def test_a_data_to_that_means_no_store_is_told(life: Life, ref: Document, message: str) -> None:
    await life.apply(SOURCE, store(), pushing(dataTo=[{"storeRef": ref}]))
    assert await life.ready(PUSH) == ("False", "Errored", message)


async def test_data_to_pushes_every_key(life: Life) -> None:
    await life.apply(SOURCE, store(), pushing(dataTo=[{"storeRef": {"name": "s"}}]))
    assert await account(life) == {"SecretStore/s": ["a", "b"]}
    assert life.manager.values["b"] == "2"
