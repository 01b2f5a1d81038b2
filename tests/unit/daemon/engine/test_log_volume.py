"""How much a daemon logs of what fails for long: once, then less and less, and once when it is over."""

from collections.abc import Callable, MutableMapping, Sequence
from typing import Any, cast

import pytest
from structlog.testing import capture_logs

from syncret.config.meta import Document
from syncret.daemon.app import EngineOverrides, run_engine
from syncret.daemon.engine.clock import Clock
from syncret.daemon.homes.contract import Home
from syncret.daemon.ops.logs.events import EngineLogger, EventLogger
from syncret.daemon.ops.logs.repeats import Repeats
from syncret.providers.errors import Denied, SyncError, Unavailable
from tests.unit.daemon.engine.life import Life, store, wanting
from tests.unit.daemon.engine.support import settings

PROBLEM = "vault:8200 refuses connections"
AWAY = Unavailable(f"reading a: {PROBLEM}", hint="is it up?", problem=PROBLEM)

Lines = Sequence[MutableMapping[str, Any]]


class Always(list[Exception]):
    """Every call ends with this error."""

    def pop(self, index: object = 0) -> Exception:
        del index
        return self[0]


async def logged(life: Life, documents: Sequence[Document], *steps: Callable[[], float]) -> Lines:
    """What is logged at info and above; each step does something, and says for how long to wait then."""
    repeats = Repeats(life.clock.now)
    hooks = EngineOverrides(observer=EngineLogger(repeats), events=EventLogger(repeats))
    running = run_engine(
        cast("Home", life.target),
        registry=life.registry,
        settings=settings(spread=True, call_attempts=3),
        clock=life.clock,
        hooks=hooks,
    )
    with capture_logs() as lines:
        async with running as life.controllers:
            await life.apply(store(), *documents)
            for step in steps:
                await life.wait(step())
    return [line for line in lines if line["log_level"] != "debug"]


def failing(life: Life, error: SyncError, seconds: float) -> Callable[[], float]:
    def begin() -> float:
        life.manager.errors = Always([error])
        return seconds

    return begin


def mended(life: Life, seconds: float) -> Callable[[], float]:
    def begin() -> float:
        life.manager.errors = []
        return seconds

    return begin


def wants(count: int, interval: str, key: str = "k") -> list[Document]:
    return [wanting(f"x{number}", key=key, refreshInterval=interval) for number in range(count)]


async def test_two_hundred_objects_of_an_hour_whose_keys_are_missing(clock: Clock) -> None:
    life = Life(clock)
    lines = await logged(life, wants(200, "1h", key="missing"), lambda: 57.0)
    assert 200 <= len(lines) <= 220


async def test_twelve_objects_of_ten_seconds_whose_keys_are_missing(clock: Clock) -> None:
    """Each is logged at once, and after one, three and seven minutes."""
    life = Life(clock)
    lines = await logged(life, wants(12, "10s", key="missing"), lambda: 360.0)
    warnings = [line for line in lines if line["log_level"] == "warning"]
    assert len(warnings) == 12 * 3
    assert len(lines) <= 60
    assert warnings[-1]["times"] > 10


@pytest.mark.parametrize(
    "error", [pytest.param(AWAY, id="no answer"), pytest.param(Denied("permission denied"), id="refused")]
)
async def test_two_hundred_objects_whose_store_fails(clock: Clock, error: SyncError) -> None:
    """Those that call it and those that the circuit breaker holds back say the same."""
    life = Life(clock)
    lines = await logged(life, wants(200, "10s"), lambda: 30.0, failing(life, error, 57.0))
    warnings = [line for line in lines if line["log_level"] == "warning"]
    assert len(warnings) <= 201 + (200 if error is not AWAY else 0)
    of_store = [line for line in warnings if line["object"].kind == "SecretStore"]
    assert len(of_store) <= 1
    assert len(lines) - 200 <= 220  # two hundred are of objects that were created


async def test_the_end_is_logged_once_for_each(clock: Clock) -> None:
    life = Life(clock)
    lines = await logged(
        life, wants(12, "10s"), lambda: 30.0, failing(life, AWAY, 300.0), mended(life, 600.0)
    )
    over = [line["object"].name for line in lines if line["event"] == "the object is in order again"]
    assert sorted(over) == sorted(["s", *(f"x{number}" for number in range(12))])


async def test_one_bad_store_is_one_line(clock: Clock) -> None:
    life = Life(clock)
    life.manager.open_errors = Always([Denied("the login is refused")])
    lines = await logged(life, (), lambda: 0.3)
    assert [(line["event"], line["object"].name) for line in lines if "object" in line] == [
        ("unable to create client: the login is refused", "s")
    ]
