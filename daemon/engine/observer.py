"""Hooks of the engine: metrics, logs and `syncret simulate` are called at fixed points."""

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, Protocol, TypeAlias

from msgspec import Struct

from syncret.config.meta import ObjectRef
from syncret.daemon.core.plan.held_write import HeldWrite
from syncret.daemon.engine.reconciler import Failure
from syncret.providers.errors import SyncError
from syncret.providers.kit.ambient.rules import Verdict
from syncret.providers.kit.retry import Retry
from syncret.providers.pushes import PushItem, RemoteTarget
from syncret.providers.values import FindQuery, RemoteKey

Operation: TypeAlias = Literal["read", "find", "push", "delete", "exists", "probe", "generate", "cleanup"]

Faults: TypeAlias = Callable[[Operation, ObjectRef], str | None]
"""Asked before each provider call, with the store: the text of an error to fail with, or None."""


Item: TypeAlias = tuple[RemoteKey, ...] | FindQuery | PushItem | RemoteTarget | None
"""The argument of a call: for a read the keys of its batch, for a probe or a generator none."""


class Call(Struct, frozen=True, kw_only=True):
    """One call that reached a provider or a generator, or was refused by a fault in its place.

    Of a generator `store` is its object, and `provider` its kind.
    `namespace` is that of the first object that asked; `labels` are provider and call in the metrics.
    """

    store: ObjectRef
    provider: str
    namespace: str
    operation: Operation
    item: Item
    seconds: float
    labels: tuple[str, str]
    failure: SyncError | None = None


class Run(Struct, frozen=True, kw_only=True):
    """One run of a reconciler. `next_due` is when the object runs again, a retry included."""

    ref: ObjectRef
    lane: str
    waited: float
    seconds: float
    failure: Failure | None
    failures: int
    next_due: float | None


class Repeat(Struct, frozen=True):
    """A run that met a version conflict, for which the object is run again at once."""

    ref: ObjectRef
    waited: float
    seconds: float


class ExportRun(NamedTuple):
    """One run of a resource's exports that evaluated, or was refused before."""

    ref: ObjectRef
    seconds: float
    refused: str
    """The class of the first problem, or of the error; empty: none."""
    apis: Sequence[str]
    """The secret APIs that were called."""


class Observer(Protocol):
    """Is called when something happens. It runs on the event loop: it must be quick, and must not raise."""

    def ran(self, run: Run) -> None:
        """A run is over."""
        ...

    def repeats(self, repeat: Repeat) -> None:
        """A run met a version conflict, and the object is run again at once."""
        ...

    def bug(self, ref: ObjectRef, error: str, where: tuple[str, ...]) -> None:
        """A run ended by an unforeseen exception: its class and the places it passed, never its text."""
        ...

    def failed(self, ref: ObjectRef, failure: Failure) -> None:
        """A run ended by a failure that its reconciler could not report: the home is in trouble, say."""
        ...

    def removed(self, ref: ObjectRef) -> None:
        """An object is gone and cleaned up: its series can be dropped."""
        ...

    def held_back(self, ref: ObjectRef, held: Sequence[HeldWrite]) -> None:
        """A run that only observes would have written this, and the run before would not."""
        ...

    def listed(self, objects: int) -> None:
        """Everything that existed at the start is known; the first pass begins."""
        ...

    def first_pass(self, seconds: float) -> None:
        """Every object that existed at the start has been run once."""
        ...

    def called(self, call: Call) -> None:
        """A provider call is over."""
        ...

    def exported(self, run: ExportRun) -> None:
        """The exports of a resource were carried out, or refused."""
        ...

    def retried(self, store: ObjectRef, retry: Retry) -> None:
        """A provider call found no answer and is about to be tried again."""
        ...

    def shared(self, store: ObjectRef, keys: int) -> None:
        """So many keys were wanted while a read of them was under way, and joined it."""
        ...

    def write_waited(self, seconds: float) -> None:
        """A write to the home had waited for its turn for so long, and is sent now."""
        ...

    def waited(self, store: ObjectRef, seconds: float) -> None:
        """A provider call waited for the store's token bucket."""
        ...

    def throttled(self, store: ObjectRef, seconds: float) -> None:
        """The secret manager asked for fewer calls; the next one may start in so many seconds."""
        ...

    def opened(self, store: ObjectRef, failure: SyncError | None) -> None:
        """A client was opened, or could not be."""
        ...

    def closed(self, store: ObjectRef, error: str) -> None:
        """A client was closed; `error` is the class of the error of closing it, or empty."""
        ...

    def sends_own_identity(self, store: ObjectRef, verdict: Verdict) -> None:
        """A store is about to send an identity of the daemon to a server that no setting names."""
        ...

    def clock_jumped(self, seconds: float) -> None:
        """The system's clock was moved, ahead or (negative) back."""
        ...


