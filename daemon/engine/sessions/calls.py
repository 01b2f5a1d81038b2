"""The path of every call of a provider or generator: token bucket, fault, time limit, retry, report."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Iterator
from contextlib import asynccontextmanager, suppress
from copy import copy
from typing import Any, Final, TypeAlias, TypeVar

from msgspec import Struct, field

from syncret.config.meta import ObjectRef
from syncret.config.settings import Settings
from syncret.daemon.engine.clock import Clock
from syncret.daemon.engine.observer import Call, Faults, Item, Observer, Operation
from syncret.daemon.engine.queue.waiting import current_run, waiting_for
from syncret.daemon.engine.retry import LoginBackoff, call_policy
from syncret.daemon.engine.sessions.call_labels import labels_of
from syncret.daemon.engine.sessions.circuit_breaker import CircuitBreaker
from syncret.daemon.engine.sessions.reads import KeptAnswers
from syncret.daemon.engine.sessions.tasks import KeyedLocks, TaskOwner, within
from syncret.daemon.engine.work import CallWork, SyncWork, call_work
from syncret.providers.answer_memory import RunAnswers, Share, call_share
from syncret.providers.api_names import ApiNames
from syncret.providers.contract import Ambient, Compute, ReadFile, Render
from syncret.providers.errors import SyncError, Throttled, Unavailable, bare
from syncret.providers.kit.limits import Limiter
from syncret.providers.kit.retry import ONCE, Doubling, RetryPolicy, retried
from syncret.providers.network import Network

T = TypeVar("T")


def _ignore(store: ObjectRef) -> None:
    del store


Recheck: TypeAlias = Callable[[ObjectRef, float], None]
"""Called with a store that is to be requeued, and in how many seconds."""


def ignore_recheck(store: ObjectRef, pause: float) -> None:
    """Do nothing: the default of both."""
    del store, pause


CHANGING: Final[frozenset[Operation]] = frozenset({"push", "delete", "generate", "cleanup"})
"""Operations that change or create something at a manager; without an answer it is not known whether."""


class ChangingCalls:
    """The calls under way that change or create something: at a reload they end, and no other is sent."""

    def __init__(self) -> None:
        self._under_way = 0
        self._held = False
        self._ended = asyncio.Event()

    @asynccontextmanager
    async def sending(self) -> AsyncGenerator[None, None]:
        """Around one call. Once `finish` was called it waits until its run is cancelled."""
        if self._held:
            await asyncio.get_running_loop().create_future()
        self._under_way += 1
        try:
            yield
        finally:
            self._under_way -= 1
            if not self._under_way:
                self._ended.set()

    async def finish(self, seconds: float) -> None:
        """Wait so long for the calls under way, and hold all others back."""
        self._held = True
        if self._under_way:
            self._ended.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._ended.wait()


class CallEnvironment(Struct, frozen=True, kw_only=True):
    """The parts that all sessions share."""

    settings: Settings
    observer: Observer
    clock: Clock
    tasks: TaskOwner
    """Reads and searches that several runs wait for."""
    clients: TaskOwner
    """Open clients."""
    changing: ChangingCalls
    render: Render
    compute: Compute
    read_file: ReadFile
    network: Network
    ambient: Callable[[ObjectRef], Ambient]
    """The way to the daemon's own identity, for one store or generator."""
    faults: Faults | None = None
    answers: KeptAnswers
    answered: Callable[[ObjectRef], None] = _ignore
    """Called with the store, or generator, that answered a call, whatever it said."""
    login_refused: Recheck = ignore_recheck
    """Called with a store that refused a login, and the seconds for which no other is sent."""
    reachability_changed: Recheck = ignore_recheck
    """Called with a store that answers no longer, or again, or that may not answer."""


