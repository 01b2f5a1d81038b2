"""What operations see of a running engine: protocols, so that nothing here depends on how it is made."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol

from syncret.config.meta import GroupKind, ObjectRef
from syncret.daemon.backends.contract import Stored
from syncret.daemon.engine.workqueue import QueueStats
from syncret.providers.kit.limits import LimiterStats


class Clock(Protocol):
    def now(self) -> float:
        """Seconds since the epoch."""
        ...


class Objects(Protocol):
    """The newest version of every object."""

    def get(self, ref: ObjectRef) -> Stored | None: ...

    def list(self, group_kind: GroupKind, namespace: str | None = None) -> Iterator[Stored]: ...


class Queue(Protocol):
    def stats(self) -> QueueStats: ...

    def running(self) -> Iterator[ObjectRef]: ...


class Pass(Protocol):
    """The first look at everything that existed at the start."""

    def is_set(self) -> bool: ...

    async def wait(self) -> object: ...


class Work(Protocol):
    """The engine."""

    @property
    def queue(self) -> Queue: ...

    @property
    def first_pass(self) -> Pass: ...

    @property
    def failing(self) -> int: ...

    def failures(self, ref: ObjectRef) -> int: ...

    def due(self, ref: ObjectRef) -> float | None: ...

    def refresh(self, ref: ObjectRef) -> bool: ...


class Trouble(Protocol):
    """What stands in an object's way."""

    @property
    def at(self) -> float: ...

    @property
    def message(self) -> str: ...

    @property
    def hint(self) -> str: ...


class Facts(Protocol):
    def origins(self, ref: ObjectRef) -> Mapping[str, str]: ...

    def failure(self, ref: ObjectRef) -> Trouble | None: ...

    def wish(self, ref: ObjectRef) -> None: ...


class Sessions(Protocol):
    def limits(self) -> Iterable[tuple[ObjectRef, LimiterStats]]: ...

    def in_flight(self) -> Iterable[tuple[ObjectRef, int]]: ...


class World(Protocol):
    @property
    def facts(self) -> Facts: ...

    @property
    def sessions(self) -> Sessions: ...

    def handles(self, controller: str | None) -> bool: ...


class Running(Protocol):
    """A running engine and what can be asked of it."""

    @property
    def engine(self) -> Work: ...

    @property
    def inventory(self) -> Objects: ...

    @property
    def world(self) -> World: ...