class NullObserver:
    """Does nothing. The base of observers that implement some of the methods only."""

    def ran(self, run: Run) -> None: ...
    def repeats(self, repeat: Repeat) -> None: ...
    def bug(self, ref: ObjectRef, error: str, where: tuple[str, ...]) -> None: ...
    def failed(self, ref: ObjectRef, failure: Failure) -> None: ...
    def removed(self, ref: ObjectRef) -> None: ...
    def held_back(self, ref: ObjectRef, held: Sequence[HeldWrite]) -> None: ...
    def listed(self, objects: int) -> None: ...
    def first_pass(self, seconds: float) -> None: ...
    def called(self, call: Call) -> None: ...
    def exported(self, run: ExportRun) -> None: ...
    def retried(self, store: ObjectRef, retry: Retry) -> None: ...
    def shared(self, store: ObjectRef, keys: int) -> None: ...
    def write_waited(self, seconds: float) -> None: ...
    def waited(self, store: ObjectRef, seconds: float) -> None: ...
    def throttled(self, store: ObjectRef, seconds: float) -> None: ...
    def opened(self, store: ObjectRef, failure: SyncError | None) -> None: ...
    def closed(self, store: ObjectRef, error: str) -> None: ...
    def sends_own_identity(self, store: ObjectRef, verdict: Verdict) -> None: ...
    def clock_jumped(self, seconds: float) -> None: ...


class ObserverGroup:
    """Calls several observers, in their order."""

    def __init__(self, *observers: Observer) -> None:
        self._observers = observers

    def ran(self, run: Run) -> None:
        for each in self._observers:
            each.ran(run)

    def repeats(self, repeat: Repeat) -> None:
        for each in self._observers:
            each.repeats(repeat)

    def bug(self, ref: ObjectRef, error: str, where: tuple[str, ...]) -> None:
        for each in self._observers:
            each.bug(ref, error, where)

    def failed(self, ref: ObjectRef, failure: Failure) -> None:
        for each in self._observers:
            each.failed(ref, failure)

    def removed(self, ref: ObjectRef) -> None:
        for each in self._observers:
            each.removed(ref)

    def held_back(self, ref: ObjectRef, held: Sequence[HeldWrite]) -> None:
        for each in self._observers:
            each.held_back(ref, held)

    def listed(self, objects: int) -> None:
        for each in self._observers:
            each.listed(objects)

    def first_pass(self, seconds: float) -> None:
        for each in self._observers:
            each.first_pass(seconds)

    def called(self, call: Call) -> None:
        for each in self._observers:
            each.called(call)

    def exported(self, run: ExportRun) -> None:
        for each in self._observers:
            each.exported(run)

    def retried(self, store: ObjectRef, retry: Retry) -> None:
        for each in self._observers:
            each.retried(store, retry)

    def shared(self, store: ObjectRef, keys: int) -> None:
        for each in self._observers:
            each.shared(store, keys)

    def write_waited(self, seconds: float) -> None:
        for each in self._observers:
            each.write_waited(seconds)

    def waited(self, store: ObjectRef, seconds: float) -> None:
        for each in self._observers:
            each.waited(store, seconds)

    def throttled(self, store: ObjectRef, seconds: float) -> None:
        for each in self._observers:
            each.throttled(store, seconds)

    def opened(self, store: ObjectRef, failure: SyncError | None) -> None:
        for each in self._observers:
            each.opened(store, failure)

    def closed(self, store: ObjectRef, error: str) -> None:
        for each in self._observers:
            each.closed(store, error)

    def sends_own_identity(self, store: ObjectRef, verdict: Verdict) -> None:
        for each in self._observers:
            each.sends_own_identity(store, verdict)

    def clock_jumped(self, seconds: float) -> None:
        for each in self._observers:
            each.clock_jumped(seconds)
