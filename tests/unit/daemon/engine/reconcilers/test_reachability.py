"""A store whose server does not answer: the condition Reachable, beside Ready, and what its objects say."""

from collections.abc import AsyncIterator

import pytest

from syncret.config.meta import Document
from syncret.daemon.engine.clock import Clock
from syncret.providers.errors import Denied, SyncError, Unavailable
from tests.unit.daemon.engine.life import HOUR, STORE, Life, secret, store, wanting
from tests.unit.daemon.engine.support import Manager, ref

PROBLEM = "vault:8200 refuses connections"
GONE = Unavailable(f"reading db/password: {PROBLEM}", problem=PROBLEM)
SILENT = f"the secret manager does not answer: {PROBLEM}"
ONCE_READY = ("True", "Valid", "store validated")


class Always(list[Exception]):
    """Every call ends with this error."""

    def __init__(self, error: SyncError) -> None:
        super().__init__([error])

    def pop(self, index: object = 0) -> Exception:
        del index
        return self[0]


def goes_down(manager: Manager) -> None:
    manager.errors = Always(GONE)
    manager.open_errors = Always(GONE)


def comes_back(manager: Manager) -> None:
    manager.errors, manager.open_errors = [], []


async def conditions(life: Life) -> list[tuple[str, str, str, str]]:
    found: list[Document] = (await life.status(STORE)).get("conditions", [])
    return [(each["type"], each["status"], each["reason"], each["message"]) for each in found]


@pytest.fixture
async def life(clock: Clock) -> AsyncIterator[Life]:
    """A store that is probed once an hour, and an object that reads from it every ten seconds."""
    async with Life(clock).running() as life:
        await life.apply(store(refreshInterval=3600), wanting(refreshInterval="10s"))
        yield life
        assert not life.bugs


async def test_a_store_that_always_answers_has_the_conditions_of_eso(life: Life) -> None:
    await life.wait(HOUR)
    assert await conditions(life) == [("Ready", *ONCE_READY)]


async def test_it_is_known_within_seconds_though_the_probe_is_an_hour_away(life: Life) -> None:
    await life.wait(HOUR - 600)
    goes_down(life.manager)
    await life.wait(10 + 2)  # the object is due once in ten seconds
    assert await conditions(life) == [
        ("Ready", *ONCE_READY),
        ("Reachable", "False", "NoAnswer", PROBLEM),
    ]
    assert life.last_error(STORE) == SILENT
    assert (STORE.name, True, "NoAnswer", SILENT) in life.events


async def test_one_call_without_an_answer_is_no_outage(life: Life) -> None:
    life.manager.errors = [GONE]
    await life.wait(60)
    assert await conditions(life) == [("Ready", *ONCE_READY)]
    assert life.last_error(STORE) == ""


async def test_a_store_that_does_not_answer_soon_after_is_asked_itself(life: Life) -> None:
    """One object of an hour would take minutes to make five calls."""
    await life.patch(ref("x"), spec={"refreshInterval": "1h"})
    goes_down(life.manager)
    life.controllers.context.memory.request_refresh(ref("x"))
    life.controllers.engine.refresh(ref("x"))
    await life.wait(2)
    assert (await conditions(life))[1:] == [("Reachable", "False", "NoAnswer", PROBLEM)]


async def test_objects_name_address_and_cause_and_no_key_of_others(life: Life) -> None:
    goes_down(life.manager)
    await life.wait(60)
    await life.apply(wanting("late", key="other"))
    for name in ("x", "late"):
        message = (await life.full_ready(ref(name)))[2]
        assert message == f"could not get secret data from provider: {PROBLEM}"
        assert life.last_error(ref(name)) == f"spec.data[0]: {PROBLEM}"


async def test_once_it_is_not_ready_objects_still_name_the_cause(life: Life) -> None:
    goes_down(life.manager)
    await life.wait(HOUR)
    assert (await life.ready(STORE))[:2] == ("False", "InvalidProviderConfig")
    assert 'SecretStore "s" is not ready: vault:8200 refuses connections' in life.last_error(ref("x"))


