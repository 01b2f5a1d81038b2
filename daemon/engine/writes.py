"""The only way in which a run writes: the new version is in the inventory before the run goes on."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, Protocol, TypeVar

import msgspec

from syncret.config.meta import Document, GroupKind, Metadata, ObjectRef
from syncret.config.resources.kinds import NAMESPACE
from syncret.daemon.core.plan.actions import Action
from syncret.daemon.engine.inventory import Inventory
from syncret.daemon.engine.reconciler import Outcome
from syncret.daemon.homes.contract import (
    Conflict,
    Home,
    NotDurable,
    NotFound,
    StorageUnavailable,
    StoredObject,
    TooManyRequests,
)
from syncret.providers.kit.retry import Doubling

T = TypeVar("T")
Made = TypeVar("Made", StoredObject, StoredObject | None)

MAX_STATUS_TRIES: Final = 5

MAX_READ_TRIES: Final = 5
_READ_PAUSES: Final = Doubling(1.0, 8.0)
FEWEST: Final = 4
"""Writes that may be under way at once even if the home asks for fewer again and again."""

GOOD_WRITES: Final = 100
"""Writes without a refusal after which one more may be under way."""

PAUSES: Final = Doubling(1.0, 30.0)
"""How long no write starts if the home refuses one without saying for how long."""


class OwedStatus(msgspec.Struct, frozen=True):
    """The status of a run that could not be written yet; it is valid for one uid and generation only."""

    seen: StoredObject
    status: Mapping[str, Any]


class Recorder(Protocol):
    """Takes versions into the inventory, and wakes the objects that they concern."""

    def record(self, stored: StoredObject, writer: ObjectRef | None) -> None:
        """A version that `writer` wrote; None where it is to be run for it, too."""
        ...

    def is_reconciled(self, kind: GroupKind) -> bool:
        """Whether objects of this kind are run."""
        ...

    def record_deleted(self, seen: StoredObject, writer: ObjectRef | None) -> None:
        """An object that is gone."""
        ...


class WriteGate:
    """Bounds the writes under way at once; while the home is overloaded they wait, and become fewer.

    Writes of new and changed objects go before those of periodic ones.
    """

    def __init__(self, most: int, on_wait: Callable[[float], object] = lambda _: None) -> None:
        """`on_wait` is called with the seconds for which a write waited for its turn."""
        self._on_wait = on_wait
        self._most = self._limit = most
        self._under_way = 0
        self._good = 0
        self._refusals = 0
        self._bursts = 0
        self._closed_until = 0.0
        self._opening: asyncio.TimerHandle | None = None
        self._waiting: tuple[deque[asyncio.Future[None]], deque[asyncio.Future[None]]] = (deque(), deque())

    @property
    def under_way(self) -> int:
        """How many writes wait for the home's answer."""
        return self._under_way

    @property
    def limit(self) -> int:
        """How many may do so now."""
        return self._limit

    async def call(self, write: Callable[[], Awaitable[T]], *, urgent: bool) -> T:
        """Make one write; it is repeated while the home is overloaded, which is no failure of the object."""
        while True:
            if self._closed_until or self._under_way >= self._limit:
                began = asyncio.get_running_loop().time()
                await self._enter(urgent=urgent)
                self._on_wait(asyncio.get_running_loop().time() - began)
            else:
                self._under_way += 1
                self._on_wait(0.0)
            burst = self._bursts
            try:
                result = await write()
            except TooManyRequests as error:
                self._refused(error.retry_after, burst)
            else:
                self._accepted()
                return result
            finally:
                self._leave()

    async def _enter(self, *, urgent: bool) -> None:
        turn = asyncio.get_running_loop().create_future()
        line = self._waiting[0 if urgent else 1]
        line.append(turn)
        self._hand_out()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._leave()  # the place was given in the moment of the cancellation
            elif turn in line:  # a place that came free in the same moment has passed it over already
                line.remove(turn)
            raise

    def _leave(self) -> None:
        self._under_way -= 1
        if any(self._waiting):
            self._hand_out()

    def _hand_out(self) -> None:
        """Give the free places to those that wait, urgent ones first; while it is closed, once it opens."""
        if self._closed_until:
            loop = asyncio.get_running_loop()
            if self._closed_until > loop.time():
                if self._opening is None or self._opening.when() < self._closed_until:
                    self._opening = loop.call_at(self._closed_until, self._open)
                return
            self._closed_until = 0.0
        for line in self._waiting:
            while line and self._under_way < self._limit:
                turn = line.popleft()
                if not turn.done():
                    self._under_way += 1
                    turn.set_result(None)

    def _open(self) -> None:
        self._opening = None
        self._hand_out()

    def _refused(self, retry_after: float | None, burst: int) -> None:
        """Close. Refusals of writes that were under way together count once."""
        if burst == self._bursts:
            self._bursts += 1
            self._refusals += 1
            self._limit = max(FEWEST, min(self._limit, self._under_way) // 2)
            self._good = 0
        pause = retry_after if retry_after is not None else PAUSES.pause(self._refusals)
        self._closed_until = max(self._closed_until, asyncio.get_running_loop().time() + pause)

    def _accepted(self) -> None:
        self._refusals = 0
        if self._limit >= self._most:
            return
        self._good += 1
        if self._good >= GOOD_WRITES:
            self._good = 0
            self._limit += 1


class Writes:
    """The writes of one run of one object, and the reads that have to be newer than the inventory.

    A status that cannot be written is owed: the engine writes it before the object is run again, so that
    nothing is fetched or generated a second time for it.
    """

    def __init__(
        self,
        run: ObjectRef,
        *,
        home: Home,
        inventory: Inventory,
        recorder: Recorder,
        gate: WriteGate,
        owed: dict[ObjectRef, OwedStatus],
        urgent: bool,
    ) -> None:
        self._run = run
        self._home = home
        self._inventory = inventory
        self._recorder = recorder
        self._gate = gate
        self._owed = owed
        self._urgent = urgent

    @property
    def observes(self) -> bool:
        """Whether nothing may be written, and writes are recorded instead."""
        return False

    def holds(self, action: Action) -> bool:
        """Whether the action is held back, and noted."""
        del action
        return False

    async def check_newest(self, seen: StoredObject) -> None:
        """Asked before a run reads or generates anything. Raises Conflict if there is a newer version.

        Another replica may have synced the object a moment before this one took over.
        """
        if self._home.is_behind(seen.ref.group_kind):
            newest = await self.get(seen.ref)
            if newest is None or newest.is_newer_than(seen):
                raise Conflict(f"{seen.ref}: another replica wrote it before this one took over")

    def check_ours(self) -> None:
        """Asked before each write to a secret manager. Raises StorageUnavailable if another replica acts."""
        if not self._home.owns(self._run):
            raise StorageUnavailable(f"{self._run}: another replica acts on it now")

    def check_asks(self) -> None:
        """Asked before a run reads from secret managers."""

    def check_waits(self, outcome: Outcome) -> None:
        """Called with the outcome of a run, which may wait for a write of another run."""

    async def get_after_write(self, ref: ObjectRef) -> StoredObject | None:
        """As `get`, for a run that has to know how its write ended: the home is asked more than once."""
        for failures in range(1, MAX_READ_TRIES):
            try:
                return await self.get(ref)
            except (StorageUnavailable, TooManyRequests) as error:
                asked = error.retry_after if isinstance(error, TooManyRequests) else None
                await asyncio.sleep(_READ_PAUSES.pause(failures) if asked is None else asked)
        return await self.get(ref)

    async def get(self, ref: ObjectRef) -> StoredObject | None:
        """The object as it is now, whole. What the inventory lacks of it is recorded."""
        before = self._inventory.get(ref)
        stored = await self._home.get(ref)
        if stored is None:
            if before is not None and self._inventory.get(ref) is before:
                self._recorder.record_deleted(before, None)
        elif self._recorder.is_reconciled(ref.group_kind):  # others may carry values: those are not kept
            self._recorder.record(stored, None)
        return stored

    async def create(self, document: Document, *, field_manager: str = "") -> StoredObject:
        """As the home's own. A name that is taken is a Conflict: read the object and decide again."""
        write = partial(self._home.create, document, field_manager=field_manager)
        try:
            return self._made(await self._gate.call(write, urgent=self._urgent))
        except NotDurable as error:
            self._made(error.stored)
            raise

    async def update(self, document: Document, *, field_manager: str = "") -> StoredObject:
        """As the home's own."""
        write = partial(self._home.update, document, field_manager=field_manager)
        try:
            return self._made(await self._gate.call(write, urgent=self._urgent))
        except NotDurable as error:
            self._made(error.stored)
            raise

    async def call(self, write: Callable[[], Awaitable[StoredObject]]) -> StoredObject:
        """A write that only some homes can do."""
        return self._made(await self._gate.call(write, urgent=self._urgent))

    async def set_finalizers(self, seen: StoredObject, finalizers: Sequence[str]) -> StoredObject:
        """As the home's own; an object that waited only for this is gone from the inventory, too."""
        write = partial(self._home.set_finalizers, seen, finalizers)
        try:
            return self._made(await self._gate.call(write, urgent=self._urgent))
        except NotDurable as error:
            self._made(error.stored)
            raise

    async def delete(self, seen: StoredObject) -> None:
        """As the home's own; late events do not restore the object."""
        try:
            held = await self._gate.call(partial(self._home.delete, seen), urgent=self._urgent)
        except NotDurable as error:
            self._deleted(seen, error.stored)
            raise
        self._deleted(seen, held)

    def may_mark(self, ref: ObjectRef) -> bool:
        """As the home's own."""
        return self._home.may_mark(ref)

    async def update_status(self, seen: StoredObject, status: Mapping[str, Any]) -> None:
        """Write the status of a run for `seen`, on the newest version of that generation.

        Raises Conflict where the spec is another one now: the object is to be run again.
        """
        self._owed[seen.ref] = OwedStatus(seen, status)
        await self.settle_status(seen.ref)

    async def settle_status(self, ref: ObjectRef) -> None:
        """Write the status that is owed to an object, if one is."""
        owed = self._owed.get(ref)
        if owed is None:
            return
        for _ in range(MAX_STATUS_TRIES):
            if self._owed.get(ref) is not owed:
                return  # another replica acts on the object now, and reports itself
            newest = self._inventory.get(ref) or owed.seen
            if newest.uid != owed.seen.uid:
                self._owed.pop(ref, None)
                return
            if newest.generation != owed.seen.generation:
                self._owed.pop(ref, None)
                raise Conflict(f"{ref}: the spec was changed during the run")
            try:
                write = partial(self._home.update_status, newest, owed.status)
                self._made(await self._gate.call(write, urgent=self._urgent))
            except NotDurable as error:
                self._made(error.stored)
                raise
            except Conflict:
                if await self.get(ref) is None:
                    self._owed.pop(ref, None)
                    return
                continue
            self._owed.pop(ref, None)
            return
        raise Conflict(f"{ref}: the status could not be written, the object changes all the time")

    def _made(self, stored: Made) -> Made:
        """Record an own write, also one that is not durable, so that its event requeues no object."""
        if stored is not None:
            if is_released(stored):
                self._recorder.record_deleted(stored, self._run)
            else:
                self._recorder.record(stored, self._run)
        return stored

    def _deleted(self, seen: StoredObject, held: StoredObject | None) -> None:
        if held is None:
            self._recorder.record_deleted(seen, self._run)
        else:
            self._recorder.record(held, None)  # the clean-up is the task of another run


class _Head(msgspec.Struct):
    metadata: Metadata


def is_released(stored: StoredObject) -> bool:
    """Whether the version is the last one: it was deleted, and no finalizer holds it any more."""
    if b"deletionTimestamp" not in stored.data or stored.ref.group_kind == NAMESPACE.group_kind:
        return False  # a namespace waits for its contents, too
    metadata = stored.as_type(_Head).metadata
    return bool(metadata.deletion_timestamp) and not metadata.finalizers


async def delete_if_there(writes: Writes, seen: StoredObject) -> bool:
    """Delete the object; False where it was gone already."""
    try:
        await writes.delete(seen)
    except NotFound:
        return False
    return True
