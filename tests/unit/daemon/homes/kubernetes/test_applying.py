"""A request of an installer that fails for now is repeated, so that a run of dozens gets to its end."""

import asyncio
from collections.abc import Sequence
from itertools import pairwise
from typing import cast

import msgspec
import pytest

from syncret.config.meta import Document, ObjectRef
from syncret.daemon.homes.contract import (
    Conflict,
    HomeError,
    Invalid,
    OutcomeUnknown,
    StorageUnavailable,
    TooManyRequests,
)
from syncret.daemon.homes.kubernetes.api import NotAllowed
from syncret.daemon.homes.kubernetes.applying import MOST_TRIES, Applier
from syncret.daemon.homes.kubernetes.home import KubernetesHome
from syncret.daemon.homes.kubernetes.resources import Resource
from syncret.providers.kit.http import Answer

pytestmark = pytest.mark.time("virtual")

SERVICE: Document = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s", "namespace": "n"}}
STORED: Document = {
    **SERVICE,
    "metadata": {**SERVICE["metadata"], "uid": "u", "resourceVersion": "7", "generation": 1},
}


class Home:
    """A home whose API server fails a few times first."""

    def __init__(self, *failures: HomeError) -> None:
        self._failures = list(failures)
        self.acts = True
        self.tries: list[float] = []

    @property
    def requests(self) -> tuple["Home", "Home"]:
        return self, self

    def owns(self, _ref: ObjectRef) -> bool:
        return self.acts

    async def find(self, kind: object, _version: str = "") -> Resource:
        assert kind == ("", "Service")
        return Resource("", "v1", "Service", "services", namespaced=True, has_status=True)

    async def write(self, *_: object, **__: object) -> Answer:
        self.tries.append(asyncio.get_running_loop().time())
        if self._failures:
            raise self._failures.pop(0)
        return Answer("writing", 200, {}, msgspec.json.encode(STORED))


def applier(home: Home) -> Applier:
    return Applier(cast("KubernetesHome", home), manager="m")


def pauses(tries: Sequence[float]) -> list[float]:
    return [round(later - sooner, 3) for sooner, later in pairwise(tries)]


async def test_an_apply_is_repeated_with_pauses_that_grow() -> None:
    home = Home(StorageUnavailable("down"), OutcomeUnknown("lost"), Conflict("changed"))
    assert (await applier(home).apply(SERVICE)).resource_version == "7"
    assert pauses(home.tries) == [0.1, 0.2, 0.4]


async def test_a_dry_run_waits_for_as_long_as_the_server_says() -> None:
    """A write leaves that to the gate, which holds back all others, too."""
    home = Home(TooManyRequests("later", retry_after=3.0))
    await applier(home).apply(SERVICE, dry_run=True)
    assert pauses(home.tries) == [3.0]
    with pytest.raises(TooManyRequests):
        await applier(Home(TooManyRequests("later"))).apply(SERVICE)


async def test_the_last_failure_is_raised() -> None:
    home = Home(*[StorageUnavailable(f"down {number}") for number in range(MOST_TRIES)])
    with pytest.raises(StorageUnavailable, match=f"down {MOST_TRIES - 1}"):
        await applier(home).apply(SERVICE)


@pytest.mark.parametrize(
    "failure",
    [
        pytest.param(Invalid("no such field"), id="refused"),
        pytest.param(NotAllowed("who are you?"), id="denied"),
        pytest.param(OutcomeUnknown("failed to create typed patch object (n/s)"), id="of a wrong type"),
    ],
)
async def test_what_only_a_change_helps_is_not_repeated(failure: HomeError) -> None:
    home = Home(failure)
    with pytest.raises((Invalid, NotAllowed)):
        await applier(home).apply(SERVICE)
    assert len(home.tries) == 1


async def test_a_patch_of_one_version_is_not_repeated_over_a_newer_one() -> None:
    seen = await applier(Home()).apply(SERVICE)
    home = Home(Conflict("changed"))
    with pytest.raises(Conflict):
        await applier(home).edit(seen, [])
    assert len(home.tries) == 1


async def test_who_is_not_the_active_replica_any_more_does_not_try_again() -> None:
    home = Home(StorageUnavailable("another replica"))
    home.acts = False
    with pytest.raises(StorageUnavailable):
        await applier(home).apply(SERVICE)
    assert len(home.tries) == 1
