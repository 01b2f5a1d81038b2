"""Reads the sources of a PushSecret, and looks up, pushes and deletes entries of its stores."""

from collections.abc import Mapping, Sequence

from syncret.config.resources.external_secret import ExternalSecret
from syncret.config.resources.kinds import EXTERNAL_SECRET, SECRET
from syncret.config.resources.push_secret import PushSecret, PushSelector
from syncret.daemon.core.needs import StoreName
from syncret.daemon.core.plan.push_operations import Done, StoreOperations, push_error
from syncret.daemon.core.plan.push_secret import Existing, SourceMissing
from syncret.daemon.core.plan.secret_store import PendingDependency
from syncret.daemon.core.push_entries import Source, Store, field_of_push
from syncret.daemon.core.secret import secret_data
from syncret.daemon.engine.reconcilers.context import ReconcilerContext
from syncret.daemon.engine.reconcilers.stores import usable_store
from syncret.daemon.engine.sessions.session import Session
from syncret.daemon.engine.work import SyncWork
from syncret.daemon.engine.writes import Writes
from syncret.providers.errors import Malformed, SyncError
from syncret.providers.pushes import RemoteTarget


async def read_sources(
    context: ReconcilerContext, selector: PushSelector, namespace: str
) -> tuple[Source, ...]:
    """The Secrets to push from, as they are now; none where a selector matches none.

    Raises SourceMissing, Malformed, or PendingDependency for a Secret that is being made.
    """
    if selector.secret is None or not (selector.secret.name or selector.secret.selector):
        raise Malformed(
            "no secret selector provided", hint="set spec.selector.secret or spec.selector.generatorRef"
        )
    name = selector.secret.name
    if name:
        stored = await context.home.get(SECRET.ref(namespace, name))
        if stored is None and _is_being_made(context, namespace, name):
            raise PendingDependency(f'secret "{name}" is being made')
        if stored is None:
            raise SourceMissing(f'secret "{name}" not found', hint=f"create it in {namespace}")
        found = [stored]
    else:
        labels = selector.secret.selector
        found = list(await context.home.list(SECRET.group_kind, namespace=namespace, selector=labels))
    documents = [stored.document for stored in found]
    return tuple(Source(document, secret_data(document)) for document in documents)


def _is_being_made(context: ReconcilerContext, namespace: str, name: str) -> bool:
    """Whether an ExternalSecret makes the Secret, and none of its runs has ended yet."""
    for maker in context.inventory.dependents(SECRET.ref(namespace, name)):
        if maker.group_kind == EXTERNAL_SECRET.group_kind and not context.memory.had_first_run(maker):
            stored = context.inventory.get(maker)
            if stored is not None and not stored.as_type(ExternalSecret).status.conditions:
                return True
    return False


class Pusher:
    """The calls to stores of one run. A store that fails ends its own calls alone."""

    def __init__(
        self, context: ReconcilerContext, writes: Writes, resource: PushSecret, work: SyncWork
    ) -> None:
        self._work = work
        self._context = context
        self._writes = writes
        self._resource = resource
        self._namespace = resource.metadata.namespace

    async def look_up(self, lookups: Mapping[Store, Sequence[RemoteTarget]]) -> Existing:
        """Whether each of these entries exists; after an error a store is asked no more."""
        existing: dict[Store, dict[RemoteTarget, bool | SyncError]] = {}
        for store, targets in lookups.items():
            answers = existing.setdefault(store, {})
            for target in targets:
                answers[target] = answer = await self._exists(store, target)
                if isinstance(answer, SyncError):
                    break
        return existing

    async def carry_out(self, operations: Sequence[StoreOperations]) -> tuple[Done, ...]:
        """Push at every store, then delete. A failed push leaves everything undeleted."""
        done = [await self._push(each) for each in operations]
        if push_error(done) is None:
            done = [
                await self._delete(each, count.pushed) for each, count in zip(operations, done, strict=True)
            ]
        return tuple(done)

    async def _exists(self, store: Store, target: RemoteTarget) -> bool | SyncError:
        try:
            session = await self._session(store.kind, store.name, store.name)
        except SyncError as error:
            return error
        try:
            return await session.exists(target)
        except SyncError as error:
            return error.within("could not verify if secret exists in store")

    async def _push(self, operations: StoreOperations) -> Done:
        store, count = operations.store, 0
        if not operations.is_selected:
            return Done()
        try:
            session = await self._session(store.kind, store.name, store.name)
        except SyncError as error:
            return Done(push_error=error)
        for entry, item in ((push.entry, push.item) for push in operations.pushes):
            try:
                if item is not None:
                    self._writes.check_ours()
                    await session.push(item)
            except SyncError as error:
                what = f"could not write remote ref {entry.secret_key} to target secretstore {store.name}"
                failed = error.within(what).below(field_of_push(self._resource.spec, entry))
                return Done(pushed=count, push_error=failed)
            count += 1
        return Done(pushed=count, push_error=operations.error)

    async def _delete(self, operations: StoreOperations, pushed: int) -> Done:
        store, count = operations.store, 0
        try:
            if operations.deletes:
                session = await self._session(store.kind, store.name, str(store))
                for removal in operations.deletes:
                    self._writes.check_ours()
                    await session.delete(removal.target)
                    count += 1
        except SyncError as error:
            return Done(pushed=pushed, deleted=count, delete_error=error)
        return Done(pushed=pushed, deleted=count)

    async def _session(self, kind: str, name: str, shown: str) -> Session:
        try:
            store = await usable_store(
                self._context, self._writes, StoreName(kind, name), self._namespace, ready=False
            )
        except SyncError as error:
            raise error.within(f"could not get secrets client for store {shown}") from error
        return self._context.sessions.session(store, self._namespace, self._work)
