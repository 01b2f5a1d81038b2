"""Runs that only observe: what they would write is recorded, and nothing leaves the daemon."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from syncret.config.meta import Document, ObjectRef, ref_of
from syncret.daemon.core.plan.actions import Action
from syncret.daemon.core.plan.held_write import HeldWrite, held_action, held_status
from syncret.daemon.engine.reconciler import Outcome
from syncret.daemon.engine.writes import Writes
from syncret.daemon.homes.contract import StoredObject


class HeldBack(Exception):
    """Ends a run that only observes, where it would go on with a call that it may not make."""


class HeldRecord:
    """What runs would have written: for each object, the writes of its last run."""

    def __init__(self, is_on: Callable[[], bool], *, asks_stores: bool = True) -> None:
        """`is_on`: whether the daemon only observes now; without `asks_stores` no store is read."""
        self._is_on = is_on
        self.asks_stores = asks_stores
        self._was_on = False
        self._by_run: dict[ObjectRef, tuple[HeldWrite, ...]] = {}

    @property
    def is_on(self) -> bool:
        """Whether the daemon only observes now."""
        on = self._is_on()
        self._was_on = self._was_on or on
        return on

    def of(self, ref: ObjectRef) -> Sequence[HeldWrite]:
        """The writes that the last run of an object would have made."""
        return self._by_run.get(ref, ())

    def all(self) -> Mapping[ObjectRef, Sequence[HeldWrite]]:
        """Of every object that would have had something written."""
        return self._by_run

    def counts(self) -> Mapping[str, int]:
        """How many of them there are, by what they would do."""
        return Counter(each.verb for held in self._by_run.values() for each in held)

    def put(self, ref: ObjectRef, held: Sequence[HeldWrite]) -> bool:
        """Note what a run would have written; whether that is news."""
        is_news = self._by_run.get(ref, ()) != tuple(held)
        if held:
            self._by_run[ref] = tuple(held)
        else:
            self._by_run.pop(ref, None)
        return is_news

    def has_ended(self) -> bool:
        """Whether observing is over since this was asked last: all that was held back is to be done now."""
        if not self._was_on or self._is_on():
            return False
        self._was_on = False
        self._by_run.clear()
        return True


class HeldWrites(Writes):
    """The writes of one run that only observes. What a method returns is what stands, or would stand."""

    def begin(self, record: HeldRecord) -> None:
        """Say whether stores may be asked."""
        self._record = record
        self.held: list[HeldWrite] = []

    @property
    def observes(self) -> bool:
        return True

    def holds(self, action: Action) -> bool:
        """Note the action."""
        self.held.append(held_action(action))
        return True

    def check_ours(self) -> None:
        """End the run before it writes to a secret manager."""
        super().check_ours()
        self.held.append(HeldWrite("provider", self._run))
        raise HeldBack

    def check_asks(self) -> None:
        """End the run before it reads from a secret manager, unless it may."""
        if not self._record.asks_stores:
            self.held.append(HeldWrite("read", self._run))
            raise HeldBack

    def check_waits(self, outcome: Outcome) -> None:
        """End a run that would wait: nothing that it waits for, such as its store's status, is written."""
        if outcome.pending:
            self.held.append(HeldWrite("read", self._run, "once what it needs is written"))
            raise HeldBack

    def may_mark(self, ref: ObjectRef) -> bool:
        """As the home's own; what would have been marked counts as marked."""
        return super().may_mark(ref) and not any(each.ref == ref for each in self.held)

    async def create(self, document: Document, *, field_manager: str = "") -> StoredObject:
        """Note the creation."""
        del field_manager
        ref = ref_of(document)
        self.held.append(HeldWrite("create", ref))
        return StoredObject(ref=ref, uid="", resource_version="0", data=msgspec.json.encode(document))

    async def update(self, document: Document, *, field_manager: str = "") -> StoredObject:
        """Note the update."""
        del field_manager
        ref = ref_of(document)
        self.held.append(HeldWrite("update", ref))
        version = str(document["metadata"].get("resourceVersion", "0"))
        return StoredObject(ref=ref, uid="", resource_version=version, data=msgspec.json.encode(document))

    async def set_finalizers(self, seen: StoredObject, finalizers: Sequence[str]) -> StoredObject:
        """Note the change."""
        document = seen.document if seen.data else Document(metadata={})
        self.held.append(
            HeldWrite("finalizers", seen.ref, "; ".join(_changed(document["metadata"], finalizers)))
        )
        document["metadata"]["finalizers"] = list(finalizers)
        return msgspec.structs.replace(seen, data=msgspec.json.encode(document))

    async def delete(self, seen: StoredObject) -> None:
        """Note the deletion."""
        self.held.append(HeldWrite("delete", seen.ref))

    async def update_status(self, seen: StoredObject, status: Mapping[str, Any]) -> None:
        """Note what would be another one."""
        newest = self._inventory.get(seen.ref) or seen
        held = held_status(seen.ref, newest.document.get("status") or {}, status)
        if held is not None:
            self.held.append(held)

    async def settle_status(self, ref: ObjectRef) -> None:
        """Forget the status that an earlier run owes: the operator that writes now writes its own."""
        self._owed.pop(ref, None)


def _changed(metadata: Document, finalizers: Sequence[str]) -> Iterator[str]:
    before: list[str] = metadata.get("finalizers") or []
    for what, names in (
        ("adds", [each for each in finalizers if each not in before]),
        ("removes", [each for each in before if each not in finalizers]),
    ):
        if names:
            yield f"{what} {', '.join(names)}"
