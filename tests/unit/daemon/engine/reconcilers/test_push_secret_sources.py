"""PushSecret: where the values come from, and what happens once that goes."""

import pytest

from syncret.config.meta import Document
from syncret.daemon.engine.clock import Clock
from tests.unit.daemon.engine.life import HOUR, PUSH, Life, X, manifest, secret, secret_ref, store, wanting
from tests.unit.daemon.engine.reconcilers.push_secrets import (
    NO_SOURCE,
    SOURCE,
    SYNCED,
    account,
    entry,
    pushing,
)


async def test_a_source_that_comes_later_is_noticed(life: Life) -> None:
    await life.apply(store(), pushing(entry("r")))
    assert await life.ready(PUSH) == NO_SOURCE
    await life.apply(SOURCE)
    assert await life.ready(PUSH) == SYNCED


@pytest.mark.tells_at_once(reason="an ExternalSecret that is not announced yet is not known to make anything")
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


TEAM = {"team": "a"}
BY_LABEL = {"secret": {"selector": {"matchLabels": TEAM}}}
EVERY_KEY = [{"storeRef": {"name": "s"}}]


def every_key_of_the_team() -> Document:
    """A PushSecret that pushes every key of every Secret with the label, and deletes what is unwanted."""
    return pushing(selector=BY_LABEL, dataTo=EVERY_KEY, deletionPolicy="Delete", refreshInterval="10m")


async def test_what_one_of_several_sources_pushed_is_not_deleted_for_another(life: Life) -> None:
    await life.apply(secret("q1", {"a": "1"}, labels=TEAM), secret("q2", {"b": "2"}, labels=TEAM), store())
    await life.apply(every_key_of_the_team())
    for _ in range(3):
        assert await life.ready(PUSH) == SYNCED
        assert await account(life) == {"SecretStore/s": ["a", "b"]}
        assert {"a", "b"} <= life.manager.values.keys()
        await life.wait(600)
    assert life.calls("delete") == 0


async def test_what_no_source_has_any_more_is_deleted_once(life: Life) -> None:
    await life.apply(secret("q1", {"a": "1"}, labels=TEAM), secret("q2", {"b": "2"}, labels=TEAM), store())
    await life.apply(every_key_of_the_team())
    await life.delete(secret_ref("q1"))
    await life.wait(600)
    assert await account(life) == {"SecretStore/s": ["b"]}
    assert "a" not in life.manager.values
    assert "b" in life.manager.values
    assert life.calls("delete") == 1


async def test_a_source_that_fails_leaves_what_the_others_pushed_and_tells_it(life: Life) -> None:
    await life.apply(secret("q1", {"a": "1", "c": "3"}, labels=TEAM), store(), every_key_of_the_team())
    await life.apply(secret("q2", {"b": "2"}, labels=TEAM))
    await life.patch(PUSH, spec={"data": [entry("r")]})  # q2 has no such key
    assert await life.ready(PUSH) == (
        "False",
        "Errored",
        "set secret failed: secret key a does not exist",
    )
    assert await account(life) == {"SecretStore/s": ["a", "b", "c", "r"]}
    assert life.manager.values.keys() == {"k", "a", "b", "c", "r"}


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


@pytest.mark.parametrize("version", ["example.com/v1alpha1", "generators.external-secrets.io/v1"])
async def test_a_generator_of_an_api_that_has_none_is_told(life: Life, version: str) -> None:
    fake = manifest("Fake", "g", {"data": {"a": "drawn"}})
    named = {"apiVersion": version, "kind": "Fake", "name": "g"}
    await life.apply(
        fake | {"apiVersion": "generators.external-secrets.io/v1alpha1"},
        store(),
        pushing(entry("r"), selector={"generatorRef": named}),
        manifest("ExternalSecret", "x", {"dataFrom": [{"sourceRef": {"generatorRef": named}}]}),
    )
    assert await life.ready(PUSH) == NO_SOURCE
    assert await life.ready(X) == ("False", "SecretSyncedError", "could not get secret data from provider")


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
