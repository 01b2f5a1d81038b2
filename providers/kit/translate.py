"""Turns the errors of an SDK or of the network into ours, by a table, at the edge where they arise."""

from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager
from typing import TypeAlias, TypeVar

from syncret.providers.errors import SyncError

T = TypeVar("T")

Translation: TypeAlias = Callable[..., SyncError]
"""The class to raise, or a function of the error for what a class cannot say (a status, Retry-After)."""


@contextmanager
def translated(
    table: Mapping[type[BaseException], Translation], *, doing: str = "the call to the secret manager"
) -> Generator[None, None, None]:
    """Raise the table's error for what happens inside; the nearest class counts, what is not listed passes.

    The message says what was done and the original's class. Never its text: that may quote a body or a value,
    and for the same reason the original is not chained.
    """
    try:
        yield
    except SyncError:
        raise
    except tuple(table) as error:
        raise _translate(error, table, doing) from None


async def call_translated(
    call: Awaitable[T], table: Mapping[type[BaseException], Translation], *, doing: str
) -> T:
    """What the call gives; its error is told by the table, and the original is not even its context.

    For SDKs whose errors carry the whole answer of the server.
    """
    try:
        return await call
    except SyncError:
        raise
    except tuple(table) as error:
        failure = _translate(error, table, doing)
    raise failure


def _translate(
    error: BaseException, table: Mapping[type[BaseException], Translation], doing: str
) -> SyncError:
    translation = next(table[cls] for cls in type(error).__mro__ if cls in table)
    if not isinstance(translation, type):
        raised: SyncError = translation(error)
    elif isinstance(error, TimeoutError):
        raised = translation(f"{doing} had no answer in time")
    else:
        raised = translation(f"{doing} failed: {type(error).__name__}")
    return raised
