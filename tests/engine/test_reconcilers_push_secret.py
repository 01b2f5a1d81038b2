"""PushSecret: what stands at the stores, and the account of it, on virtual time."""

import pytest

from syncret.config.fields import Json
from syncret.config.meta import Document
from syncret.daemon.engine.clock import Clock
from syncret.providers.errors import Throttled, Unavailable
from tests.engine.life import (
    HOUR,
    PUSH,
    STORE,
    Life,
    fake_store,
    manifest,
    secret,
    secret_ref,
    store,
    wanting,
)
from tests.engine.support import ref

FINALIZER = "pushsecret.externalsecrets.io/finalizer"
SYNCED = ("True", "Synced", "PushSecret synced successfully")
NO_SOURCE = ("False", "Errored", "could not get source secret")


def entry(remote: str, key: str = "a", **rest: Json) -> Document:
    return {"match": {"secretKey": key, "remoteRef": {"remoteKey": remote}}, **rest}


def pushing(*entries: Document, **spec: Json) -> Document:
    """A PushSecret that pushes keys of Secret `q` to store `s`."""
    return manifest(
        "PushSecret",
        "p",
        {
            "secretStoreRefs": [{"name": "s"}],
            "selector": {"secret": {"name": "q"}},
            **({"data": list(entries)} if entries else {}),
            **spec,
        },
    )


SOURCE = secret("q", {"a": "1", "b": "2"})


async def account(life: Life) -> dict[str, list[str]]:
    """Store and remote keys, as the status tells them."""
    synced: dict[str, Document] = (await life.status(PUSH)).get("syncedPushSecrets", {})
    return {name: sorted(entries) for name, entries in synced.items()}


async def test_the_first_push_is_told(life: Life) -> None:
    await life.apply(SOURCE, store(), pushing(entry("r")))
    status = await life.status(PUSH)
    assert life.manager.values["r"] == "1"
    assert await life.ready(PUSH) == SYNCED
    assert await account(life) == {"SecretStore/s": ["r"]}
    assert status["refreshTime"] == "2026-01-01T00:00:00Z"
    assert await life.finalizers(PUSH) == []  # it deletes nothing, so nothing has to wait for it


async def test_its_own_writes_wake_nobody(life: Life) -> None:
    await life.apply(SOURCE, store())
    await life.apply(pushing(entry("r")))
    assert life.runs("p", "PushSecret") == 1
    await life.wait(HOUR)
    assert life.runs("p", "PushSecret") == 2


async def test_it_pushes_again_at_its_interval(life: Life) -> None:
    await life.apply(SOURCE, store(), pushing(entry("r"), refreshInterval="10m"))
    await life.wait(599)
    assert life.calls("push") == 1
    await life.wait(1)
    assert life.calls("push") == 2


@pytest.mark.parametrize("interval", ["0s", "0"])
async def test_without_an_interval_it_pushes_once_a_change(life: Life, interval: str) -> None:
    await life.apply(SOURCE, store(), pushing(entry("r"), refreshInterval=interval))
    await life.wait(5 * HOUR)
    assert life.calls("push") == 1
    await life.patch(PUSH, metadata={"labels": {"a": "b"}})
    assert life.calls("push") == 2


@pytest.mark.parametrize("bad", ["soon", "1d", "1 h"])
async def test_a_malformed_interval_is_told(life: Life, bad: str) -> None:
    await life.apply(SOURCE, store(), pushing(entry("r"), refreshInterval=bad))
    status, reason, message = await life.ready(PUSH)
    assert (status, reason) == ("False", "Errored")
    assert message.startswith("spec.refreshInterval: time: ")
    assert life.calls("push") == 0
    await life.patch(PUSH, spec={"refreshInterval": "1h"})
    assert await life.ready(PUSH) == SYNCED


async def test_a_malformed_interval_does_not_keep_it_from_cleaning_up(life: Life) -> None:
    await life.apply(SOURCE, store(), pushing(entry("r"), deletionPolicy="Delete"))
    await life.patch(PUSH, spec={"refreshInterval": "soon"})
    await life.delete(PUSH)
    assert await life.get(PUSH) is None
    assert "r" not in life.manager.values