class CallRequest(Struct, frozen=True):
    """The operation of a call, its argument, and the namespace on whose behalf it is made."""

    operation: Operation
    item: Item
    namespace: str
    once: bool = False
    """Whether no answer ends the call: what may have reached the server would be done twice."""
    no_answer: str = ""
    """How the error of the time limit begins, if not as usual."""
    urgent: bool = False
    """Whether it goes before other calls of its store: an object was changed, or an operator asks."""
    askers: list[RunAnswers] | None = None
    """The runs that it is made for; None: the current one."""
    payers: Collection[SyncWork] = ()
    """The syncs that pay for what it computes; none where the generator itself has the budget of one."""
    reads: int = 0
    """How many of the found entries the request of a search reads; 0: it looks for them."""


class StoreState(Struct):
    """The state of one store that outlives its sessions: its bucket, its provider's memory, its turns."""

    limiter: Limiter
    keep: dict[str, Any]
    turns: KeyedLocks = field(default_factory=KeyedLocks)
    in_flight: set[Share] = field(default_factory=set[Share])
    """Calls that wait for an answer."""

    @property
    def server(self) -> str:
        """The server that one of these calls waits for; empty if none does, or it is not known."""
        return next((share.server for share in self.in_flight if share.server), "")


class CallPath(Struct, frozen=True, kw_only=True):
    """Makes calls to the provider of one store, or those of one generator."""

    store: ObjectRef
    provider: str
    names: ApiNames = ApiNames()
    retry: RetryPolicy
    memory: StoreState
    around: CallEnvironment
    outage: CircuitBreaker

    async def call(
        self,
        request: CallRequest,
        function: Callable[[], Awaitable[T]],
        *,
        hold: Callable[[Share], None] = Share.release,
    ) -> T:
        """The function's result. Raises SyncError; at once while the store is in an outage.

        `hold` takes over the share of the answer memory that the result takes, to release it later.
        """

        async def attempt() -> T:
            share = Share(self.around.network.answers, str(self.store), askers=_askers(request))
            share.once = request.once
            try:
                result = await self._attempt(request, function, share)
            except SyncError as error:
                share.release()
                raise bare(error) from None
            except BaseException:  # a call that was cancelled holds no answer either; raised again
                share.release()
                raise
            hold(share)
            return result

        store, observer = self.store, self.around.observer
        loop = asyncio.get_running_loop()
        begin = loop.time()
        self.outage.check(begin)
        try:
            async with waiting_for(str(store)):
                return await retried(
                    attempt,
                    ONCE if request.once else self.retry,
                    on_retry=lambda retry: observer.retried(store, retry),
                )
        except Unavailable as error:
            self.outage.failed(bare(copy(error)), loop.time(), begin)
            if request.operation in CHANGING:
                raise
            raise error.of_server() from None

    def shared(self, keys: int) -> None:
        """So many keys joined a read that was under way."""
        self.around.observer.shared(self.store, keys)

    async def _attempt(self, request: CallRequest, function: Callable[[], Awaitable[T]], share: Share) -> T:
        connections, store = self.around.network.connections, str(self.store)
        await share.may_send()
        with share.held_up():
            waited = await self.memory.limiter.take(urgent=request.urgent)
            if waited:
                self.around.observer.waited(self.store, waited)
            await connections.begin(store)
        try:
            return await self._in_turn(request, function, share)
        finally:
            connections.end(store)

    async def _in_turn(self, request: CallRequest, function: Callable[[], Awaitable[T]], share: Share) -> T:
        loop = asyncio.get_running_loop()
        begin = loop.time()

        def report(failure: SyncError | None) -> None:
            self.around.observer.called(
                Call(
                    store=self.store,
                    provider=self.provider,
                    namespace=request.namespace,
                    operation=request.operation,
                    item=request.item,
                    seconds=loop.time() - begin,
                    labels=labels_of(
                        self.names, self.provider, request.operation, request.item, reads=request.reads
                    ),
                    failure=failure,
                )
            )

        try:
            if request.operation in CHANGING:
                async with self.around.changing.sending():
                    result = await self._within_limits(request, function, share)
            else:
                result = await self._within_limits(request, function, share)
        except Unavailable as error:
            report(error)
            raise
        except Throttled as error:
            report(error)
            self._answered()
            delay = self.memory.limiter.throttled(error.retry_after)
            self.around.observer.throttled(self.store, delay)
            raise Throttled(error.message, retry_after=delay, hint=error.hint) from None
        except SyncError as error:
            report(error)
            self._answered()
            raise
        self._answered()
        self.memory.limiter.succeeded()
        report(None)
        return result

    def _answered(self) -> None:
        self.outage.succeeded()
        self.around.answered(self.store)

    async def _within_limits(
        self, request: CallRequest, function: Callable[[], Awaitable[T]], share: Share
    ) -> T:
        operation = request.operation
        text = self.around.faults(operation, self.store) if self.around.faults is not None else None
        if text is not None:
            raise SyncError(text)
        limit = self.around.settings.call_timeout
        late = _no_answer(request, "", limit)
        self.memory.in_flight.add(share)
        token = call_share.set(share)
        work = CallWork(request.payers) if request.payers else None
        work_token = call_work.set(work)
        try:
            async with within(limit, late) as share.timer:
                return await function()
        except Unavailable as error:
            if error is late and share.server:
                raise _no_answer(request, share.server, limit) from None
            raise
        finally:
            share.ended, share.timer = True, None
            call_share.reset(token)
            call_work.reset(work_token)
            if work is not None:
                work.end()
            self.memory.in_flight.discard(share)


