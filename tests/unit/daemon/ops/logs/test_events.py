"""News of the engine as log lines: what is said at which level, and that nothing said is a value."""

from collections.abc import Callable

import pytest
from structlog.testing import capture_logs

from syncret.config.meta import ObjectRef
from syncret.daemon.engine.observer import Call, Run
from syncret.daemon.homes.contract import StorageUnavailable
from syncret.daemon.ops.logs.events import FIRST_WARNINGS, EngineLogger, EventLogger
from syncret.daemon.ops.logs.repeats import Repeats
from syncret.providers.contract import Receiver
from syncret.providers.errors import Denied, Unavailable
from syncret.providers.kit.ambient.rules import Verdict
from syncret.providers.kit.retry import Retry
from syncret.providers.pushes import PushItem
from syncret.providers.values import SecretBytes

CANARY = "hunter2-canary"
REF = ObjectRef("external-secrets.io", "ExternalSecret", "default", "database")
STORE = ObjectRef("external-secrets.io", "SecretStore", "default", "demo")
CALL = Call(
    labels=("HashiCorp/Vault", "ReadSecretData"),
    store=STORE,
    provider="fake",
    namespace="default",
    operation="push",
    item=PushItem("key", "", SecretBytes(CANARY.encode()), source={"data": CANARY}),
    seconds=0.1,
)
RUN = Run(ref=REF, lane="", waited=0.0, seconds=0.1, failure=Denied("no"), failures=1, next_due=None)


UNLISTED = Verdict(Receiver("vault", f"https://vault.example/{CANARY}", "a token"), allowed=True)


NEWS: dict[str, tuple[Callable[[EngineLogger], None], str]] = {
    "run": (lambda told: told.ran(RUN), "debug"),
    "call": (lambda told: told.called(CALL), "debug"),
    "bug": (lambda told: told.bug(REF, "KeyError", ("a.py:1 in f",)), "error"),
    "failed": (lambda told: told.failed(REF, StorageUnavailable("the disk is full")), "warning"),
    "listed": (lambda told: told.listed(3), "info"),
    "first-pass": (lambda told: told.first_pass(0.5), "info"),
    "retry": (lambda told: told.retried(STORE, Retry(1, 0.2, Unavailable("gone"))), "info"),
    "throttled": (lambda told: told.throttled(STORE, 9.0), "warning"),
    "opened": (lambda told: told.opened(STORE, None), "debug"),
    "not-opened": (lambda told: told.opened(STORE, Denied("no")), "debug"),
    "closed": (lambda told: told.closed(STORE, ""), "debug"),
    "own-identity": (lambda told: told.sends_own_identity(STORE, UNLISTED), "info"),
    "clock": (lambda told: told.clock_jumped(-3600.0), "warning"),
}


@pytest.mark.parametrize(("news", "level"), NEWS.values(), ids=NEWS)
def test_each_piece_of_news_is_one_line(news: Callable[[EngineLogger], None], level: str) -> None:
    with capture_logs() as lines:
        news(EngineLogger())
    assert [line["log_level"] for line in lines] == [level]
    assert CANARY not in str(lines)


def run(failure: Denied | None) -> Run:
    return Run(ref=REF, lane="", waited=0.0, seconds=0.1, failure=failure, failures=1, next_due=None)


def test_a_failure_that_repeats_is_logged_once_and_its_end_once() -> None:
    repeats = Repeats()
    engine, events = EngineLogger(repeats), EventLogger(repeats)

    def fails(message: str) -> None:
        events.event(REF, warning=True, reason="UpdateFailed", message=message)
        engine.ran(run(Denied(message)))

    with capture_logs() as lines:
        for number in range(20):
            fails(f"no answer {number} times in a row")
        fails("permission denied")
        engine.ran(run(None))
        engine.ran(run(None))
        fails("permission denied")
    told = [(line["event"], line.get("warnings")) for line in lines if line["log_level"] != "debug"]
    assert told == [
        ("no answer 0 times in a row", None),
        ("permission denied", None),
        ("the object is in order again", 21),
        ("permission denied", None),
    ]


def test_a_warning_of_runs_that_succeed_is_no_failure_that_ends() -> None:
    repeats = Repeats()
    engine, events = EngineLogger(repeats), EventLogger(repeats)
    with capture_logs() as lines:
        for _ in range(5):
            events.event(REF, warning=True, reason="Odd", message="it is odd")
            engine.ran(run(None))
    assert [line["event"] for line in lines if line["log_level"] != "debug"] == ["it is odd"]


def test_what_a_store_does_again_and_again_is_logged_once() -> None:
    engine = EngineLogger()
    with capture_logs() as lines:
        for _ in range(5):
            engine.throttled(STORE, 9.0)
            engine.retried(STORE, Retry(1, 0.2, Unavailable("gone")))
            engine.bug(REF, "KeyError", ("a.py:1 in f",))
    assert [line["event"] for line in lines] == [
        "the secret manager asks for fewer calls",
        "no answer, trying again",
        "a reconcile ended with an unexpected error; please report it",
    ]


def test_an_object_that_is_gone_is_forgotten() -> None:
    engine = EngineLogger()
    with capture_logs() as lines:
        for _ in range(2):
            engine.failed(REF, StorageUnavailable("the disk is full"))
            engine.removed(REF)
    assert [line["event"] for line in lines] == ["a reconcile failed; it is tried again"] * 2


def test_events_carry_their_object_and_reason() -> None:
    with capture_logs() as lines:
        EventLogger().event(REF, warning=True, reason="UpdateFailed", message="could not update secret")
        EventLogger().event(REF, warning=False, reason="Created", message="Secret created")
        EventLogger().event(REF, warning=False, reason="Valid", message="store validated")
        EventLogger().event(REF, warning=True, reason="StoreUnmaintained", message="nobody maintains it")
    assert [(line["log_level"], line["event"], line["reason"], line["object"]) for line in lines] == [
        ("warning", "could not update secret", "UpdateFailed", REF),
        ("info", "Secret created", "Created", REF),
        ("debug", "store validated", "Valid", REF),
        ("debug", "nobody maintains it", "StoreUnmaintained", REF),
    ]


def test_before_a_summary_only_the_first_warnings_are_logged() -> None:
    brief = True
    events = EventLogger(is_brief=lambda: brief)
    refs = [REF._replace(name=f"app-{number}") for number in range(FIRST_WARNINGS + 2)]
    with capture_logs() as lines:
        for ref in refs:
            events.event(ref, warning=False, reason="Created", message="Secret created")
            events.event(ref, warning=True, reason="UpdateFailed", message="could not update secret")
        brief = False
        events.event(REF, warning=False, reason="Created", message="Secret created")
        events.event(REF, warning=True, reason="UpdateFailed", message="could not update secret")
    shown = [(line["log_level"], line["object"].name) for line in lines if line["log_level"] != "debug"]
    assert shown == [
        *(("warning", ref.name) for ref in refs[:FIRST_WARNINGS]),
        ("info", REF.name),
        ("warning", REF.name),
    ]


def test_a_warning_names_file_and_line_of_the_manifest() -> None:
    with capture_logs() as lines:
        EventLogger(manifest_of=lambda _: "app.yaml:6").event(REF, warning=True, reason="R", message="m")

    assert [line["manifest"] for line in lines] == ["app.yaml:6"]
