"""The one path of every provider call: token bucket, injected fault, time limit, retry, report."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

from msgspec import Struct, field

from syncret.config.meta import ObjectRef
from syncret.config.settings import Settings
from syncret.daemon.engine.clock import Clock
from syncret.daemon.engine.credentials import Issue, no_issuer
from syncret.daemon.engine.observer import Call, Faults, Item, Observer, Operation
from syncret.daemon.engine.outage import Outage
from syncret.daemon.engine.tasks import Tasks, Turns
from syncret.providers.contract import Render
from syncret.providers.errors import SyncError, Throttled, Unavailable
from syncret.providers.kit.limits import Limiter
from syncret.providers.kit.retry import RetryPolicy, retried

T = TypeVar("T")

ONCE: Final = RetryPolicy(attempts=1)


class Surroundings(Struct, frozen=True, kw_only=True):
    """What all sessions share."""

    settings: Settings
    observer: Observer
    clock: Clock
    tasks: Tasks
    render: Render
    issue: Issue = no_issuer
    faults: Faults | None = None


class CallRequest(Struct, frozen=True):
    """What is called, and on behalf of which namespace."""

    operation: Operation
    item: Item
    namespace: str
    once: bool = False
    """Whether no answer ends the call: what may have reached the server would be done twice."""
    no_answer: str = ""
    """How the error of the time limit begins, if not as usual."""


class StoreMemory(Struct):
    """What is kept of one store beyond its sessions: its bucket, its provider's memory, its turns."""

    limiter: Limiter
    keep: dict[str, Any]
    turns: Turns = field(default_factory=Turns)
    in_flight: int = 0
    """Calls that wait for an answer."""


class Calls(Struct, frozen=True, kw_only=True):
    """Makes calls to the provider of one store, or those of one generator."""

    store: ObjectRef
    provider: str
    retry: RetryPolicy
    memory: StoreMemory
    around: Surroundings
    outage: Outage

    async def make(self, request: CallRequest, function: Callable[[], Awaitable[T]]) -> T:
        """The function's result. Raises SyncError, and while the store is silent at once."""

        async def attempt() -> T:
            return await self._attempt(request, function)

        store, observer = self.store, self.around.observer
        loop = asyncio.get_running_loop()
        begin = loop.time()
        self.outage.check(begin)
        try:
            return await retried(
                attempt,
                ONCE if request.once else self.retry,
                on_retry=lambda retry: observer.retried(store, retry),
            )
        except Unavailable:
            self.outage.failed(loop.time(), begin)
            raise

    def shared(self, keys: int) -> None:
        """So many keys joined a read that was under way."""
        self.around.observer.shared(self.store, keys)

    async def _attempt(self, request: CallRequest, function: Callable[[], Awaitable[T]]) -> T:
        waited = await self.memory.limiter.take()
        if waited:
            self.around.observer.waited(self.store, waited)
        loop = asyncio.get_running_loop()
        begin = loop.time()

        def tell(failure: SyncError | None) -> None:
            self.around.observer.called(
                Call(
                    store=self.store,
                    provider=self.provider,
                    namespace=request.namespace,
                    operation=request.operation,
                    item=request.item,
                    seconds=loop.time() - begin,
                    failure=failure,
                )
            )

        try:
            result = await self._within_limits(request, function)
        except Unavailable as error:
            tell(error)
            raise
        except Throttled as error:
            tell(error)
            self.outage.succeeded()
            delay = self.memory.limiter.throttled(error.retry_after)
            self.around.observer.throttled(self.store, delay)
            raise Throttled(error.message, retry_after=delay, hint=error.hint) from None
        except SyncError as error:
            tell(error)
            self.outage.succeeded()
            raise
        self.outage.succeeded()
        self.memory.limiter.succeeded()
        tell(None)
        return result

    async def _within_limits(self, request: CallRequest, function: Callable[[], Awaitable[T]]) -> T:
        operation = request.operation
        text = self.around.faults(operation, self.store) if self.around.faults is not None else None
        if text is not None:
            raise SyncError(text)
        limit = self.around.settings.call_timeout
        timer = asyncio.timeout(limit or None)
        self.memory.in_flight += 1
        try:
            async with timer:
                return await function()
        except TimeoutError:
            if not timer.expired():
                raise
            begin = request.no_answer or f"{operation}: the secret manager gave no answer"
            raise Unavailable(f"{begin} within {limit:g} s") from None
        finally:
            self.memory.in_flight -= 1