def _no_answer(request: CallRequest, server: str, limit: float) -> Unavailable:
    """The error of the time limit; `server` is the one that was asked, if that is known."""
    problem = f"{server or 'the secret manager'} gave no answer within {limit:g} s"
    if request.no_answer:
        return Unavailable(f"{request.no_answer} within {limit:g} s", problem=problem)
    return Unavailable(f"{request.operation}: {problem}", problem=problem)


def _askers(request: CallRequest) -> list[RunAnswers]:
    if request.askers is not None:
        return request.askers
    run = current_run.get()
    return [] if run is None else [run.answers]


MOST_GENERATORS: Final = 1024
"""Paths that are kept. Records outlive their generators, so no event says when the last call was made."""


class GeneratorCalls:
    """The path of each generator object, the one that was used last at the end."""

    def __init__(self, around: CallEnvironment) -> None:
        self._around = around
        self._calls: dict[ObjectRef, CallPath] = {}
        self._logins: dict[ObjectRef, LoginBackoff] = {}

    def login(self, generator: ObjectRef) -> LoginBackoff:
        """The login backoff of a generator in one namespace, whose credentials it may use."""
        login = self._logins.pop(generator, None) or LoginBackoff(self._around.settings)
        self._logins[generator] = login
        if len(self._logins) > MOST_GENERATORS:
            del self._logins[next(iter(self._logins))]
        return login

    def of(self, generator: ObjectRef, kind: str) -> CallPath:
        """The path of a generator; `kind` is what a ClusterGenerator holds, otherwise its own."""
        calls = self._calls.pop(generator, None)
        if calls is None or calls.provider != kind:
            calls = self._new(generator, kind)
        self._calls[generator] = calls
        if len(self._calls) > MOST_GENERATORS:
            del self._calls[next(iter(self._calls))]
        return calls

    def changed(self, generator: ObjectRef) -> None:
        """Forget an outage so far: the server or the login may have changed."""
        calls = self._calls.get(generator)
        if calls is None:
            return
        calls.outage.forget()
        for ref, login in self._logins.items():
            if ref.name == generator.name:  # a ClusterGenerator has one in each namespace, of another kind
                login.forget()

    def memories(self) -> Iterator[tuple[ObjectRef, StoreState]]:
        """The bucket of each."""
        for ref, calls in self._calls.items():
            yield ref, calls.memory

    def _new(self, generator: ObjectRef, kind: str) -> CallPath:
        settings = self._around.settings
        return CallPath(
            store=generator,
            provider=kind,
            retry=call_policy(settings),
            memory=StoreState(Limiter(settings.requests_per_second, settings.burst), {}),
            around=self._around,
            outage=CircuitBreaker(Doubling(settings.retry_min, settings.retry_max)),
        )