async def test_without_a_spec_it_is_told(life: Life) -> None:
    await life.apply(manifest("PushSecret", "p"))
    assert await life.ready(PUSH) == NO_SOURCE
    failure = life.controllers.world.facts.failure(PUSH)
    assert failure is not None
    assert failure.message == "no secret selector provided"


# ---------------------------------------------------------------------------------------------------- sources
async def test_a_source_that_comes_later_is_noticed(life: Life) -> None:
    await life.apply(store(), pushing(entry("r")))
    assert await life.ready(PUSH) == NO_SOURCE
    await life.apply(SOURCE)
    assert await life.ready(PUSH) == SYNCED


async def test_a_source_that_is_about_to_be_made_is_waited_for_silently(life: Life) -> None:
    life.manager.delay = 5
    source = wanting("e", target={"name": "q"})
    await life.apply(store(), pushing(entry("r")), source)
    assert await life.ready(PUSH) == SYNCED
    assert life.manager.values["r"] == "v"
    assert not [event for event in life.events if event[1]]


@pytest.mark.parametrize(
    "maker",
    [
        pytest.param([wanting("e", key="none", target={"name": "q"})], id="its maker fails"),
        pytest.param(
            [
                store("t", controller="other"),
                wanting("e", secretStoreRef={"name": "t"}, target={"name": "q"}),
            ],
            id="its maker is another controller's",
        ),
        pytest.param(
            [wanting("e", target={"name": "q", "creationPolicy": "None"})], id="its maker makes none"
        ),
    ],
)
async def test_a_source_that_is_not_made_after_all_is_told(life: Life, maker: list[Document]) -> None:
    life.manager.delay = 5
    await life.apply(pushing(entry("r")), store(), *maker)
    assert await life.ready(PUSH) == NO_SOURCE
    assert life.controllers.engine.first_pass.is_set()


async def test_the_first_pass_ends_though_a_source_is_not_made(clock: Clock) -> None:
    life = Life(clock)
    for document in (pushing(entry("r")), wanting("e", target={"name": "q"})):
        await life.cluster.apply(document)
    async with life.running():
        assert await life.ready(PUSH) == NO_SOURCE
        assert life.controllers.engine.first_pass.is_set()


async def test_a_selector_pushes_every_secret_that_matches(life: Life) -> None:
    labels = {"push": "yes"}
    await life.apply(secret("q1", {"a": "1"}, labels=labels), secret("q2", {"b": "no a"}), store())
    selector = {"secret": {"selector": {"matchLabels": labels}}}
    await life.apply(pushing(entry("r"), selector=selector, refreshInterval="10m"))
    assert await life.ready(PUSH) == SYNCED
    assert life.manager.values["r"] == "1"


async def test_a_change_of_the_source_is_pushed_at_the_interval(life: Life) -> None:
    await life.apply(SOURCE, store(), pushing(entry("r"), refreshInterval="10m"))
    await life.apply(secret("q", {"a": "3"}))
    assert life.calls("push") == 1
    await life.wait(600)
    assert life.calls("push") == 2


async def test_a_generator_is_a_source(life: Life) -> None:
    fake = manifest("Fake", "g", {"data": {"a": "drawn"}})
    await life.apply(
        fake | {"apiVersion": "generators.external-secrets.io/v1alpha1"},
        store(),
        pushing(entry("r"), selector={"generatorRef": {"kind": "Fake", "name": "g"}}),
    )
    assert life.manager.values["r"] == "drawn"


async def test_a_missing_generator_is_told(life: Life) -> None:
    await life.apply(store(), pushing(entry("r"), selector={"generatorRef": {"kind": "Fake", "name": "g"}}))
    assert await life.ready(PUSH) == NO_SOURCE


