"""Sequences of numbers: until, untilStep, seq."""

from typing import Final

from syncret.daemon.core.templating.functions.contract import Context, FunctionTable, table
from syncret.daemon.core.templating.values import TypedList, ints, wrapped

_NUMBER_SIZE: Final = 40
"""About what one number of a list takes."""

_MOST_PARAMETERS: Final = 3


def until(context: Context, count: int) -> TypedList:
    return until_step(context, 0, count, -1 if count < 0 else 1)


def until_step(context: Context, start: int, stop: int, step: int) -> TypedList:
    return ints(_row(context, start, stop, step))


def _row(context: Context, start: int, stop: int, step: int) -> range:
    if step == 0 or (step > 0) != (stop >= start):
        return range(0)
    row = range(start, stop, step)
    context.budget.allocate(((stop - start) // step + 1) * _NUMBER_SIZE)
    return row


def seq(context: Context, *parameters: int) -> str:
    """Both ends are part of it: END, or START END, or START STEP END."""
    if not 1 <= len(parameters) <= _MOST_PARAMETERS:
        return ""
    end = parameters[-1]
    start = parameters[0] if len(parameters) > 1 else 1
    direction = -1 if end < start else 1
    step = parameters[1] if len(parameters) == _MOST_PARAMETERS else direction
    if direction < 0 < step:
        return ""
    return " ".join(map(str, _row(context, start, wrapped(end + direction), step)))


FUNCTIONS: Final[FunctionTable] = table({"seq": seq, "until": until, "untilStep": until_step})
