"""The running engine as `ops` sees it: protocols with what status, metrics and refresh need of it."""

from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from syncret.config.meta import GroupKind, ObjectRef
from syncret.config.settings import Settings
from syncret.daemon.engine.queue.workqueue import QueueStats
from syncret.daemon.homes.contract import HomeProblem, StoredObject
from syncret.providers.kit.limits import LimiterStats


class Clock(Protocol):
    def now(self) -> float:
        """Seconds since the epoch."""
        ...


class Objects(Protocol):
    """The newest version of every object."""

    def get(self, ref: ObjectRef) -> StoredObject | None: ...

    def list(self, group_kind: GroupKind, namespace: str | None = None) -> Iterator[StoredObject]: ...


class Queue(Protocol):
    def stats(self) -> QueueStats: ...

    def running(self) -> Iterator[ObjectRef]: ...


class Scrape(Protocol):
    def pieces(self) -> AsyncGenerator[bytes]:
        """The text of one scrape, in pieces."""
        ...


class FirstPass(Protocol):
    """Whether every object that existed at the start has had its first run."""

    def is_set(self) -> bool: ...

    async def wait(self) -> object: ...


class EngineView(Protocol):
    """What can be read from the engine, and a request for a refresh."""

    @property
    def queue(self) -> Queue: ...

    @property
    def first_pass(self) -> FirstPass: ...

    @property
    def failing(self) -> int: ...

    def failures(self, ref: ObjectRef) -> int: ...

    def due(self, ref: ObjectRef) -> float | None: ...

    def refresh(self, ref: ObjectRef) -> bool: ...


class LastError(Protocol):
    """The error that an object has now."""

    @property
    def at(self) -> float: ...

    @property
    def message(self) -> str: ...

    @property
    def hint(self) -> str: ...


class MemoryView(Protocol):
    def origins(self, ref: ObjectRef) -> Mapping[str, str]: ...

    def failure(self, ref: ObjectRef) -> LastError | None: ...

    def request_refresh(self, ref: ObjectRef) -> None: ...


class SessionsView(Protocol):
    def limits(self) -> Iterable[tuple[ObjectRef, LimiterStats]]: ...

    def in_flight(self) -> Iterable[tuple[ObjectRef, int]]: ...


class ContextView(Protocol):
    @property
    def memory(self) -> MemoryView: ...

    @property
    def sessions(self) -> SessionsView: ...

    def handles(self, controller: str | None) -> bool: ...


class Running(Protocol):
    """A running engine, its inventory and its context."""

    @property
    def engine(self) -> EngineView: ...

    @property
    def inventory(self) -> Objects: ...

    @property
    def context(self) -> ContextView: ...


@dataclass(slots=True, kw_only=True)
class View:
    """One run of the daemon. `problems` are the current ones of the manifests."""

    running: Running
    metrics: Scrape
    clock: Clock
    settings: Settings
    started: float
    address: str = ""
    """The address of the HTTP server once it serves, with the port that was bound for port 0."""
    problems: Sequence[HomeProblem] = field(default_factory=tuple)


Serve: TypeAlias = Callable[[View], AbstractAsyncContextManager[None]]
"""Serves requests until its block is left."""

Service: TypeAlias = Callable[[Settings], AbstractAsyncContextManager[Serve]]
"""Binds its address before anything else starts; requests wait until the service is served."""
