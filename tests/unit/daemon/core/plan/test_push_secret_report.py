"""PushSecret: what is reported after a run, and what stands at the stores, one row per case."""

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from syncret.config.resources.push_secret import PushSecretStatus
from syncret.daemon.core.plan.push_operations import Done, StoreOperations, may_stand
from syncret.daemon.core.plan.push_secret import PushNeeds, PushPlan, decide, next_step, report
from syncret.daemon.core.schedule import refresh
from syncret.providers.errors import Denied, Throttled
from syncret.providers.pushes import RemoteTarget
from tests.unit.daemon.core.plan.push_secrets import (
    AWAY,
    GOING,
    MIDNIGHT,
    NO_SUCH,
    NOW,
    Q,
    S,
    T,
    account,
    entry,
    observed,
    plan_for,
    push_secret,
)


def keys(status: Mapping[str, Any] | None) -> dict[str, list[str]]:
    assert status is not None
    return {name: sorted(entries) for name, entries in status.get("syncedPushSecrets", {}).items()}


DENIED = Denied("not with this token")
BOTH = account(s=["r", "old"], t=["u", "v"])


@pytest.mark.parametrize(
    ("done", "message", "left"),
    [
        pytest.param(
            [Done(pushed=2, deleted=1), Done(deleted=2)],
            "PushSecret synced successfully",
            {"SecretStore/s": ["n", "r"]},
            id="all",
        ),
        pytest.param(
            [Done(pushed=1, push_error=AWAY), Done()],
            "set secret failed: away",
            {"SecretStore/s": ["old", "r"], "SecretStore/t": ["u", "v"]},
            id="a push fails: nothing is deleted",
        ),
        pytest.param(
            [Done(pushed=2, delete_error=AWAY), Done(deleted=2)],
            "Failed to Delete Secrets from Provider: away",
            {"SecretStore/s": ["n", "old", "r"]},
            id="a deletion fails, those at another store do not",
        ),
        pytest.param(
            [Done(pushed=2, deleted=1), Done(deleted=1, delete_error=AWAY)],
            "Failed to Delete Secrets from Provider: away",
            {"SecretStore/s": ["n", "r"], "SecretStore/t": ["v"]},
            id="a deletion fails half-way",
        ),
    ],
)
def test_the_account_has_what_stands_at_the_stores(
    done: list[Done], message: str, left: Mapping[str, list[str]]
) -> None:
    resource = push_secret(entry("r"), entry("n"), deletionPolicy="Delete", pushed=BOTH)
    published = report(resource, plan_for(resource, observed(Q)), done, NOW)
    assert keys(published.status) == left
    assert (published.status or {})["conditions"][0]["message"] == message


def test_a_selector_that_matches_no_secret_keeps_the_account() -> None:
    resource = push_secret(deletionPolicy="Delete", pushed=BOTH)
    published = report(resource, plan_for(resource, observed()), [], NOW)
    assert keys(published.status) == {"SecretStore/s": ["old", "r"], "SecretStore/t": ["u", "v"]}
    assert (published.status or {})["conditions"][0]["reason"] == "Synced"


@pytest.mark.parametrize(
    ("done", "message", "left"),
    [
        pytest.param(
            [Done(deleted=2), Done(deleted=2)],
            "source secret deleted; provider secrets cleaned up",
            {},
            id="all",
        ),
        pytest.param(
            [Done(deleted=1, delete_error=AWAY), Done(deleted=2)],
            "failed to cleanup provider secrets: away",
            {"SecretStore/s": ["old"]},
            id="as far as it goes",
        ),
    ],
)
def test_the_source_is_gone(done: list[Done], message: str, left: Mapping[str, list[str]]) -> None:
    resource = push_secret(deletionPolicy="Delete", pushed=BOTH)
    published = report(resource, plan_for(resource, observed(source_error=NO_SUCH)), done, NOW)
    assert keys(published.status) == left
    (condition,) = (published.status or {})["conditions"]
    assert (condition["status"], condition["message"]) == ("False", message)
    assert published.next_due is None
    assert (published.failure is AWAY) is bool(left)
    assert [event.warning for event in published.events] == [bool(left)]


def test_a_success_is_told_once() -> None:
    resource = push_secret(refreshInterval="10m", reason="Errored")
    first = report(resource, plan_for(resource, observed(Q)), [Done(pushed=1)], NOW)
    assert [(event.reason, event.warning) for event in first.events] == [("Synced", False)]
    synced = replace(resource, status=msgspec.convert(first.status, PushSecretStatus))
    again = report(synced, plan_for(synced, observed(Q)), [Done(pushed=1)], NOW + 600)
    assert again.status is not None
    assert again.events == ()


