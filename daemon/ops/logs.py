"""Logs by structlog: a console for people, one JSON object a line for machines, both on stderr.

What is logged is made plain first: texts, numbers, names of objects. Whatever else gets here by mistake is
told by its type alone, and of an error that is not ours only the class and the places it passed: its text may
quote a value.
"""

import asyncio
import logging
import os
import sys
from collections.abc import Iterable
from functools import partial
from pathlib import PurePath
from traceback import walk_tb
from types import TracebackType
from typing import Any, Final, TextIO, cast

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from syncret.config.errors import ConfigError, Problem
from syncret.config.fields import Json
from syncret.config.meta import GroupKind, ObjectRef
from syncret.config.visible import printable
from syncret.daemon.homes.contract import HomeError
from syncret.providers.errors import SyncError

LEVELS: Final = {"debug": 10, "info": 20, "warning": 30, "error": 40}
PRINTABLE: Final = (ObjectRef, GroupKind, SyncError, HomeError, ConfigError, Problem, PurePath)
"""Types whose text is ours: it names keys and places, never values."""


def configure(level: str = "info", form: str = "auto", stream: TextIO | None = None) -> None:
    """Set up logging for the whole process; `form` auto means console on a terminal, JSON elsewhere.

    The console has colours on a terminal that can show them, unless NO_COLOR is set.
    """
    out = stream or sys.stderr
    terminal = out.isatty()
    renderer: Any
    if form == "console" or (form == "auto" and terminal):
        plain_terminal = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
        console = structlog.dev.ConsoleRenderer(colors=terminal and not plain_terminal)
        renderer = partial(_for_people, console)
    else:
        renderer = structlog.processors.JSONRenderer()
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            plain_errors,
            plain_values,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(LEVELS[level]),
        logger_factory=structlog.WriteLoggerFactory(out),
        cache_logger_on_first_use=False,
    )
    logging.basicConfig(level=max(LEVELS[level], logging.WARNING), handlers=[_Forward()], force=True)


def _for_people(console: Processor, logger: WrappedLogger, method: str, event: EventDict) -> Any:  # noqa: ANN401  # as structlog has it
    """A line of the console; in JSON, what steers a terminal is escaped anyway."""
    shown = {key: printable(value) if isinstance(value, str) else value for key, value in event.items()}
    return console(logger, method, shown)


def plain_errors(logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
    """`exc_info` as the class of the error and the places it passed, from the outermost call."""
    del logger, method
    error: object = event.pop("exc_info", None)
    if error is True:
        error = sys.exc_info()[1]
    if isinstance(error, BaseException):
        event["error"] = error if isinstance(error, PRINTABLE) else type(error).__name__
        event["at"] = places(error.__traceback__)
    return event


def plain_values(logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
    """Every value made plain, whatever the renderer would have made of it."""
    del logger, method
    return {key: plain(value) for key, value in event.items()}


def plain(value: object) -> Json:
    """A value that JSON has: names and our own errors as text, what is unknown as its type."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, PRINTABLE):
        return str(value)
    if isinstance(value, bytes | bytearray):
        return f"<{len(value)} bytes>"
    if isinstance(value, dict):
        pairs = cast("dict[object, object]", value)
        return {str(plain(key)): plain(inner) for key, inner in pairs.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(inner) for inner in cast("Iterable[object]", value)]
    return f"<{type(value).__name__}>"


def places(trace: TracebackType | None) -> list[str]:
    """Where an error passed, as `file:line in function`; never a local variable or a line of code."""
    return [
        f"{PurePath(frame.f_code.co_filename).name}:{line} in {frame.f_code.co_name}"
        for frame, line in walk_tb(trace)
    ]


def on_loop_error(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """For `loop.set_exception_handler`: tells of an error nobody took. asyncio would print its text."""
    del loop
    what, _, _ = str(context.get("message", "")).partition("(")  # what follows are arguments
    structlog.get_logger().error("error in the event loop", said=what, exc_info=context.get("exception"))


class _Forward(logging.Handler):
    """What libraries log. Their messages are told without arguments, which could be anything."""

    def emit(self, record: logging.LogRecord) -> None:
        level = next((name for name, number in reversed(LEVELS.items()) if record.levelno >= number), "debug")
        said = record.msg if isinstance(record.msg, str) else f"<{type(record.msg).__name__}>"
        log = getattr(structlog.get_logger(), level)
        log(said, library=record.name, exc_info=record.exc_info[1] if record.exc_info else None)
