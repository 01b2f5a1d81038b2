"""Leases of what was read are renewed while the store is in use."""

import asyncio
from collections.abc import AsyncIterator
from http import HTTPStatus

import pytest

from syncret.providers.errors import Denied, SyncError, Unavailable
from syncret.providers.kit.vault.tokens import LeaseRenewer, Login
from syncret.providers.kit.vault.wire import Adapter
from syncret.providers.values import SecretBytes


class Vault:
    """Renews for a minute by default."""

    def __init__(self) -> None:
        self.renewed: list[tuple[float, str]] = []
        self.answers: list[float | SyncError] = []

    async def renew(self, lease: str) -> float:
        self.renewed.append((asyncio.get_running_loop().time(), lease))
        answer = self.answers.pop(0) if self.answers else 60.0
        if isinstance(answer, SyncError):
            raise answer
        return answer


@pytest.fixture
def vault() -> Vault:
    return Vault()


@pytest.fixture
async def leases(vault: Vault) -> AsyncIterator[LeaseRenewer]:
    made = LeaseRenewer(vault.renew)
    yield made
    await made.close()
    assert len(asyncio.all_tasks()) == 1


async def test_the_newest_of_each_path_is_renewed_after_two_thirds(
    vault: Vault, leases: LeaseRenewer
) -> None:
    leases.track("a", "a-1", 60)
    leases.track("b", "b-1", 90)
    await asyncio.sleep(30)
    leases.track("a", "a-2", 60)
    await asyncio.sleep(90)

    assert vault.renewed == [(60, "b-1"), (70, "a-2"), (100, "b-1"), (110, "a-2")]


@pytest.mark.parametrize(
    ("answer", "times"),
    [
        pytest.param(0.0, [40], id="renewed no more"),
        pytest.param(Denied("no"), [40], id="refused"),
        pytest.param(Unavailable("no"), [40, 50, 90], id="no answer"),
    ],
)
async def test_what_becomes_of_it(
    vault: Vault, leases: LeaseRenewer, answer: float | SyncError, times: list[float]
) -> None:
    vault.answers = [answer]
    leases.track("a", "a-1", 60)
    await asyncio.sleep(100)

    assert [time for time, _ in vault.renewed] == times


async def test_without_answers_it_is_tried_again_after_longer_and_longer(
    vault: Vault, leases: LeaseRenewer
) -> None:
    vault.answers = [*(Unavailable("no") for _ in range(5)), 60.0, Unavailable("no")]
    leases.track("a", "a-1", 60)
    await asyncio.sleep(350)

    # 10, 20, 40, 60 and 60 seconds; then as after any renewal, and from the first pause again
    assert [time for time, _ in vault.renewed] == [40, 50, 70, 110, 170, 230, 270, 280, 320]


async def test_who_closes_can_be_cancelled_too() -> None:
    gate, asked = asyncio.Event(), asyncio.Event()

    async def renew(_lease: str) -> float:
        asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            await gate.wait()  # a connection that takes its time to close
        return 0.0

    leases = LeaseRenewer(renew)
    leases.track("a", "a-1", 0)
    await asked.wait()
    closing = asyncio.create_task(leases.close())
    await asyncio.sleep(0)
    closing.cancel()
    gate.set()
    with pytest.raises(asyncio.CancelledError):
        await closing


async def test_there_is_a_bound(vault: Vault, leases: LeaseRenewer) -> None:
    for number in range(1100):
        leases.track(f"path-{number}", f"lease-{number}", 60)
    await asyncio.sleep(41)

    assert len(vault.renewed) == 1000


@pytest.mark.parametrize(
    ("status", "hint"),
    [
        (HTTPStatus.BAD_REQUEST, "check auth.appRole.roleId"),
        (
            HTTPStatus.FORBIDDEN,
            "check auth.appRole.path first: is this method mounted there? Then check auth.appRole.roleId",
        ),
    ],
)
def test_a_refused_login_names_method_status_and_the_fields_to_check(status: HTTPStatus, hint: str) -> None:
    async def run(_adapter: Adapter) -> SecretBytes:
        return SecretBytes(b"")

    error = Login("appRole", run, "check auth.appRole.roleId").refused(status)

    assert error.message == f"logging in to Vault by appRole: Vault refuses it (HTTP {status.value})"
    assert error.hint == hint