def test_a_success_is_due_again_at_its_interval() -> None:
    resource = push_secret(refreshInterval="10m", reason="Errored")
    published = report(resource, plan_for(resource, observed(Q)), [Done(pushed=1)], NOW)
    assert published.status == {
        "refreshTime": "2026-01-01T01:00:00Z",
        "syncedResourceVersion": refresh.version_of(resource.metadata),
        "syncedPushSecrets": {
            "SecretStore/s": {
                "r": {
                    "match": {"secretKey": "a", "remoteRef": {"remoteKey": "r"}},
                    "conversionStrategy": "None",  # as the CRD fills it in
                }
            }
        },
        "conditions": (
            {
                "type": "Ready",
                "status": "True",
                "reason": "Synced",
                "message": "PushSecret synced successfully",
                "lastTransitionTime": "2026-01-01T01:00:00Z",
            },
        ),
    }
    assert (published.next_due, published.failure, published.last_error) == (NOW + 600, None, None)


def test_a_failure_is_the_last_error_an_event_and_tried_again() -> None:
    resource = push_secret(synced=True, pushed=account(s=["r"]))
    published = report(resource, plan_for(resource, observed(Q)), [Done(push_error=DENIED)], NOW)
    assert published.failure is DENIED
    assert published.last_error is not None
    assert published.last_error.message == "not with this token"
    (event,) = published.events
    assert (event.reason, event.message, event.warning) == (
        "Errored",
        "set secret failed: not with this token",
        True,
    )
    assert (published.status or {})["refreshTime"] == MIDNIGHT
    assert published.next_due is None


@pytest.mark.parametrize(
    ("plan", "last_error"),
    [
        pytest.param(plan_for(push_secret(), observed(Q, stores=())), False, id="no store of its own"),
        pytest.param(
            decide(push_secret(), observed(Q), PushNeeds(unrendered=AWAY), {}), True, id="no template"
        ),
    ],
)
def test_the_status_stays_but_the_last_error_is_set_or_cleared(plan: PushPlan, *, last_error: bool) -> None:
    published = report(push_secret(pushed=account(s=["r"])), plan, [], NOW)
    assert published.status is None
    assert (published.last_error is not None) is last_error


def test_one_that_is_cleaned_up_goes_without_another_status() -> None:
    resource = push_secret(metadata=GOING, deletionPolicy="Delete", pushed=account(s=["r"]))
    plan = next_step(resource, NOW, refresh_requested=False)
    assert isinstance(plan, PushPlan)
    assert report(resource, plan, [Done(deleted=1)], NOW).status is None
    failed = report(resource, plan, [Done(delete_error=AWAY)], NOW)
    assert keys(failed.status) == {"SecretStore/s": ["r"]}
    assert failed.failure is AWAY


# ------------------------------------------------------------------------------- values that a generator made
def operations(*, looked_up: bool = False) -> tuple[StoreOperations, ...]:
    """Two entries for each of two stores; with `looked_up` both exist already."""
    policy = "IfNotExists" if looked_up else "Replace"
    resource = push_secret(entry("r"), entry("u"), updatePolicy=policy)
    answers = {RemoteTarget("r"): True, RemoteTarget("u"): True}
    plan = plan_for(resource, observed(Q, stores=(S, T)), {S: answers, T: answers} if looked_up else None)
    assert plan.operations is not None
    return plan.operations


BUSY = Throttled("slowly")


@pytest.mark.parametrize(
    ("done", "stands"),
    [
        pytest.param([Done(pushed=2), Done(pushed=2)], True, id="pushed"),
        pytest.param([Done(push_error=DENIED), Done(pushed=1, push_error=DENIED)], True, id="one of them"),
        pytest.param([Done(push_error=DENIED), Done(push_error=BUSY)], False, id="refused by both"),
        pytest.param([Done(push_error=DENIED), Done(push_error=AWAY)], True, id="no answer: perhaps"),
    ],
)
def test_whether_a_value_may_stand_at_a_store(done: list[Done], *, stands: bool) -> None:
    assert may_stand(operations(), done) is stands


def test_a_value_that_was_not_pushed_because_others_exist_stands_nowhere() -> None:
    assert not may_stand(operations(looked_up=True), [Done(pushed=2), Done(pushed=2)])
