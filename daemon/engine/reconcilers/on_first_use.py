"""A reconciler that is made, and its code imported, when there is an object of its kind."""

from collections.abc import Callable, Iterable

from syncret.config.meta import GroupKind, ObjectRef
from syncret.daemon.engine.reconciler import Dependency, Outcome, Reconciler
from syncret.daemon.engine.writes import Writes
from syncret.daemon.homes.contract import StoredObject


class OnFirstUse:
    """Stands for a reconciler that most installations never need. Implements Reconciler."""

    def __init__(self, group_kind: GroupKind, make: Callable[[], Reconciler]) -> None:
        self.group_kind = group_kind
        self._make = make
        self._made: Reconciler | None = None

    def dependencies(self, stored: StoredObject) -> Iterable[Dependency]:
        """As the reconciler says."""
        return self._reconciler().dependencies(stored)

    async def reconcile(self, ref: ObjectRef, writes: Writes) -> Outcome:
        """As the reconciler does."""
        return await self._reconciler().reconcile(ref, writes)

    def _reconciler(self) -> Reconciler:
        if self._made is None:
            self._made = self._make()
        return self._made
