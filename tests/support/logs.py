"""Logging is set up for the whole process: a test that does so leaves it as it was."""

import logging
from collections.abc import Generator
from contextlib import contextmanager

import structlog


@contextmanager
def logging_restored() -> Generator[None, None, None]:
    """Undo at the end what the block sets up."""
    handlers = logging.root.handlers[:]
    level = logging.root.level
    yield
    structlog.reset_defaults()
    logging.root.handlers[:] = handlers
    logging.root.setLevel(level)