async def test_when_it_answers_again(life: Life) -> None:
    goes_down(life.manager)
    await life.wait(60)
    comes_back(life.manager)
    await life.wait(300)
    assert await conditions(life) == [
        ("Ready", *ONCE_READY),
        ("Reachable", "True", "Answers", "the secret manager answers"),
    ]
    assert life.last_error(STORE) == ""
    assert not life.controllers.engine.failing


async def test_it_is_written_only_when_it_changes(life: Life) -> None:
    goes_down(life.manager)
    await life.wait(60)
    version = (await life.existing(STORE))["metadata"]["resourceVersion"]
    await life.wait(1200)
    assert (await life.existing(STORE))["metadata"]["resourceVersion"] == version


async def test_its_dependents_are_not_woken_by_it(life: Life) -> None:
    await life.apply(wanting("idle", refreshInterval="0"))
    runs = life.runs("idle")
    goes_down(life.manager)
    await life.wait(60)
    comes_back(life.manager)
    await life.wait(300)
    assert life.runs("idle") == runs


async def test_a_refusal_is_an_answer(life: Life) -> None:
    goes_down(life.manager)
    await life.wait(60)
    comes_back(life.manager)
    life.manager.errors = Always(Denied("permission denied"))
    await life.wait(600)
    assert (await conditions(life))[1][:2] == ("Reachable", "True")
    assert (await life.ready(STORE)) == ONCE_READY


async def test_a_store_that_is_new_and_does_not_answer(clock: Clock) -> None:
    life = Life(clock)
    goes_down(life.manager)
    async with life.running():
        await life.apply(store())
        assert [each[:3] for each in await conditions(life)] == [
            ("Ready", "False", "InvalidProviderConfig"),
            ("Reachable", "False", "NoAnswer"),
        ]
        comes_back(life.manager)
        await life.wait(300)
        assert [each[:3] for each in await conditions(life)] == [
            ("Ready", "True", "Valid"),
            ("Reachable", "True", "Answers"),
        ]


async def test_after_a_restart_it_is_asked_at_once(clock: Clock) -> None:
    life = Life(clock)
    async with life.running():
        await life.apply(store(refreshInterval=3600), wanting(refreshInterval="10s"))
        goes_down(life.manager)
        await life.wait(60)
        assert (await conditions(life))[1][:2] == ("Reachable", "False")
    comes_back(life.manager)
    async with life.running():
        assert (await conditions(life))[1][:2] == ("Reachable", "True")


async def test_other_credentials_are_tried_before_anything_is_said(clock: Clock) -> None:
    async with Life(clock).running() as life:
        spec: Document = {"provider": {"manager": {"token": {"name": "login", "key": "token"}}}}
        await life.apply(secret("login", {"token": "a"}), store(**spec), wanting(refreshInterval="10s"))
        goes_down(life.manager)
        await life.wait(60)
        await life.apply(secret("login", {"token": "b"}))
        assert (await conditions(life))[1][:2] == ("Reachable", "False")
        comes_back(life.manager)
        await life.apply(secret("login", {"token": "c"}))
        await life.wait(300)
        assert (await conditions(life))[1][:2] == ("Reachable", "True")


async def test_a_client_that_cannot_be_opened_is_no_answer_either(clock: Clock) -> None:
    """After a pause without calls the next one needs a new client, and its login."""
    async with Life(clock).running(idle_close=30.0) as life:
        await life.apply(store(refreshInterval=3600), wanting(refreshInterval="1m"))
        await life.wait(40)
        life.manager.open_errors = Always(GONE)
        await life.wait(20 + 4)
        assert (await conditions(life))[1:] == [("Reachable", "False", "NoAnswer", PROBLEM)]
        comes_back(life.manager)
        await life.wait(300)
        assert (await conditions(life))[1][:2] == ("Reachable", "True")
