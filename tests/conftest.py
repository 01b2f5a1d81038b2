"""For the whole run: what was collected stays, so the garbage collector has no work with it."""

import gc

import pytest


def pytest_configure() -> None:
    gc.disable()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Each of ten thousand items would be looked at again and again: a fifth of the run's time."""
    del session
    gc.freeze()
    gc.set_threshold(20_000, 20, 10)
    gc.enable()
