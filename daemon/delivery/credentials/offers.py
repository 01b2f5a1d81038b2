"""Which Delivery answers for which credential of which unit, and who has asked: shared with the socket."""

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
    """One socket target of a Delivery that may be answered for."""

    units: tuple[str, ...]
    names: frozenset[str]
    """The credentials."""
    folder: str
    """Where the set is that is live: one file for each credential."""
    generation: int
    """Number of the set that is live; the one that comes has the next."""
    coming: tuple[int, int] | None = None
    """Device and inode of the set that is under way, by which it is known once it is swapped in."""

    def is_for(self, asked: Asked) -> bool:
        """Whether this unit may have this credential."""
        return asked.credential in self.names and is_among(asked.unit, self.units)

    def is_near(self, asked: Asked) -> bool:
        """Whether it has the unit or the credential, but not both: somebody may have meant it."""
        return asked.credential in self.names or is_among(asked.unit, self.units)


class Audience(Protocol):
    """Hears which credentials of its Deliveries were asked for."""

    def answered(self, ref: ObjectRef, asked: Asked, generation: int) -> None:
        """A unit got the value that this set has."""
        ...

    def refused(self, ref: ObjectRef, message: str) -> None:
        """A unit was refused a credential of this Delivery, or one of its units another credential."""
        ...


class Offers:
    """The offers of one run of the daemon, and what came of them."""

    def __init__(self) -> None:
        self.results: Counter[str] = Counter()
        """How many requests ended how."""
        self.is_complete = False
        """Whether every Delivery that there was at the start has said what it offers."""
        self.audience: Audience | None = None
        self._offers: dict[ObjectRef, Sequence[Offer]] = {}
        self._consumers: dict[ObjectRef, dict[Asked, Consumer]] = {}
        self._changed = asyncio.Event()

    @property
    def changed(self) -> asyncio.Event:
        """Set at the next change: take it before looking, and wait for it after."""
        return self._changed

    def publish(self, ref: ObjectRef, offers: Sequence[Offer]) -> None:
        """A Delivery says what it answers for now. Also said when a set went live."""
        if offers:
            self._offers[ref] = offers
        else:
            self._offers.pop(ref, None)
        self.notify()

    def notify(self) -> None:
        """Let everybody look again who waits."""
        self._changed.set()
        self._changed = asyncio.Event()

    def complete(self) -> None:
        """No more offers come by themselves: what is not offered is refused at once from now on."""
        self.is_complete = True
        self.notify()

    def withdraw(self, ref: ObjectRef) -> None:
        """A Delivery is gone."""
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

    def tell_answered(self, ref: ObjectRef, asked: Asked, generation: int) -> None:
        """Tell the Delivery that a unit got a value of this set."""
        if self.audience is not None:
            self.audience.answered(ref, asked, generation)

    def tell_refused(self, ref: ObjectRef, message: str) -> None:
        """Tell it that a unit did not."""
        if self.audience is not None:
            self.audience.refused(ref, message)

    def note(self, ref: ObjectRef, consumer: Consumer) -> None:
        """Note who has which set; its Delivery reports it with its next run."""
        known = self._consumers.setdefault(ref, {})
        asked = Asked(consumer.unit, consumer.credential)
        known.pop(asked, None)
        known[asked] = consumer
        while len(known) > MOST_CONSUMERS:
            del known[next(iter(known))]

    def consumers(self, ref: ObjectRef, before: Sequence[Consumer]) -> tuple[Consumer, ...]:
        """The last that were answered, with those that an earlier run reported."""
        known = self._consumers.get(ref, {})
        if not known:
            return tuple(before)
        kept = [each for each in before if Asked(each.unit, each.credential) not in known]
        return (*kept, *known.values())[-MOST_CONSUMERS:]

    def _all(self) -> Iterator[tuple[ObjectRef, Offer]]:
        return ((ref, each) for ref in sorted(self._offers) for each in self._offers[ref])
