"""Runs the cases of a suite: each in an event loop of its own, in which the harness and a client are opened.

pytest needs no plugin for that, and one that is installed has nothing to do: to pytest a case is a function.
"""

import asyncio
import inspect
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import wraps
from typing import Any, Final, TypeAlias

import pytest

from syncret.providers.contract import Client
from syncret.providers.testing.harness import Ability, Harness

Opening: TypeAlias = Harness | AbstractAsyncContextManager[Harness]
"""What the fixture `harness` returns: a harness, or how to open one in the loop of the case."""

_SECONDS_TO_CLOSE: Final = 5.0


def needs(harness: Harness, *abilities: Ability) -> None:
    """Skip where the provider is documented to lack one of these."""
    for ability in abilities:
        if ability in harness.lacks:
            assert harness.lacks[ability], f"{ability} is lacking without a reason"
            pytest.skip(f"lacks {ability}: {harness.lacks[ability]}")


class AsyncCases:
    """A class whose `async def test_...` may ask for the fixture `harness`, and for a `client` of it."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for name, case in list(vars(cls).items()):
            if name.startswith("test_") and inspect.iscoroutinefunction(case):
                setattr(cls, name, _in_a_loop(case))


def _in_a_loop(case: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    parameters = dict(inspect.signature(case).parameters)
    wants_client = parameters.pop("client", None) is not None

    @wraps(case)
    def run(self: AsyncCases, **fixtures: Any) -> None:  # noqa: ANN401  # whatever the case asks for
        asyncio.run(_run(case, self, fixtures, wants_client=wants_client))

    del run.__dict__["__wrapped__"]  # pytest would ask for the client
    run.__dict__["__signature__"] = inspect.Signature(list(parameters.values()))
    return run


async def _run(
    case: Callable[..., Coroutine[Any, Any, None]],
    suite: AsyncCases,
    fixtures: dict[str, Any],
    *,
    wants_client: bool,
) -> None:
    async with AsyncExitStack() as stack:
        opening: Opening | None = fixtures.get("harness")
        if isinstance(opening, AbstractAsyncContextManager):
            fixtures["harness"] = await stack.enter_async_context(opening)
        if wants_client:
            fixtures["client"] = await stack.enter_async_context(_client(fixtures["harness"]))
        await case(suite, **fixtures)


@asynccontextmanager
async def _client(harness: Harness) -> AsyncGenerator[Client, None]:
    before = asyncio.all_tasks()
    async with harness.open() as client:
        yield client
    left = {task for task in asyncio.all_tasks() - before if task is not asyncio.current_task()}
    if left:  # a server within the case takes a moment to see that no client is connected any more
        _, left = await asyncio.wait(left, timeout=_SECONDS_TO_CLOSE)
    assert not {task.get_name() for task in left}, "a closed client leaves no task behind"
