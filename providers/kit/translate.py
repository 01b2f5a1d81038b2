"""Translates the exceptions of an SDK or the network into ours, by a table."""

from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager
from copy import copy
from typing import TypeAlias, TypeVar

from syncret.providers.errors import SyncError

T = TypeVar("T")

Translation: TypeAlias = Callable[..., SyncError]
"""The class to raise, or a function of the error if that depends on a status or Retry-After."""


@contextmanager
def translated(
    table: Mapping[type[BaseException], Translation], *, doing: str = "the call to the secret manager"
) -> Generator[None, None, None]:
    """Translate exceptions inside the block; the nearest base class counts, unlisted exceptions pass.

    The message has the action and the class of the original, never its text, which may quote a body or a
    value. For the same reason the original is not chained.
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
    """The result of the call; exceptions are translated, and the original is not even the context.

    For SDKs whose exceptions contain the whole response of the server, or whose frames keep their exceptions
    in a cycle: what is raised is kept by none of them.
    """
    try:
        return await call
    except SyncError as error:
        failure = copy(error)
    except tuple(table) as error:
        failure = _translate(error, table, doing)
    try:
        raise failure
    finally:
        del failure  # it would keep this frame, and all that it passes through


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
