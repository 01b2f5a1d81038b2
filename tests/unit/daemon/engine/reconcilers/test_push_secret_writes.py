"""PushSecret: when it pushes, and what it writes at its stores."""

import pytest

from syncret.providers.errors import Throttled, Unavailable
from tests.unit.daemon.engine.life import HOUR, PUSH, Life, fake_store, manifest, store
from tests.unit.daemon.engine.reconcilers.push_secrets import (
    NO_SOURCE,
    SOURCE,
    SYNCED,
    account,
    entry,
    pushing,
)


async def test_the_first_push_is_told(life: Life) -> None:
    await life.apply(SOURCE, store(), pushing(entry("r")))
    status = await life.status(PUSH)
    assert life.manager.values["r"] == "1"
    assert await life.ready(PUSH) == SYNCED
    assert status["syncedPushSecrets"] == {
        "SecretStore/s": {
            "r": {
                "match": {"secretKey": "a", "remoteRef": {"remoteKey": "r"}},
                "conversionStrategy": "None",  # as the CRD fills it in
            }
        }
    }
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
    failure = life.controllers.context.memory.failure(PUSH)
    assert failure is not None
    assert failure.message == "no secret selector provided"


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
        'source keys "a" and "b" both map to the same destination'
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
