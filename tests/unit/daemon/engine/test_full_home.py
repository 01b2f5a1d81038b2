"""The engine on a home that cannot keep what it takes: nothing is fetched for it, and nothing is hidden."""

import json
from typing import Any

import pytest

from syncret.config.meta import Document
from syncret.daemon.engine.clock import Clock
from syncret.daemon.ops import status
from syncret.daemon.ops.control import explanation
from tests.unit.daemon.engine.life import HOUR, Life, X, manifest, secret_ref, store, wanting
from tests.unit.daemon.engine.reconcilers.external_secrets import SYNCED

PASSWORD: Document = {
    "apiVersion": "generators.external-secrets.io/v1alpha1",
    "kind": "Password",
    "metadata": {"name": "g", "namespace": "default"},
    "spec": {"length": 24, "noUpper": False, "allowRepeat": True},
}


def generating(interval: str) -> Document:
    source = {"sourceRef": {"generatorRef": {"kind": "Password", "name": "g"}}}
    return manifest("ExternalSecret", "x", {"dataFrom": [source], "refreshInterval": interval})


async def test_a_password_is_not_made_anew_while_its_record_cannot_be_kept(clock: Clock) -> None:
    life = Life(clock)
    async with life.running():
        await life.apply(PASSWORD, generating("1m"))
        life.target.full = True
        made: list[object] = []
        for _ in range(600):
            await life.wait(1)
            made.append((await life.existing(secret_ref("x")))["data"])
        assert len({str(each) for each in made}) == 2, "the one that was there, and the one that filled it"
        assert life.runs("x") < 30
        life.target.full = False
        await life.wait(60)
        assert await life.ready(X) == SYNCED
        assert (await life.existing(secret_ref("x")))["data"] != made[-1]


@pytest.mark.parametrize("interval", ["1h", "0s"])
async def test_its_own_write_does_not_wake_what_has_failed(clock: Clock, interval: str) -> None:
    life = Life(clock)
    async with life.running(retry_min=100):
        await life.apply(store())
        life.target.full = True
        await life.apply(wanting(refreshInterval=interval))
        await life.wait(90)
        assert life.runs("x") == 1
        life.target.full = False
        await life.wait(HOUR)
        assert await life.ready(X) == SYNCED


async def row_of(life: Life) -> Any:  # noqa: ANN401  # JSON
    document = json.loads(b"".join([piece async for piece in status.pieces(life.view())]))
    [row] = document["objects"]
    return row


async def metric(life: Life, line: str) -> bool:
    text = b"".join([piece async for piece in life.view().metrics.pieces()]).decode()
    return line in text.splitlines()


FULL = "no space is left"
NOT_READY = 'syncret_objects_not_ready{kind="ExternalSecret"} 1'
CONDITION = 'externalsecret_status_condition{name="x",namespace="default",condition="Ready",status="False"} 1'


async def test_what_no_status_can_say_is_shown_all_the_same(clock: Clock) -> None:
    life = Life(clock)
    async with life.running():
        await life.apply(store(), wanting(refreshInterval="2s"))
        assert (await row_of(life))["ready"]
        life.target.full = True
        await life.wait(60)
        assert await life.ready(X) == SYNCED, "the condition could not be changed"
        row = await row_of(life)
        assert not row["ready"]
        assert (row["reason"], row["message"]) == ("RunFailed", FULL)
        assert row["lastFailure"]["message"] == FULL
        assert row["lastFailure"]["hint"] == "free some space"
        shown = explanation(life.view(), *X[1:])
        assert (shown.ready, shown.reason, shown.message) == ("False", "RunFailed", FULL)
        assert shown.last_error is not None
        assert await metric(life, NOT_READY)
        assert await metric(life, CONDITION)
        life.target.full = False
        await life.wait(2)
        row = await row_of(life)
        assert row["ready"]
        assert row["lastFailure"] is None
        assert row["failures"] == 0
        assert not await metric(life, NOT_READY)


async def test_once_there_is_space_a_value_is_fresh_within_its_interval(clock: Clock) -> None:
    life = Life(clock)
    async with life.running(retry_max=300):
        await life.apply(store(), wanting(refreshInterval="2s"))
        life.target.full = True
        await life.wait(600)
        life.manager.values["k"] = "new"
        before = life.reads
        await life.wait(10)
        assert life.reads == before, "nothing is fetched in vain"
        life.target.full = False
        await life.wait(2)
        assert await life.data("x") == {"a": "new"}
