"""For every run: a collector and a watch for hangs that cost little, and no limits of time."""

import faulthandler
import gc
import os
import signal
import time
from collections.abc import Generator
from typing import Final

import pytest
from hypothesis import HealthCheck, settings

HANGS: Final = 60.0
"""Seconds after which a test is taken to hang, where the command line has no `faulthandler_timeout`."""

_STDERR: Final = pytest.StashKey[int]()
_WATCHED: Final = pytest.StashKey[float]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_STDERR] = os.dup(2)  # before it is captured
    gc.disable()
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        if signal.getsignal(number) is signal.SIG_IGN:
            # By nohup, or as a script's background job. Programs that tests start would ignore it, too; a
            # handler is not handed on to them.
            signal.signal(number, lambda _number, _frame: None)
    # Hypothesis would fail a test for the time that it takes, which on a busy machine says nothing.
    settings.register_profile("tests", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("tests")


def pytest_collection_finish() -> None:
    """Leave alone what was collected: to look at it again and again was a fifth of the run."""
    gc.freeze()
    gc.set_threshold(5_000, 10, 10)
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Print where it hangs, a minute or two after; pytest's own watch makes a thread for each test."""
    config, now = item.config, time.monotonic()
    if (
        not float(config.getini("faulthandler_timeout") or 0)
        and now > config.stash.get(_WATCHED, 0.0) + HANGS
    ):
        config.stash[_WATCHED] = now
        faulthandler.dump_traceback_later(2 * HANGS, file=config.stash[_STDERR])
    return (yield)


def pytest_unconfigure(config: pytest.Config) -> None:
    if _WATCHED in config.stash:
        faulthandler.cancel_dump_traceback_later()
    os.close(config.stash[_STDERR])
