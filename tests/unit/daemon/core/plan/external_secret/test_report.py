"""ExternalSecret: what is reported of a plan that was carried out, or was refused."""

import pytest

from syncret.config.meta import Document, ObjectRef
from syncret.config.resources.external_secret import ExternalSecret
from syncret.daemon.core.ownership import Refusal
from syncret.daemon.core.plan.actions import Action, Event, LastError, Options, Report, Verb, Verdict
from syncret.daemon.core.plan.external_secret.decide import Plan, from_cache, report
from syncret.daemon.core.schedule.refresh import version_of
from syncret.providers.errors import Denied, Unavailable
from tests.unit.daemon.core.plan.external_secret.resources import NOW, resource

OPTIONS = Options(spread=False)
SYNCED = Verdict(reason="SecretSynced", message="secret synced", bound="x")
DENIED = Denied("no", hint="renew the token")
REFUSAL = Refusal("target is owned by another ExternalSecret", "its owner is y", hint="rename it")


def condition(status: str, reason: str, message: str, since: str = "2026-01-01T00:00:00Z") -> Document:
    return {
        "type": "Ready",
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": since,
    }


def reported(
    wanted: ExternalSecret,
    plan: Plan,
    failed: Action | None = None,
    error: Exception | None = None,
    *,
    now: float = NOW,
) -> Report:
    return report(wanted, plan, failed, error, now, OPTIONS)


def test_a_sync() -> None:
    wanted = resource()
    plan = Plan(verdict=SYNCED, origins={"a": "spec.data[0]"})
    assert reported(wanted, plan) == Report(
        status={
            "refreshTime": "2026-01-01T00:00:00Z",
            "syncedResourceVersion": version_of(wanted.metadata),
            "conditions": (condition("True", "SecretSynced", "secret synced"),),
            "binding": {"name": "x"},
        },
        origins={"a": "spec.data[0]"},
        next_due=NOW + 3600,
    )


@pytest.mark.parametrize(
    ("spec", "due"),
    [
        pytest.param({"refreshInterval": "10m"}, NOW + 600, id="Periodic"),
        pytest.param({"refreshInterval": "0s"}, None, id="interval 0"),
        pytest.param({"refreshPolicy": "CreatedOnce"}, None, id="CreatedOnce"),
    ],
)
def test_when_it_is_due_after_a_sync(spec: Document, due: float | None) -> None:
    assert reported(resource(**spec), Plan(verdict=SYNCED)).next_due == due


@pytest.mark.parametrize(
    ("refreshed", "due"),
    [
        pytest.param("2025-12-31T21:00:00Z", NOW + 3600, id="three hours ago"),
        pytest.param("", NOW + 3600, id="never"),
    ],
)
def test_values_that_no_store_could_confirm_are_used_and_tried_again(refreshed: str, due: float) -> None:
    """With the backoff of what failed, and not at once because they have been due for long."""
    wanted = resource(status={"refreshTime": refreshed or None})
    away = Unavailable("no answer")
    found = reported(wanted, from_cache(Plan(verdict=SYNCED), 3 * 3600.0, away))
    assert found.status is not None
    text = "secret synced, from the cache, 3h old: no answer"
    assert found.status["conditions"] == (condition("True", "SecretSynced", text),)
    assert found.status.get("refreshTime", "") == refreshed
    assert "syncedResourceVersion" not in found.status
    assert (found.failure, found.last_error, found.next_due) == (away, None, due)


def test_what_the_provider_did_not_have_is_an_event() -> None:
    found = reported(resource(), Plan(verdict=SYNCED, missing=("spec.data[0]",)))
    message = "secret does not exist at provider using spec.data[0]"
    assert found.events == (Event("MissingProviderSecret", message),)


@pytest.mark.parametrize(
    ("interval", "error", "due", "last_error", "text"),
    [
        pytest.param(
            "10m",
            DENIED,
            NOW + 600,
            LastError(NOW, "no", "renew the token"),
            "no (renew the token)",
            id="a failure is retried, at the interval at the latest",
        ),
        pytest.param(
            "0s",
            DENIED,
            None,
            LastError(NOW, "no", "renew the token"),
            "no (renew the token)",
            id="or by backoff alone",
        ),
        pytest.param(
            "10m",
            REFUSAL,
            None,
            LastError(NOW, "its owner is y", "rename it"),
            "its owner is y (rename it)",
            id="a refusal waits for a change",
        ),
    ],
)
def test_a_failure(
    interval: str, error: Exception, due: float | None, last_error: LastError, text: str
) -> None:
    wanted = resource(refreshInterval=interval)
    verdict = Verdict(ok=False, reason="SecretSyncedError", message="could not", error=error)
    assert reported(wanted, Plan(verdict=verdict, origins={"a": "x"}, missing=("y",))) == Report(
        status={
            "conditions": (condition("False", "SecretSyncedError", f"could not: {text.partition(' (')[0]}"),),
            "binding": {"name": ""},
        },
        events=(Event("UpdateFailed", f"could not: {text}", warning=True),),
        last_error=last_error,
        failure=None if error is REFUSAL else error,
        next_due=due,
    )


def test_a_failure_keeps_what_the_last_sync_said() -> None:
    synced = {
        "refreshTime": "2025-12-31T23:00:00Z",
        "syncedResourceVersion": "1-a",
        "conditions": (condition("True", "SecretSynced", "secret synced", "2025-12-31T23:00:00Z"),),
        "binding": {"name": "x"},
    }
    verdict = Verdict(ok=False, reason="SecretSyncedError", message="could not", error=DENIED)
    found = reported(resource(status=synced), Plan(verdict=verdict))
    failed = (condition("False", "SecretSyncedError", "could not: no"),)
    assert found.status == synced | {"conditions": failed}


def test_a_status_that_says_so_already_is_not_written() -> None:
    failed = {"conditions": (condition("False", "SecretSyncedError", "could not: no"),)}
    verdict = Verdict(ok=False, reason="SecretSyncedError", message="could not", error=DENIED)
    found = reported(resource(status=failed), Plan(verdict=verdict), now=NOW + 60)
    assert found.status is None
    assert found.last_error == LastError(NOW + 60, "no", "renew the token")


def test_a_write_that_the_home_refused_has_words_of_its_own() -> None:
    refused = Verdict(ok=False, reason="SecretSyncedError", message="could not update secret", bound="x")
    update = Action(
        verb=Verb.UPDATE, ref=ObjectRef("", "Secret", "default", "x"), document={}, before={}, refused=refused
    )
    found = reported(resource(), Plan(verdict=SYNCED, actions=(update,)), update, DENIED)
    assert found.status is not None
    message = "could not update secret: no"
    assert found.status["conditions"] == (condition("False", "SecretSyncedError", message),)
    assert found.status["binding"] == {"name": "x"}
    assert "refreshTime" not in found.status
    assert found.failure is DENIED
