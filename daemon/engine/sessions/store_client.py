"""Serves one identity of a store: opens a client when one is needed, shares it, replaces it when stale.

The calls under way on one client, which others may join: reads of a key, and equal searches.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import NamedTuple, TypeVar

from msgspec.structs import replace

from syncret.config.catalog import Scope
from syncret.config.meta import ObjectRef
from syncret.daemon.engine.queue.waiting import current_run
from syncret.daemon.engine.retry import LoginBackoff
from syncret.daemon.engine.sessions.calls import (
    CallEnvironment,
    CallPath,
    CallRequest,
    StoreState,
)
from syncret.daemon.engine.sessions.circuit_breaker import DOUBT_AFTER, CircuitBreaker, Reachability
from syncret.daemon.engine.sessions.credentials import StoreCredentials
from syncret.daemon.engine.sessions.reads import Batch, Payloads, ReadBatcher
from syncret.daemon.engine.sessions.shared_client import SharedClient
from syncret.daemon.engine.sessions.store_config import SessionKey, StoreConfig
from syncret.daemon.engine.sessions.tasks import join
from syncret.daemon.engine.work import SyncWork
from syncret.daemon.homes.contract import Home, WatchEvent
from syncret.providers.answer_memory import Share, found_share
from syncret.providers.contract import Client, Finder, Keyed, OpenContext, Reader
from syncret.providers.errors import Malformed, OverBudget, SyncError, Throttled, Unavailable, bare
from syncret.providers.kit.retry import Doubling
from syncret.providers.values import FindQuery, RemoteKey, RemoteRef, SecretMap
from syncret.providers.work import Work

T = TypeVar("T")


class _Search(NamedTuple):
    """A search that is under way."""

    task: asyncio.Task[SecretMap | None]
    share: Share
    payer: SyncWork


class Connection:
    """A client, the credentials that it was opened with, and the calls under way on it."""

    def __init__(
        self, client: SharedClient, credentials: StoreCredentials, calls: CallPath, *, batch_size: int
    ) -> None:
        self.client = client
        self.credentials = credentials
        self._calls = calls
        self._tasks = calls.around.tasks
        self._name = str(calls.store)
        self._reader: Reader | None = None
        self.key_of: Callable[[RemoteRef], RemoteKey] = RemoteRef.remote_key
        """The key to fetch for a ref; set by `reader`."""
        self._searches: dict[FindQuery, _Search] = {}
        self.reads = ReadBatcher(
            self._fetch,
            size=batch_size,
            window=calls.around.settings.batch_window,
            tasks=self._tasks,
            store=self._name,
            kept=calls.around.answers,
        )

    def reader(self, client: Client) -> Reader:
        """The client as a Reader; checked once, because every read asks. Raises Malformed if it is none."""
        if self._reader is None:
            if not isinstance(client, Reader):
                raise Malformed(f"provider {self._calls.provider} cannot read")
            self._reader = client
            if isinstance(client, Keyed):
                self.key_of = client.remote_key
        return self._reader

    async def find(
        self, client: Finder, query: FindQuery, namespace: str, payer: SyncWork
    ) -> SecretMap | None:
        """All entries that match; one search for all runs that ask for the same at the same time.

        The first one pays. If it has not enough left, the others search again.
        """
        while True:
            search = self._searches.get(query)
            if search is None:
                search = self._searches[query] = self._start_search(client, query, namespace, payer)
            else:
                self._calls.shared(1)
            run = current_run.get()
            if run is not None:
                search.share.join(run.answers)
            try:
                return await join(search.task)
            except OverBudget:
                if search.payer is payer:
                    raise

    def _start_search(self, client: Finder, query: FindQuery, namespace: str, payer: SyncWork) -> "_Search":
        share = Share(self._calls.around.network.answers, self._name, runs=[])
        request = CallRequest("find", query, namespace, askers=share.runs, payers=(payer,))
        task = self._tasks.start(
            self._search(client, query, request, share, payer.work), name=f"find {self._name}"
        )
        return _Search(task, share, payer)

    async def _search(
        self, client: Finder, query: FindQuery, request: CallRequest, share: Share, work: Work
    ) -> SecretMap | None:
        found_share.set(share)

        async def paced(send: Callable[[], Awaitable[T]], /, *, reads: int = 0) -> T:
            return await self._calls.call(replace(request, reads=reads), send)

        try:
            async with self.client:
                return await client.find(query, paced, work)
        except SyncError as error:
            raise bare(error) from None
        finally:
            del self._searches[query]
            if not share.runs:
                share.release()

    async def _fetch(self, batch: Batch) -> Payloads:
        async with self.client as client:
            reader, keys = self.reader(client), tuple(batch.keys)

            async def send() -> Payloads:
                batch.begins()
                return await reader.fetch(keys)

            request = CallRequest(
                "read",
                keys,
                batch.namespace,
                urgent=batch.urgent,
                askers=batch.askers,
                payers=batch.payers,
            )
            return await self._calls.call(request, send, hold=batch.hold)


class StoreClient:
    """The client of one store identity, at most one at a time, and all calls that go through it."""

    def __init__(
        self,
        plan: StoreConfig,
        identity: SessionKey,
        *,
        home: Home,
        memory: StoreState,
        around: CallEnvironment,
        on_read: Callable[[ObjectRef], None],
    ) -> None:
        self.plan = plan
        self.identity = identity
        self.name = str(plan.store)
        outage = CircuitBreaker(
            Doubling(around.settings.retry_min, around.settings.retry_max),
            lambda pause: around.reachability_changed(plan.store, pause),
        )
        self.calls = CallPath(
            store=plan.store,
            provider=plan.provider.name,
            names=plan.provider.api_names(plan.spec),
            retry=plan.retry,
            memory=memory,
            around=around,
            outage=outage,
        )
        self._home = home
        self._memory = memory
        self._around = around
        self._on_read = on_read
        self._line: Connection | None = None
        self.login = self._new_login()

    def connection(self) -> Connection:
        """The connection for new calls, opened if need be. Raises SyncError while it cannot be opened."""
        self.login.check()
        line = self._line
        if line is None or line.client.retired:
            line = self._line = self._start()
        return line

    @property
    def open(self) -> bool:
        """Whether a client is open."""
        return self._line is not None and self._line.client.opened

    @property
    def reachability(self) -> Reachability:
        """Whether the store answers: its calls, or the openings of a client, without which there are none."""
        if self.login.unanswered is None:
            return self.calls.outage.reachability
        return Reachability("no" if self.login.failures > 1 else "unknown", self.login.unanswered)

    def write_lock(self, remote_key: str) -> AbstractAsyncContextManager[None]:
        """One writer at a time for each entry: two that set properties of one must not undo each other's."""
        return self._memory.turns.hold(self.plan.provider.entry_of(remote_key))

    def on_credential_change(self, event: WatchEvent) -> None:
        """Close the client if it was opened with an older version of an object than there is now."""
        if self._line is not None and self._line.credentials.is_outdated_by(event):
            self.close_when_unused()

    def close_when_unused(self) -> None:
        """Close the client once its users have left; the next caller opens another at once."""
        if self._line is not None:
            self._line.client.close_when_unused()
            self._line = None
        self.login = self._new_login()
        self.calls.outage.forget()

    def _start(self) -> Connection:
        store = self.plan.store
        namespace = store.namespace or self.identity.namespace
        scope = Scope(cluster=not store.namespace, namespace=namespace)
        credentials = StoreCredentials(self._home, scope, on_read=self._on_read)
        login = self.login
        context = OpenContext(
            store=store,
            scope=scope,
            credentials=credentials,
            now=self._around.clock.now,
            render=self._around.render,
            compute=self._around.compute,
            read_file=self._around.read_file,
            network=self._around.network,
            ambient=self._around.ambient(store),
            log_in=login,
            store_memory=self._memory.keep,
        )
        client = SharedClient(
            lambda: self._open(context),
            self._around,
            name=str(store),
            on_open=partial(self._opened, login, asyncio.get_running_loop().time()),
            on_close=lambda error: self._around.observer.closed(store, error),
        )
        return Connection(client, credentials, self.calls, batch_size=self.plan.provider.batch_size)

    def _open(self, context: OpenContext) -> AbstractAsyncContextManager[Client]:
        provider = self.plan.provider
        if provider.open is None:
            raise Malformed(f"provider {provider.name} is known, but this build cannot reach it")
        return provider.open(self.plan.spec, context)

    def _new_login(self) -> LoginBackoff:
        """Start without refusals for new credentials; a client that closes may still use the former ones."""
        around, store = self._around, self.plan.store
        return LoginBackoff(around.settings, lambda pause: around.login_refused(store, pause))

    def _opened(self, login: LoginBackoff, since: float, error: Exception | None) -> None:
        """Remember a failed login, so that a hundred objects do not try a hundred wrong passwords."""
        if error is not None and not isinstance(error, SyncError):
            return
        around, store = self._around, self.plan.store
        around.observer.opened(store, error)
        if not isinstance(error, Unavailable):
            around.answered(store)
        if login.unanswered is not None and not isinstance(error, Unavailable):
            around.reachability_changed(store, 0.0)
        if error is None:
            login.forget()
            return
        paused = self._memory.limiter.throttled(error.retry_after) if isinstance(error, Throttled) else 0.0
        login.failed(error, sent_at=since, at_least=paused)
        if login.unanswered is not None:
            around.reachability_changed(store, 0.0 if login.failures > 1 else DOUBT_AFTER)

    def __repr__(self) -> str:
        state = "idle" if self._line is None else repr(self._line.client)
        return f"<Channel {self.identity.store} {state}>"
