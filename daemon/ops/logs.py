"""Logs by structlog: a console for people, one JSON object a line for machines, both on stderr."""

import logging
import sys
from typing import Any, Final, TextIO

import structlog
from structlog.typing import EventDict, WrappedLogger

from syncret.config.meta import ObjectRef
from syncret.providers.contract import SecretBytes

LEVELS: Final = {"debug": 10, "info": 20, "warning": 30, "error": 40}


def configure(level: str = "info", form: str = "auto", stream: TextIO | None = None) -> None:
    """Set up logging for the whole process; `form` auto means console on a terminal, JSON elsewhere."""
    out = stream or sys.stderr
    console = form == "console" or (form == "auto" and out.isatty())
    processors: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        plain_values,
    ]
    if console:
        processors.append(structlog.dev.ConsoleRenderer(colors=out.isatty(), exception_formatter=structlog.dev.plain_traceback))
    else:
        processors += [short_traceback, structlog.processors.JSONRenderer()]
    structlog.configure(
        processors=processors,
        wrapper_class=structlog.make_filtering_bound_logger(LEVELS[level]),
        logger_factory=structlog.WriteLoggerFactory(out),
        cache_logger_on_first_use=False,
    )
    logging.basicConfig(level=max(LEVELS[level], logging.WARNING), stream=out, force=True)


def plain_values(logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
    """References as text; a secret value that got here by mistake stays hidden, whatever the renderer."""
    del logger, method
    for key, value in event.items():
        if isinstance(value, ObjectRef | SecretBytes):
            event[key] = str(value)
        elif isinstance(value, bytes | bytearray):
            event[key] = f"<{len(value)} bytes>"
    return event


def short_traceback(logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
    """Where a bug happened, as `file:line function` from the outermost call; never a local variable."""
    del logger, method
    error = event.pop("exc_info", None)
    if isinstance(error, BaseException):
        places = []
        trace = error.__traceback__
        while trace is not None:
            code = trace.tb_frame.f_code
            places.append(f"{code.co_filename.rpartition('/')[2]}:{trace.tb_lineno} {code.co_name}")
            trace = trace.tb_next
        event["error"] = type(error).__name__
        event["at"] = places
    return event