@pytest.mark.parametrize(
    ("policy", "left"),
    [
        pytest.param("Delete", False, id="Delete takes back what was pushed"),
        pytest.param("None", True, id="None leaves it"),
    ],
)
async def test_the_source_goes(life: Life, policy: str, left: bool) -> None:  # noqa: FBT001  # a column of a table
    await life.apply(SOURCE, store(), pushing(entry("r"), deletionPolicy=policy))
    await life.delete(secret_ref("q"))
    await life.wait(HOUR)
    assert ("r" in life.manager.values) is left
    if left:
        assert await life.ready(PUSH) == NO_SOURCE
        return
    gone = ("False", "SourceDeleted", "source secret deleted; provider secrets cleaned up")
    assert await life.ready(PUSH) == gone
    assert await account(life) == {}
    await life.apply(SOURCE)
    assert await life.ready(PUSH) == SYNCED
    assert life.manager.values["r"] == "1"


async def test_a_source_that_goes_while_its_store_is_away_is_not_forgotten(life: Life) -> None:
    await life.apply(SOURCE, store(), pushing(entry("r"), deletionPolicy="Delete", refreshInterval="10m"))
    life.faults["delete"] = "away"
    await life.delete(secret_ref("q"))
    await life.wait(600)
    assert (await life.ready(PUSH))[2] == "failed to cleanup provider secrets: away"
    assert await account(life) == {"SecretStore/s": ["r"]}
    life.faults.clear()
    await life.wait(600)
    assert "r" not in life.manager.values


# --------------------------------------------------------------------------------------------- what is pushed
async def test_an_entry_that_is_not_wanted_any_more_is_deleted(life: Life) -> None:
    await life.apply(SOURCE, store(), pushing(entry("r"), entry("t", "b"), deletionPolicy="Delete"))
    assert await account(life) == {"SecretStore/s": ["r", "t"]}
    await life.patch(PUSH, spec={"data": [entry("r")]})
    assert await account(life) == {"SecretStore/s": ["r"]}
    assert "t" not in life.manager.values


async def test_a_store_that_is_not_wanted_any_more_is_cleaned(life: Life) -> None:
    await life.apply(SOURCE, store(), fake_store("f"), pushing(entry("r"), deletionPolicy="Delete"))
    await life.patch(PUSH, spec={"secretStoreRefs": [{"name": "f"}]})
    assert await account(life) == {"SecretStore/f": ["r"]}
    assert "r" not in life.manager.values


async def test_if_not_exists_writes_what_is_not_there(life: Life) -> None:
    life.manager.values["r"] = "kept"
    await life.apply(SOURCE, store(), pushing(entry("r"), entry("t"), updatePolicy="IfNotExists"))
    assert life.manager.values["r"] == "kept"
    assert life.manager.values["t"] == "1"
    assert (await life.ready(PUSH))[2] == (
        "PushSecret synced successfully. Existing secrets in providers unchanged."
    )


async def test_a_look_that_fails_writes_nothing(life: Life) -> None:
    life.faults["exists"] = "away"
    await life.apply(SOURCE, store(), pushing(entry("r"), updatePolicy="IfNotExists"))
    message = "set secret failed: could not verify if secret exists in store: away"
    assert await life.ready(PUSH) == ("False", "Errored", message)
    assert "r" not in life.manager.values


async def test_a_push_that_fails_half_way_keeps_the_account(life: Life) -> None:
    await life.apply(SOURCE, store(), pushing(entry("r"), refreshInterval="10m"))
    await life.patch(PUSH, spec={"data": [entry("r"), entry("t", "missing")]})
    status, reason, message = await life.ready(PUSH)
    assert (status, reason) == ("False", "Errored")
    assert message == "set secret failed: secret key missing does not exist"
    assert await account(life) == {"SecretStore/s": ["r"]}
    assert (await life.status(PUSH))["refreshTime"] == "2026-01-01T00:00:00Z"


async def test_a_collision_is_found_before_anything_is_pushed(life: Life) -> None:
    await life.apply(SOURCE, store(), pushing(entry("r"), entry("r", "b")))
    message = (
        'set secret failed: failed to merge data entries: duplicate remote key "r": '
        'source keys "a" and "b" all map to the same destination'
    )
    assert (await life.ready(PUSH))[2] == message
    assert life.calls("push") == 0


