"""Keeps one client open: opened for the first caller, shared by all, closed by the task that opened it."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Any, Final, TypeAlias

from syncret.daemon.engine.sessions.calls import CallEnvironment
from syncret.daemon.engine.sessions.tasks import within
from syncret.providers.answer_memory import Share, call_share
from syncret.providers.contract import Client
from syncret.providers.errors import Unavailable

CLOSE_WITHIN: Final = 5.0
"""Seconds for closing a client: revoking a token must not hold up a stop."""

Open: TypeAlias = Callable[[], AbstractAsyncContextManager[Client]]


class SharedClient:
    """One client, and how many callers use it.

    It is closed when it is retired and its last user has left, or when it was unused for long. Opening and
    closing happen in one task of its own: a context manager may hold what belongs to a task, and a caller
    that is cancelled while the client is being opened does not cancel the opening for the others.
    """

    def __init__(
        self,
        open_client: Open,
        around: CallEnvironment,
        *,
        name: str,
        on_open: Callable[[Exception | None], None],
        on_close: Callable[[str], None],
    ) -> None:
        self._open_client = open_client
        self._name = name
        self._around = around
        self._on_open = on_open
        self._on_close = on_close
        self._loop = asyncio.get_running_loop()
        self._ready: asyncio.Future[Client] = self._loop.create_future()
        self._users = 0
        self._left = self._loop.time()
        self._stirred: asyncio.Future[None] = self._loop.create_future()
        """Done when the last user left or the client was retired: it may have to be closed."""
        self.retired = False
        self._is_entered = False
        self._task = around.clients.start(self._live(), name=f"client {name}")

    @property
    def opened(self) -> bool:
        """Whether there is a client now."""
        return self._ready.done() and self._ready.exception() is None and not self._task.done()

    async def _client(self) -> Client:
        """The client, once it is open."""
        if not self._ready.done():
            either: set[asyncio.Future[Any]] = {self._ready, self._task}
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if self._ready.done() and (self._ready.exception() is not None or not self._task.done()):
            return self._ready.result()
        raise Unavailable("the client was closed in the meantime")

    async def __aenter__(self) -> Client:
        """The client, kept open until the block is left. Raises what opening raised."""
        self._users += 1
        try:
            return await self._client()
        except BaseException:  # the caller does not use it then; raised again
            self._leave()
            raise

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leave()

    def _leave(self) -> None:
        self._users -= 1
        self._left = self._loop.time()
        if not self._users:
            self._stir()

    def close_when_unused(self) -> None:
        """Take no more callers; the client is closed when the last one has left."""
        self.retired = True
        self._stir()

    async def _live(self) -> None:
        opening: AbstractAsyncContextManager[Client] | None = None
        try:
            opening = self._open_client()
            client = await self._opened(opening)
            self._ready.set_result(client)
            self._on_open(None)
            await self._until_unused()
        except asyncio.CancelledError:
            if not self._ready.done():
                self._fail(Unavailable("the daemon is stopping"))
            raise
        except Exception as error:  # noqa: BLE001  # raised again at each caller that waits for the client
            self._fail(error)
        finally:
            self.retired = True
            if opening is not None and self._is_entered:
                await self._close(opening)

    async def _opened(self, opening: AbstractAsyncContextManager[Client]) -> Client:
        limit = self._around.settings.call_timeout
        problem = f"the secret manager could not be connected to within {limit:g} s"
        late = Unavailable(problem, problem=problem)
        share = Share(self._around.network.answers, self._name)
        token = call_share.set(share)
        try:
            turn = self._around.network.connections.turn(self._name)
            async with turn, within(limit, late) as share.timer:
                client = await opening.__aenter__()
                self._is_entered = True
                return client
        except Unavailable as error:
            if error is late and share.server:
                problem = f"{share.server} could not be connected to within {limit:g} s"
                raise Unavailable(problem, problem=problem) from None
            raise
        finally:
            share.ended, share.timer = True, None
            share.release()
            call_share.reset(token)

    async def _until_unused(self) -> None:
        idle = self._around.settings.idle_close
        while not (self.retired and not self._users):
            wait: float | None = None
            if not (self.retired or self._users):
                wait = self._left + idle - self._loop.time()
                if wait <= 0:
                    return
            self._stirred = self._loop.create_future()
            timer = None if wait is None else self._loop.call_later(wait, self._stir)
            try:
                await self._stirred
            finally:
                if timer is not None:
                    timer.cancel()

    def _stir(self) -> None:
        if not self._stirred.done():
            self._stirred.set_result(None)

    async def _close(self, opened: AbstractAsyncContextManager[Client]) -> None:
        failed = ""
        try:
            async with asyncio.timeout(CLOSE_WITHIN):
                await opened.__aexit__(None, None, None)
        except Exception as error:  # noqa: BLE001  # a client that does not close is reported, and no reason to stop
            failed = type(error).__name__
        if self.opened:
            self._on_close(failed)

    def _fail(self, error: Exception) -> None:
        self._ready.set_exception(error)
        self._on_open(error)
        self._ready.exception()  # seen: when every waiter has given up, it must not end in asyncio's log

    def __repr__(self) -> str:
        state = "retired" if self.retired else "open" if self.opened else "opening"
        return f"<LentClient {state} users={self._users}>"
