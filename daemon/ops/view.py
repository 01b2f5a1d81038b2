"""The view that `ops` has of the running engine, as protocols, and of an object: the fields it shows."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeAlias

import msgspec
from prometheus_client import CollectorRegistry

from syncret.config.meta import GroupKind, ObjectRef
from syncret.config.settings import Settings
from syncret.daemon.core.cluster_stats import ClusterStats
from syncret.daemon.core.conditions import CONSTRAINTS_SATISFIED, REACHABLE, READY, RUN_FAILED, seconds
from syncret.daemon.core.plan.held_write import HeldWrite
from syncret.daemon.core.reviews import Reviews
from syncret.daemon.core.schedule.refresh import PeriodicSpec
from syncret.daemon.engine.queue.workqueue import QueueStats
from syncret.daemon.homes.contract import HomeProblem, StoredObject
from syncret.daemon.ops.pass_recorder import PassRecorder
from syncret.providers.kit.limits import LimiterStats
from syncret.providers.registry import Registry

if TYPE_CHECKING:  # few hosts have any
    from syncret.daemon.cache.opening import Opened
    from syncret.daemon.delivery.credentials.offers import Offers
    from syncret.daemon.release.hosted import HostedRelease


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

    def running_for(self, ref: ObjectRef) -> float | None: ...

    def unanswered(self, store: str) -> float | None: ...


class Scrape(Protocol):
    @property
    def registry(self) -> CollectorRegistry:
        """Where services add metrics of their own."""
        ...

    def pieces(self) -> AsyncGenerator[bytes]:
        """The text of one scrape, in pieces."""
        ...


class FirstPass(Protocol):
    """Whether every object that existed at the start has had its first run."""

    def is_set(self) -> bool: ...

    async def wait(self) -> object: ...


class LastError(Protocol):
    """The error that an object has now."""

    @property
    def at(self) -> float: ...

    @property
    def message(self) -> str: ...

    @property
    def hint(self) -> str: ...


class EngineView(Protocol):
    """What can be read from the engine, and a request for a refresh."""

    @property
    def queue(self) -> Queue: ...

    @property
    def first_pass(self) -> FirstPass: ...

    @property
    def delivered(self) -> FirstPass: ...

    @property
    def failing(self) -> AbstractSet[ObjectRef]: ...

    def failures(self, ref: ObjectRef) -> int: ...

    def unreported(self, ref: ObjectRef) -> LastError | None: ...

    def due(self, ref: ObjectRef) -> float | None: ...

    def held_back(self, ref: ObjectRef) -> Sequence[HeldWrite]: ...

    def refresh(self, ref: ObjectRef) -> bool: ...


class MemoryView(Protocol):
    def notes(self, ref: ObjectRef) -> tuple[str, ...]: ...

    def origins(self, ref: ObjectRef) -> Mapping[str, str]: ...

    def failure(self, ref: ObjectRef) -> LastError | None: ...

    @property
    def failing(self) -> AbstractSet[ObjectRef]: ...

    def request_refresh(self, ref: ObjectRef) -> None: ...


class SessionsView(Protocol):
    def limits(self) -> Iterable[tuple[ObjectRef, LimiterStats]]: ...

    def in_flight(self) -> Iterable[tuple[ObjectRef, int]]: ...

    def waits_for(self, store: ObjectRef) -> str: ...


class ContextView(Protocol):
    @property
    def memory(self) -> MemoryView: ...

    @property
    def sessions(self) -> SessionsView: ...

    def handles(self, controller: str | None) -> bool: ...

    def manifest_place(self, ref: ObjectRef) -> str | None: ...


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
    started: float = field(default_factory=lambda: asyncio.get_running_loop().time())
    """In the time of the event loop, which is monotonic."""
    registry: Registry = field(default_factory=Registry)
    address: str = ""
    """The address of the HTTP server once it serves, with the port that was bound for port 0."""
    cluster: ClusterStats | None = None
    """None: a host."""
    observing: Callable[[], str] = lambda: ""
    """Why nothing is written; empty: what is to be written is."""
    reviews: Reviews | None = None
    """Checks who may read the metrics; None: all may."""
    health_address: str = ""
    """That of the server for probes alone."""
    problems: Sequence[HomeProblem] = field(default_factory=tuple)
    offline: "Opened | None" = None
    """The offline cache of a host; None: none is wanted."""
    releases: "Callable[[], Sequence[HostedRelease]]" = tuple
    """The releases among the manifests of a host."""
    recorder: PassRecorder = field(default_factory=PassRecorder)
    """What the first pass wrote."""
    offers: "Offers | None" = None
    """The credentials that units may ask for; None: there is no socket for that."""


Serve: TypeAlias = Callable[[View], AbstractAsyncContextManager[None]]
"""Serves requests until its block is left."""

Service: TypeAlias = Callable[[Settings], AbstractAsyncContextManager[Serve]]
"""Binds its address before anything else starts; requests wait until the service is served."""


class Condition(msgspec.Struct, frozen=True, gc=False):
    """One condition of a status."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""


class _Status(msgspec.Struct, frozen=True, rename="camel"):
    conditions: tuple[Condition, ...] = ()
    refresh_time: str | None = None


class ObjectView(msgspec.Struct, frozen=True):
    """The fields of an object of any of our kinds that status and metrics need."""

    spec: PeriodicSpec = PeriodicSpec()
    status: _Status = _Status()

    @property
    def ready_condition(self) -> Condition | None:
        """The condition of type Ready; None before the first run has reported one."""
        return next((each for each in self.status.conditions if each.type == READY), None)

    @property
    def ready(self) -> bool | None:
        """Whether the condition Ready is True; None if there is none."""
        condition = self.ready_condition
        return None if condition is None else condition.status == "True"

    @property
    def unreachable(self) -> str | None:
        """Of a store that does not answer: its server, and why."""
        found = (each for each in self.status.conditions if each.type == REACHABLE)
        return next((each.message for each in found if each.status == "False"), None)

    @property
    def violates(self) -> bool:
        """Whether what was fetched for it violates its constraints."""
        condition = self.constraints_condition
        return condition is not None and condition.status == "False"

    @property
    def constraints_condition(self) -> Condition | None:
        """The condition of the constraints on what is fetched for it; None if there are none."""
        return next((each for each in self.status.conditions if each.type == CONSTRAINTS_SATISFIED), None)

    @property
    def good_since(self) -> float | None:
        """When its values were last confirmed by the store."""
        return seconds(self.status.refresh_time or "")

    @property
    def interval(self) -> float:
        """The refresh interval in seconds; 0: never by time."""
        return self.spec.interval


def view_of(stored: StoredObject, unreported: LastError | None = None) -> ObjectView:
    """The view of one object; empty for one that is malformed (its condition says why).

    An error of its last run that could not be written to its status replaces the condition Ready.
    """
    try:
        view = stored.as_type(ObjectView)
    except msgspec.ValidationError:
        view = ObjectView()  # the object's condition reports it
    if unreported is None:
        return view
    failed = Condition(READY, "False", RUN_FAILED, unreported.message)
    others = tuple(each for each in view.status.conditions if each.type != READY)
    status = msgspec.structs.replace(view.status, conditions=(failed, *others))
    return msgspec.structs.replace(view, status=status)
