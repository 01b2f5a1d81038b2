"""News of the engine as log lines: what is said at which level, and that nothing said is a value."""

from collections.abc import Callable

import pytest
from structlog.testing import capture_logs

from syncret.config.meta import ObjectRef
from syncret.daemon.engine.observer import Call, Run
from syncret.daemon.homes.contract import StorageUnavailable
from syncret.daemon.ops.event_log import EngineLogger, EventLogger
from syncret.providers.contract import PushItem, SecretBytes
from syncret.providers.errors import Denied, Unavailable
from syncret.providers.kit.retry import Retry

CANARY = "hunter2-canary"
REF = ObjectRef("external-secrets.io", "ExternalSecret", "default", "database")
STORE = ObjectRef("external-secrets.io", "SecretStore", "default", "demo")
CALL = Call(
    store=STORE,
    provider="fake",
    namespace="default",
    operation="push",
    item=PushItem("key", "", SecretBytes(CANARY.encode()), source={"data": CANARY}),
    seconds=0.1,
)
RUN = Run(ref=REF, lane="", waited=0.0, seconds=0.1, failure=Denied("no"), failures=1, next_due=None)


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
    "not-opened": (lambda told: told.opened(STORE, Denied("no")), "warning"),
    "closed": (lambda told: told.closed(STORE, ""), "debug"),
    "clock": (lambda told: told.clock_jumped(-3600.0), "warning"),
}


@pytest.mark.parametrize(("news", "level"), NEWS.values(), ids=NEWS)
def test_each_piece_of_news_is_one_line(news: Callable[[EngineLogger], None], level: str) -> None:
    with capture_logs() as lines:
        news(EngineLogger())
    assert [line["log_level"] for line in lines] == [level]
    assert CANARY not in str(lines)


def test_events_carry_their_object_and_reason() -> None:
    with capture_logs() as lines:
        EventLogger().event(REF, warning=True, reason="UpdateFailed", message="could not update secret")
        EventLogger().event(REF, warning=False, reason="Created", message="Secret created")
    assert [(line["log_level"], line["event"], line["reason"], line["object"]) for line in lines] == [
        ("warning", "could not update secret", "UpdateFailed", REF),
        ("info", "Secret created", "Created", REF),
    ]
