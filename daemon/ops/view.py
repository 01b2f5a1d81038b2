"""What operators may see of a running daemon, and the two things they may do with it.

What operations see of a running engine: protocols, so that nothing here depends on how it is made.
"""

from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from syncret.config.meta import GroupKind, ObjectRef
from syncret.config.settings import Settings
from syncret.daemon.engine.queue.workqueue import QueueStats
from syncret.daemon.homes.contract import StoredObject
from syncret.daemon.homes.filesystem.manifests.reader import FileProblem
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
        """The text of a scrape, in pieces."""
        ...


class FirstPass(Protocol):
    """The first look at everything that existed at the start."""

    def is_set(self) -> bool: ...

    async def wait(self) -> object: ...


class EngineView(Protocol):
    """The engine."""

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
    """What stands in an object's way."""

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
    """A running engine and what can be asked of it."""

    @property
    def engine(self) -> EngineView: ...

    @property
    def inventory(self) -> Objects: ...

    @property
    def context(self) -> ContextView: ...


@dataclass(slots=True, kw_only=True)
class View:
    """One life of the daemon. `problems` are those of the manifests, as they are now."""

    controllers: Running
    metrics: Scrape
    clock: Clock
    settings: Settings
    started: float
    address: str = ""
    """Where HTTP is served, once it is: the port that was found where port 0 was asked for."""
    problems: Sequence[FileProblem] = field(default_factory=tuple)


Serve: TypeAlias = Callable[[View], AbstractAsyncContextManager[None]]
"""Answers operators for as long as its block is open."""

Service: TypeAlias = Callable[[Settings], AbstractAsyncContextManager[Serve]]
"""Takes its address before anything begins, and holds it until its block is left; early callers wait."""
