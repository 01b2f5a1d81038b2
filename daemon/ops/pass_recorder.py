"""Records one pass over all objects, of `sync` or the start of the daemon: its progress, and its writes."""

from collections import Counter
from collections.abc import Callable

from syncret.config.meta import Document, ObjectRef
from syncret.daemon.core.plan.actions import Action, OutputChange, Verb, output_change
from syncret.daemon.engine.observer import NullObserver, Run


class PassRecorder(NullObserver):
    """Counts the first run of each object, and keeps the changes of outputs until it is stopped."""

    def __init__(self, show: Callable[[int, int], None] | None = None) -> None:
        """`show` gets the number of objects that have had their first run, and the number of all."""
        self._show = show
        self._seen: set[ObjectRef] = set()
        self._total = 0
        self._written: list[OutputChange] = []
        self._removed: dict[ObjectRef, Document] = {}
        self.seconds: float | None = None
        """How long the pass took; None before its end."""
        self.is_recording = True

    def listed(self, objects: int) -> None:
        self._total = objects

    def ran(self, run: Run) -> None:
        if self._show is None or not self.is_recording:
            return
        self._seen.add(run.ref)
        if self._total:  # unknown while manifests are still read
            self._show(len(self._seen), max(self._total, len(self._seen)))

    def first_pass(self, seconds: float) -> None:
        if self.is_recording:
            self.seconds = seconds

    def applied(self, _run: ObjectRef, action: Action) -> None:
        """A reconciler wrote something."""
        change = output_change(action) if self.is_recording else None
        if change is not None:
            self._written.append(change)

    def output_removed(self, ref: ObjectRef, before: Document) -> None:
        """An output is gone, for any reason."""
        if self.is_recording:
            self._removed[ref] = before

    def changes(self) -> list[OutputChange]:
        """The changes of outputs in their order; then the outputs that went with their owner or manifest."""
        named = {each.ref for each in self._written if each.verb is Verb.DELETE}
        cascaded = (
            output_change(Action(verb=Verb.DELETE, ref=ref, before=before))
            for ref, before in self._removed.items()
            if ref not in named
        )
        return [*self._written, *(change for change in cascaded if change is not None)]

    def counts(self) -> Counter[Verb]:
        """How many outputs were created, updated and deleted."""
        return Counter(change.verb for change in self.changes())

    def stop(self) -> None:
        """Forget everything: what comes is no part of the pass."""
        self.is_recording = False
        self._seen.clear()
        self._written.clear()
        self._removed.clear()
