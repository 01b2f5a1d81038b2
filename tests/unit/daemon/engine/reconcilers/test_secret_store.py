"""SecretStore and ClusterSecretStore: judged, judged again, and kept while they are needed."""

import pytest

from syncret.config.meta import Document
from syncret.daemon.engine.clock import Clock
from syncret.providers.errors import Denied, Throttled, Unavailable
from tests.unit.daemon.engine.life import HOUR, STORE, Life, fake_store, manifest, secret, store
from tests.unit.daemon.engine.support import ref

FINALIZER = "secretstore.externalsecrets.io/finalizer"
VALID = ("True", "Valid", "store validated")


def pushing(name: str = "p", **spec: object) -> Document:
    """A PushSecret to store `s` that deletes what it pushed."""
    entry = {"match": {"secretKey": "a", "remoteRef": {"remoteKey": "r"}}}
    whole: Document = {
        "secretStoreRefs": [{"name": "s"}],
        "selector": {"secret": {"name": "q"}},
        "deletionPolicy": "Delete",
        "data": [entry],
    }
    return manifest("PushSecret", name, {**whole, **spec})


async def test_a_store_that_answers_is_ready_and_can_do_what_its_client_can(life: Life) -> None:
    await life.apply(store())
    assert await life.ready(STORE) == VALID
    assert (await life.status(STORE))["capabilities"] == "ReadWrite"
    assert life.runs("s", "SecretStore") == 1


async def test_a_cluster_store_is_judged_likewise(life: Life) -> None:
    await life.apply(store(namespace=""))
    assert await life.ready(ref("s", kind="ClusterSecretStore", namespace="")) == VALID


async def test_it_is_probed_at_its_interval(life: Life) -> None:
    await life.apply(store(refreshInterval=600))
    await life.wait(599)
    assert life.calls("probe") == 1
    await life.wait(1)
    assert life.calls("probe") == 2


@pytest.mark.parametrize(
    ("interval", "probes"),
    [
        pytest.param("10m", 7, id="a duration"),
        pytest.param(900, 5, id="seconds"),
        pytest.param(0, 13, id="0: the daemon's"),
        pytest.param(None, 13, id="none: the daemon's"),
    ],
)
async def test_intervals(life: Life, interval: str | int | None, probes: int) -> None:
    given: Document = {} if interval is None else {"refreshInterval": interval}
    await life.apply(store(**given))
    await life.wait(HOUR)
    assert life.calls("probe") == probes


async def test_a_malformed_interval_that_admission_let_pass_is_the_daemons(clock: Clock) -> None:
    async with Life(clock, admitting=False).running() as life:
        await life.apply(store(refreshInterval="soon"))
        assert await life.ready(STORE) == VALID
        assert not life.bugs


@pytest.mark.parametrize(
    ("errors", "message"),
    [
        pytest.param(("open_errors", Denied("no such role")), "unable to create client", id="no client"),
        pytest.param(("errors", Unavailable("away")), "unable to validate store", id="no answer"),
    ],
)
async def test_a_store_that_fails_is_told_and_recovers(
    life: Life, errors: tuple[str, Exception], message: str
) -> None:
    where, error = errors
    getattr(life.manager, where).append(error)
    await life.apply(store())
    assert await life.ready(STORE) == ("False", "InvalidProviderConfig", message)
    assert ("s", True, "InvalidProviderConfig", f"{message}: {error}") in life.events
    await life.wait(HOUR)
    assert await life.ready(STORE) == VALID
    assert life.controllers.context.memory.failure(STORE) is None


async def test_a_throttled_probe_is_not_tried_before_it_may(life: Life) -> None:
    life.manager.errors.append(Throttled("slowly", retry_after=1000))
    await life.apply(store())
    await life.wait(999)
    assert life.calls("probe") == 0
    await life.wait(1)
    assert await life.ready(STORE) == VALID


async def test_a_changed_spec_is_probed_at_once(life: Life) -> None:
    await life.apply(store())
    await life.patch(STORE, spec={"refreshInterval": 60})
    assert life.calls("probe") == 2


async def test_a_store_of_another_class_is_left_alone(life: Life) -> None:
    await life.apply(store(controller="other"))
    assert await life.status(STORE) == {}
    assert life.calls("probe") == 0


async def test_ready_is_believed_after_a_restart_until_the_next_probe(clock: Clock) -> None:
    life = Life(clock)
    async with life.running():
        await life.apply(store())
    async with life.running():
        assert life.calls("probe") == 1
        await life.wait(300)
        assert life.calls("probe") == 2


async def test_failure_is_not_believed_after_a_restart(clock: Clock) -> None:
    life = Life(clock)
    life.faults["probe"] = "away"
    async with life.running():
        await life.apply(store())
    life.faults.clear()
    async with life.running():
        assert await life.ready(STORE) == VALID


# ----------------------------------------------------------------------------------------- who still needs it
@pytest.mark.parametrize(
    ("push", "held"),
    [
        pytest.param(pushing(), True, id="named, though nothing was pushed yet"),
        pytest.param(pushing(deletionPolicy="None"), False, id="named by one that deletes nothing"),
        pytest.param(pushing(secretStoreRefs=[{"name": "t"}]), False, id="another store"),
        pytest.param(
            pushing(secretStoreRefs=[{"kind": "ClusterSecretStore", "name": "s"}]), False, id="another kind"
        ),
        pytest.param(
            pushing(secretStoreRefs=[{"labelSelector": {"matchLabels": {"push": "yes"}}}]),
            True,
            id="selected by labels",
        ),
        pytest.param(
            pushing(secretStoreRefs=[{"labelSelector": {"matchLabels": {"push": "no"}}}]),
            False,
            id="not selected",
        ),
        pytest.param(
            pushing(secretStoreRefs=[{"labelSelector": {"matchLabels": {"not a key": "x"}}}]),
            False,
            id="a selector that is none",
        ),
    ],
)
async def test_it_is_held_while_a_push_secret_may_have_to_delete_there(
    life: Life, push: Document, *, held: bool
) -> None:
    labelled = store()
    labelled["metadata"]["labels"] = {"push": "yes"}
    await life.apply(labelled, push)
    assert (FINALIZER in await life.finalizers(STORE)) is held
    await life.delete(STORE)
    assert (await life.get(STORE) is not None) is held
    await life.delete(ref("p", kind="PushSecret"))
    assert await life.get(STORE) is None


async def test_it_is_held_while_something_pushed_still_stands_there(life: Life) -> None:
    await life.apply(secret("q", {"a": "1"}), store(), fake_store("f"), pushing())
    life.faults["delete"] = "away"
    await life.patch(ref("p", kind="PushSecret"), spec={"secretStoreRefs": [{"name": "f"}]})
    assert await life.finalizers(STORE) == [FINALIZER]
    life.faults.clear()
    await life.wait(HOUR)
    assert await life.finalizers(STORE) == []


@pytest.mark.tells_at_once(reason="a store that goes after it was announced has been judged")
async def test_an_object_that_wants_a_store_that_goes_unjudged_is_told(life: Life) -> None:
    life.manager.delay = 5
    await life.apply(store(), pushing())
    going = store("t")
    going["metadata"]["finalizers"] = ["example.com/held"]
    await life.cluster.apply(going)
    await life.cluster.remove(ref("t", kind="SecretStore"))
    wanting = {
        "secretStoreRef": {"name": "t"},
        "data": [{"secretKey": "a", "remoteRef": {"key": "k"}}],
    }
    await life.apply(manifest("ExternalSecret", "x", wanting))
    assert (await life.ready(ref("x")))[2] == "could not get secret data from provider"
