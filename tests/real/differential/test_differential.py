"""The operator and we, each on an API server of its own, are told the same: objects must come out equal."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from syncret.config.settings import Settings
from syncret.daemon.app import run_engine
from syncret.daemon.engine.clock import Clock
from syncret.daemon.homes.kubernetes.access.kubeconfig import Access
from syncret.daemon.homes.kubernetes.access.logins import FixedHeaders
from syncret.daemon.homes.kubernetes.opening import cluster_home
from syncret.providers.kit.auth.logins import bearer
from syncret.providers.kit.http import Tls
from syncret.providers.registry import Registry
from syncret.providers.values import SecretBytes
from tests.real.differential.known import KNOWN, unknown
from tests.real.differential.playing import Ended, play
from tests.real.differential.policies import policies
from tests.real.differential.scenarios import Scenario, cases, left_out, scenarios
from tests.real.differential.sides import Side
from tests.suites.corpus.runners.cases import Case
from tests.support.servers.eso.running import operator
from tests.support.servers.kube.crds import install
from tests.support.servers.kube.running import ADMIN, KubeApi

pytestmark = [pytest.mark.slow, pytest.mark.differential]

PARTS = ([*scenarios()], [*policies()])
"""Played one after the other: of more than a thousand events at once the operator loses some."""
SCENARIOS = [each for part in PARTS for each in part]
LEFT_OUT = [case for case in cases() if left_out(case) is not None]


def access_of(api: KubeApi) -> Access:
    login = FixedHeaders(bearer(SecretBytes(ADMIN.encode())))
    return Access(server=api.url, tls=Tls(ca=api.ca), login=login)


async def played(theirs: KubeApi, ours: KubeApi) -> Mapping[str, Sequence[Ended]]:
    registry = Registry()
    async with AsyncExitStack() as stack:
        homes = [
            await stack.enter_async_context(cluster_home(access_of(api), catalog=registry))
            for api in (theirs, ours, ours)
        ]
        await stack.enter_async_context(
            run_engine(homes[2], registry=registry, settings=Settings(), clock=Clock())
        )
        events = asyncio.create_task(homes[2].run(), name="home")
        stack.callback(events.cancel)
        sides = Side(homes[0], theirs), Side(homes[1], ours)
        return {name: steps for part in PARTS for name, steps in (await play(part, *sides)).items()}


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Sequence[Ended]]:
    theirs, ours = KubeApi(), KubeApi()
    try:
        install(theirs)
        install(ours)
        folder: Path = tmp_path_factory.mktemp("operator")
        with operator(theirs, folder):
            return asyncio.run(played(theirs, ours))
    finally:
        theirs.stop()
        ours.stop()


@pytest.mark.parametrize("scenario", SCENARIOS, ids=[each.id for each in SCENARIOS])
def test_equal(scenario: Scenario, ended: Mapping[str, Sequence[Ended]]) -> None:
    steps = ended[scenario.id]
    known = KNOWN.get(scenario.id)
    if known is not None and known.is_sure:
        assert any(step.differences for step in steps), "it is equal now: take it from the list"
    found = [(step.place, text) for step in steps for text in unknown(scenario.id, step.differences)]
    assert not found, "\n".join(f"step {place}: {text}" for place, text in found)


def test_every_known_difference_is_played() -> None:
    assert {each.id for each in SCENARIOS} >= KNOWN.keys()
    assert len(SCENARIOS) > 300


@pytest.mark.parametrize("case", LEFT_OUT, ids=[f"{case.family}: {case.id}" for case in LEFT_OUT])
def test_left_out(case: Case) -> None:
    pytest.skip(str(left_out(case)))
