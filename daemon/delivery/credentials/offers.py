"""What Deliveries offer on the credential socket, by unit and credential, and which units have asked."""

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, Protocol

from msgspec import Struct

from syncret.config.meta import ObjectRef
from syncret.config.resources.delivery.status import Consumer
from syncret.daemon.core.delivery.credentials import Asked, is_among

MOST_CONSUMERS: Final = 64


class Offer(Struct, frozen=True, kw_only=True):
    """One socket target of a Delivery."""

    units: tuple[str, ...]
    names: frozenset[str]
    """The credentials."""
    folder: str
    """The folder of the live set, with one file for each credential."""
    generation: int
    """Number of the live set; that of the next one is one more."""
    coming: tuple[int, int] | None = None
    """Device and inode of the next set, by which it is recognized once it is swapped in."""

    def is_for(self, asked: Asked) -> bool:
        """Whether this unit may have this credential."""
        return asked.credential in self.names and is_among(asked.unit, self.units)

    def is_near(self, asked: Asked) -> bool:
        """Whether it has the unit or the credential: then its author may have made a mistake."""
        return asked.credential in self.names or is_among(asked.unit, self.units)


class OfferListener(Protocol):
    """Is notified of the requests for credentials that Deliveries offer."""

    def answered(self, ref: ObjectRef, asked: Asked, generation: int) -> None:
        """A unit got the value of this set."""
        ...

    def refused(self, ref: ObjectRef, message: str) -> None:
        """A request was refused that has the unit or the credential of this Delivery."""
        ...


class Offers:
    """The offers of one run of the daemon, and the requests for them."""

    def __init__(self) -> None:
        self.results: Counter[str] = Counter()
        """The number of requests by result."""
        self.is_complete = False
        """Whether every Delivery that existed at the start has published its offers."""
        self.listener: OfferListener | None = None
        self._offers: dict[ObjectRef, Sequence[Offer]] = {}
        self._consumers: dict[ObjectRef, dict[Asked, Consumer]] = {}
        self._changed = asyncio.Event()

    @property
    def changed(self) -> asyncio.Event:
        """Set at the next change. Take it before the offers are read, then wait for it."""
        return self._changed

    def publish(self, ref: ObjectRef, offers: Sequence[Offer]) -> None:
        """Replace the offers of a Delivery; also called when a set went live."""
        if offers:
            self._offers[ref] = offers
        else:
            self._offers.pop(ref, None)
        self.notify()

    def notify(self) -> None:
        """Wake all requests that wait."""
        self._changed.set()
        self._changed = asyncio.Event()

    def complete(self) -> None:
        """Refuse other requests at once from now on: all Deliveries have published their offers."""
        self.is_complete = True
        self.notify()

    def withdraw(self, ref: ObjectRef) -> None:
        """Remove the offers and consumers of a Delivery."""
        self._consumers.pop(ref, None)
        if ref in self._offers:
            self.publish(ref, ())

    def __bool__(self) -> bool:
        return bool(self._offers)

    def of(self, asked: Asked) -> Iterator[tuple[ObjectRef, Offer]]:
        """The offers for this request; usually one."""
        return ((ref, each) for ref, each in self._all() if each.is_for(asked))

    def near(self, asked: Asked) -> ObjectRef | None:
        """A Delivery that has the unit or the credential."""
        return next((ref for ref, each in self._all() if each.is_near(asked)), None)

    def report_answered(self, ref: ObjectRef, asked: Asked, generation: int) -> None:
        """Notify the listener that a unit got a value of this set."""
        if self.listener is not None:
            self.listener.answered(ref, asked, generation)

    def report_refused(self, ref: ObjectRef, message: str) -> None:
        """Notify the listener that a unit was refused."""
        if self.listener is not None:
            self.listener.refused(ref, message)

    def note(self, ref: ObjectRef, consumer: Consumer) -> None:
        """Note which set a unit has; the next run of the Delivery reports it."""
        known = self._consumers.setdefault(ref, {})
        asked = Asked(consumer.unit, consumer.credential)
        known.pop(asked, None)
        known[asked] = consumer
        while len(known) > MOST_CONSUMERS:
            del known[next(iter(known))]

    def consumers(self, ref: ObjectRef, before: Sequence[Consumer]) -> tuple[Consumer, ...]:
        """The units that were answered last, with those that an earlier run reported."""
        known = self._consumers.get(ref, {})
        if not known:
            return tuple(before)
        kept = [each for each in before if Asked(each.unit, each.credential) not in known]
        return (*kept, *known.values())[-MOST_CONSUMERS:]

    def _all(self) -> Iterator[tuple[ObjectRef, Offer]]:
        return ((ref, each) for ref in sorted(self._offers) for each in self._offers[ref])