@pytest.mark.parametrize(
    ("error", "wait"),
    [
        pytest.param(Unavailable("away"), 60, id="unavailable"),
        pytest.param(Throttled("slowly", retry_after=1000), 1000, id="throttled: not before it may"),
    ],
)
async def test_a_failed_push_is_tried_again(life: Life, error: Exception, wait: float) -> None:
    await life.apply(SOURCE, store())
    life.manager.errors = [error]
    await life.apply(pushing(entry("r")))
    assert (await life.ready(PUSH))[0] == "False"
    assert "could not write remote ref a to target secretstore s: " in (await life.ready(PUSH))[2]
    await life.wait(wait - 1 if wait > 100 else 0)
    assert life.calls("push") == 0
    await life.wait(wait)
    assert await life.ready(PUSH) == SYNCED


# --------------------------------------------------------------------------------------------------- deletion
async def test_it_is_held_until_what_it_pushed_is_gone(life: Life) -> None:
    await life.apply(SOURCE, store(), pushing(entry("r"), deletionPolicy="Delete"))
    assert await life.finalizers(PUSH) == [FINALIZER]
    life.faults["delete"] = "away"
    await life.delete(PUSH)
    assert (await life.ready(PUSH))[2] == "Failed to Delete Secrets from Provider: away"
    assert await account(life) == {"SecretStore/s": ["r"]}
    life.faults.clear()
    await life.wait(HOUR)
    assert await life.get(PUSH) is None
    assert "r" not in life.manager.values


async def test_the_finalizer_goes_with_the_policy(life: Life) -> None:
    await life.apply(SOURCE, store(), pushing(entry("r"), deletionPolicy="Delete"))
    await life.patch(PUSH, spec={"deletionPolicy": "None"})
    assert await life.finalizers(PUSH) == []
    await life.delete(PUSH)
    assert "r" in life.manager.values


async def test_a_store_and_its_push_secret_go_together(life: Life) -> None:
    await life.apply(SOURCE, store(), pushing(entry("r"), deletionPolicy="Delete"))
    await life.delete(STORE)
    assert await life.get(STORE) is not None  # the PushSecret has something to delete there
    await life.delete(PUSH)
    assert await life.get(PUSH) is None
    assert await life.get(STORE) is None
    assert "r" not in life.manager.values


# ----------------------------------------------------------------------------------------------------- stores
async def test_a_missing_store_is_told_and_noticed(life: Life) -> None:
    await life.apply(SOURCE, pushing(entry("r")))
    assert (await life.ready(PUSH))[2] == 'could not get SecretStore "s": it does not exist'
    await life.apply(store())
    assert await life.ready(PUSH) == SYNCED


async def test_stores_of_another_class_are_passed_over(life: Life) -> None:
    refs = [{"name": "s"}, {"name": "t"}]
    await life.apply(SOURCE, store(), store("t", controller="other"))
    await life.apply(pushing(entry("r"), secretStoreRefs=refs))
    assert await account(life) == {"SecretStore/s": ["r"]}


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


# ------------------------------------------------------------------------------------------------- next lives
async def test_a_restart_pushes_nothing_that_is_not_due(clock: Clock) -> None:
    life = Life(clock)
    async with life.running():
        await life.apply(SOURCE, store(), pushing(entry("r")))
    async with life.running():
        assert life.calls("push") == 1
        await life.wait(HOUR)
        assert life.calls("push") == 2
    assert not life.bugs


async def test_an_operators_wish_pushes_at_once(life: Life) -> None:
    await life.apply(SOURCE, store(), pushing(entry("r")))
    life.controllers.world.facts.wish(PUSH)
    life.controllers.engine.refresh(PUSH)
    await life.settle()
    assert life.calls("push") == 2
    assert not life.controllers.world.facts.wished(PUSH)


async def test_neither_status_nor_events_quote_a_value(life: Life) -> None:
    life.faults["push"] = "refused"
    await life.apply(secret("q", {"a": "planted-value"}), store(), pushing(entry("r")))
    assert (await life.ready(PUSH))[0] == "False"
    assert "planted" not in repr(life.events) + repr(await life.get(PUSH))
    assert ref("p") not in life.seen.left
