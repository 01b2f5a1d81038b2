"""The first pass: which of the objects that existed at the start have still to be reconciled."""

import asyncio
from collections.abc import Callable

from syncret.config.meta import ObjectRef
from syncret.config.resources.kinds import role_of


def is_delivery(ref: ObjectRef) -> bool:
    """Whether an object is a Delivery: what it delivers may be waited for at a boot."""
    return role_of(ref.group_kind) == "delivery"


class FirstPass:
    """Counts the objects of the start that still wait for their first run, and the Deliveries among them."""

    def __init__(self, on_complete: Callable[[float], None]) -> None:
        """`on_complete` is given the seconds that it took."""
        self.synced = asyncio.Event()
        """Set once every object that existed at the start has been queued."""
        self.complete = asyncio.Event()
        """Set once every one of these has been run to a decision."""
        self.delivered = asyncio.Event()
        """Set once each Delivery among them is live or has failed; without any, once all are decided."""
        self._on_complete = on_complete
        self._waiting: set[ObjectRef] = set()
        self._deliveries: set[ObjectRef] = set()
        self._has_deliveries = False
        self._loop = asyncio.get_running_loop()
        self._begin = self._loop.time()

    def __len__(self) -> int:
        return len(self._waiting)

    def expect(self, ref: ObjectRef) -> None:
        """It existed at the start."""
        self._waiting.add(ref)
        if is_delivery(ref):
            self._deliveries.add(ref)
            self._has_deliveries = True

    def all_known(self) -> None:
        """No other did."""
        self.synced.set()
        self._look()

    def is_live(self, ref: ObjectRef) -> None:
        """The files of a Delivery can be read; its units may still have to be reloaded."""
        if ref in self._deliveries:
            self._deliveries.discard(ref)
            self._look()

    def is_decided(self, ref: ObjectRef) -> None:
        """It has been run to a decision."""
        if not self.complete.is_set():
            self._waiting.discard(ref)
            self._deliveries.discard(ref)
            self._look()

    def _look(self) -> None:
        if not self.synced.is_set():
            return
        if self._has_deliveries and not self._deliveries:
            self.delivered.set()
        if not self._waiting and not self.complete.is_set():
            self._waiting.clear()  # an empty set keeps room for as many as there were
            self.delivered.set()
            self.complete.set()
            self._on_complete(self._loop.time() - self._begin)
