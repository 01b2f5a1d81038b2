"""Configures logging (structlog, on stderr): console lines for people, one JSON object a line for machines.

Every value is converted first: texts, numbers and names of objects are logged as they are, anything else only
by its type. Of an exception that is not ours only the class and the code locations are logged: its text may
quote a secret value.
"""

import asyncio
import logging
import sys
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import PurePath
from time import time_ns
from traceback import walk_tb
from types import TracebackType
from typing import Any, Final, TextIO, cast

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from syncret.config.errors import ConfigError, Problem
from syncret.config.fields import Json
from syncret.config.meta import GroupKind, ObjectRef
from syncret.config.visible import has_colours, printable
from syncret.daemon.homes.contract import HomeError
from syncret.daemon.ops.logs.repeats import Repeats, counted
from syncret.providers.errors import SyncError

LEVELS: Final = {"debug": 10, "info": 20, "warning": 30, "error": 40}
PRINTABLE: Final = (ObjectRef, GroupKind, SyncError, HomeError, ConfigError, Problem, PurePath)
"""Types whose text may be logged: it names keys and places, never values."""


_repeats = Repeats()
"""Of errors of the event loop and of libraries, which may come from any part of the process."""


def configure(
    level: str = "info",
    form: str = "auto",
    stream: TextIO | None = None,
    before: Callable[[], None] | None = None,
    time: str = "rfc3339nano",
) -> None:
    """Set up logging for the whole process; `form` auto means console on a terminal, JSON elsewhere.

    The console has colours on a terminal that can show them, unless NO_COLOR is set. `before` is called ahead
    of each line: a progress line has to make way.
    """
    _repeats.clear()
    out = stream or sys.stderr
    terminal = out.isatty()
    renderer: Any
    if form == "console" or (form == "auto" and terminal):
        console = structlog.dev.ConsoleRenderer(colors=has_colours(out))
        renderer = partial(_for_people, console)
    else:
        renderer = structlog.processors.JSONRenderer()
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            _stamped(time),
            plain_errors,
            plain_values,
            *([] if before is None else [partial(_after, before)]),
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(LEVELS[level]),
        logger_factory=structlog.WriteLoggerFactory(out),
        cache_logger_on_first_use=False,
    )
    logging.basicConfig(level=max(LEVELS[level], logging.WARNING), handlers=[_Forward()], force=True)


def _stamped(form: str) -> Processor:
    """Adds the time, in one of the forms of zap, the logger of most controllers."""
    if form == "rfc3339nano":
        return structlog.processors.TimeStamper(fmt="iso", utc=True)
    if form == "epoch":
        return structlog.processors.TimeStamper()
    form_of = _TIMES[form]

    def stamp(logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
        del logger, method
        event["timestamp"] = form_of(time_ns())
        return event

    return stamp


def _date(nanoseconds: int, precision: str) -> str:
    moment = datetime.fromtimestamp(nanoseconds // 1_000_000 / 1000, UTC)
    return moment.isoformat(timespec=precision).replace("+00:00", "Z")


_TIMES: Final[Mapping[str, Callable[[int], Json]]] = {
    "millis": lambda now: now / 1_000_000,
    "nano": lambda now: now,
    "iso8601": lambda now: _date(now, "milliseconds"),
    "rfc3339": lambda now: _date(now, "seconds"),
}


def _after(act: Callable[[], None], logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
    del logger, method
    act()
    return event


def _for_people(console: Processor, logger: WrappedLogger, method: str, event: EventDict) -> Any:  # noqa: ANN401  # as structlog has it
    """A console line without control characters of terminals; JSON escapes them anyway."""
    shown = {key: printable(value) if isinstance(value, str) else value for key, value in event.items()}
    return console(logger, method, shown)


def plain_errors(logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
    """Replaces `exc_info` by the class of the error and its code locations, outermost call first."""
    del logger, method
    error: object = event.pop("exc_info", None)
    if error is True:
        error = sys.exc_info()[1]
    if isinstance(error, BaseException):
        event["error"] = error if isinstance(error, PRINTABLE) else type(error).__name__
        event["at"] = places(error.__traceback__)
    return event


def plain_values(logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
    """Converts every value, so that no renderer prints what `plain` would not."""
    del logger, method
    return {key: plain(value) for key, value in event.items()}


def plain(value: object) -> Json:
    """The value as JSON: names and our own errors as text, an unknown object as its type."""
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
    """The traceback as `file:line in function`, without local variables or lines of code."""
    return [
        f"{PurePath(frame.f_code.co_filename).name}:{line} in {frame.f_code.co_name}"
        for frame, line in walk_tb(trace)
    ]


def on_loop_error(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """For `loop.set_exception_handler`: logs an unhandled error, without its text (asyncio logs that)."""
    del loop
    what, _, _ = str(context.get("message", "")).partition("(")  # what follows are arguments
    error: BaseException | None = context.get("exception")
    times = _repeats.occurred("event loop", f"{what} {_kind(error)}")
    if times:
        log = structlog.get_logger()
        log.error("error in the event loop", said=what, exc_info=error, **counted(times))


def _kind(error: BaseException | None) -> str:
    """What identifies an error: its class, and where it was raised."""
    if error is None:
        return ""
    return " ".join([type(error).__name__, *places(error.__traceback__)[-1:]])


class _Forward(logging.Handler):
    """Forwards what libraries log, without the arguments of the message, which could be secret."""

    def emit(self, record: logging.LogRecord) -> None:
        level = next((name for name, number in reversed(LEVELS.items()) if record.levelno >= number), "debug")
        said = record.msg if isinstance(record.msg, str) else f"<{type(record.msg).__name__}>"
        error = record.exc_info[1] if record.exc_info else None
        times = _repeats.occurred(record.name, f"{said} {_kind(error)}")
        if times:
            log = getattr(structlog.get_logger(), level)
            log(said, library=record.name, exc_info=error, **counted(times))
