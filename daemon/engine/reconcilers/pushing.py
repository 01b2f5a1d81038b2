"""Pushes and deletes at the stores, and keeps the account of what stands where.

Where a PushSecret takes its values from: one Secret, all that match a selector, or a generator.

What a PushSecret's template makes of its source, in memory only: the Secret itself is never changed.
"""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from syncret.config.meta import Document, GroupKind, ObjectRef
from syncret.config.resources.external_secret import ExternalSecret
from syncret.config.resources.push_secret import PushData, PushSecret
from syncret.config.resources.templates import Template
from syncret.daemon.core.needs import StoreName
from syncret.daemon.core.plan.stores import PendingDependency
from syncret.daemon.core.push_entries import PushEntry, Store, entries, payload
from syncret.daemon.core.rendering import Rendering
from syncret.daemon.core.secret import SecretSink, secret_data
from syncret.daemon.engine.reconcilers.context import ReconcilerContext
from syncret.daemon.engine.reconcilers.generators import GeneratorTransaction
from syncret.daemon.engine.reconcilers.stores import usable_store
from syncret.daemon.engine.sessions.session import Session
from syncret.daemon.engine.templates import rendering_for
from syncret.daemon.engine.writes import Writes
from syncret.daemon.homes.contract import StoredObject
from syncret.providers.contract import PushItem, RemoteTarget
from syncret.providers.errors import Malformed, SyncError

SECRET: Final = GroupKind("", "Secret")
DRAWN: Final = "__pushsecret"
"""The place under which the operator records what a PushSecret draws."""


class SourceMissing(Malformed):
    """The Secret that was named does not exist."""


class Source(NamedTuple):
    """One Secret to push from, as a document and as its values."""

    document: Document
    data: dict[str, bytes]


async def sources(
    context: ReconcilerContext, resource: PushSecret, leases: GeneratorTransaction
) -> list[Source]:
    """Every source of the PushSecret; none where a selector matches nothing. Raises SyncError.

    What is drawn is entered in `leases`.
    """
    namespace, selector = resource.metadata.namespace, resource.spec.selector
    if selector.generator_ref is not None:
        values = await leases.generate(DRAWN, selector.generator_ref)
        data = {key: value.raw for key, value in values.items()}
        return [Source(_document(namespace, data), data)]
    if selector.secret is None:
        raise Malformed(
            "no secret selector provided", hint="set spec.selector.secret or spec.selector.generatorRef"
        )
    if selector.secret.name:
        stored = await context.home.get(ObjectRef("", "Secret", namespace, selector.secret.name))
        if stored is None and _is_being_made(context, namespace, selector.secret.name):
            raise PendingDependency(f'secret "{selector.secret.name}" is being made')
        if stored is None:
            raise SourceMissing(
                f'secret "{selector.secret.name}" not found', hint=f"create it in {namespace}"
            )
        found = [stored]
    else:
        found = list(await context.home.list(SECRET, namespace=namespace, selector=selector.secret.selector))
    documents = [stored.document for stored in found]
    return [Source(document, secret_data(document)) for document in documents]


def _is_being_made(context: ReconcilerContext, namespace: str, name: str) -> bool:
    """Whether an ExternalSecret makes the Secret, and has not come to anything yet."""
    makers = context.inventory.dependents(ObjectRef("", "Secret", namespace, name))
    undecided = (
        maker
        for maker in makers
        if maker.kind == "ExternalSecret" and not context.memory.had_first_run(maker)
    )
    found = map(context.inventory.get, undecided)
    return any(
        stored is not None and not stored.as_type(ExternalSecret).status.conditions for stored in found
    )


def _document(namespace: str, data: dict[str, bytes]) -> Document:
    """A Secret that exists only while it is pushed."""
    encoded = {key: b64encode(value).decode() for key, value in data.items()}
    metadata = {"name": "generated", "namespace": namespace}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": "Opaque", "data": encoded}


async def templated(context: ReconcilerContext, resource: PushSecret, source: Source) -> Source:
    """The source with what the template renders laid over it. Raises Malformed where it does not render."""
    template = resource.spec.template
    if template is None:
        return source
    bench = context.templates.bench()
    rendering = await rendering_for(template, bench, context.home, resource.metadata.namespace)
    return await bench.run(lambda: _laid_over(template, source, rendering))


def _laid_over(template: Template, source: Source, rendering: Rendering) -> Source:
    document: Document = {**source.document, "metadata": dict(source.document["metadata"])}
    document["type"] = template.type  # none, where the template names none, as with the operator
    for field in ("labels", "annotations"):
        document["metadata"][field] = dict(document["metadata"].get(field, {}))
    values = dict(source.data)
    rendering.apply(template, SecretSink(document, values), source.data)
    document["data"] = {key: b64encode(value).decode() for key, value in values.items()}
    return Source(document, values)


Synced: TypeAlias = dict[str, dict[str, PushData]]
Account: TypeAlias = Mapping[str, Mapping[str, PushData]]
"""`status.syncedPushSecrets`: by store (`SecretStore/name`) and remote key, the entry pushed."""


def merged(new: Account, old: Account) -> Synced:
    """Both accounts in one; where both tell of an entry, the old one stays."""
    return {store: {**new.get(store, {}), **old.get(store, {})} for store in dict.fromkeys([*new, *old])}


class Pusher:
    """What it did before a failure is in the account that it returns beside the error."""

    def __init__(self, context: ReconcilerContext, writes: Writes) -> None:
        self._context = context
        self._writes = writes

    async def push(
        self, resource: PushSecret, source: Source, stores: Mapping[Store, StoredObject]
    ) -> tuple[Synced, SyncError | None]:
        """Push one source to every store. All entries of a store are decided before the first is pushed.

        A store that fails ends its own entries alone; the error is that of the first. (The operator ends
        there, but takes the stores in another order each time: it, too, comes to them all.)
        """
        synced: Synced = {}
        failed: SyncError | None = None
        for store in stores:
            account = synced.setdefault(str(store), {})
            try:
                session = await self._session(resource, store.kind, store.name, told=store.name)
                for entry in await self._entries(resource, source, store):
                    await self._push_one(resource, session, store, entry, source)
                    account[entry.status_key] = entry.as_data()
            except SyncError as error:
                failed = failed or error
        return synced, failed

    async def delete(self, resource: PushSecret, wanted: Account) -> tuple[Synced, SyncError | None]:
        """Delete what was pushed before and is not wanted any more. Returns what still stands."""
        left = merged(wanted, resource.status.synced_push_secrets)
        for name, pushed in resource.status.synced_push_secrets.items():
            kind, _, store = name.partition("/")
            try:
                session = await self._session(resource, kind, store, told=name)
                for key, entry in pushed.items():
                    if key not in wanted.get(name, {}):
                        remote = entry.match.remote_ref
                        await session.delete(RemoteTarget(remote.remote_key, remote.property))
                        del left[name][key]
            except SyncError as error:
                return left, error
            if name not in wanted:
                del left[name]
        return left, None

    async def _entries(self, resource: PushSecret, source: Source, store: Store) -> Sequence[PushEntry]:
        """What is pushed to the store; templates over keys are rendered as all others are."""
        bench = self._context.templates.bench()
        return await bench.run(lambda: entries(resource.spec, source.data, store, transform=bench.transform))

    async def _session(self, resource: PushSecret, kind: str, name: str, *, told: str) -> Session:
        namespace, store = resource.metadata.namespace, StoreName(kind, name)
        try:
            stored = await usable_store(self._context, self._writes, store, namespace, ready=False)
        except SyncError as error:
            raise error.within(f"could not get secrets client for store {told}") from error
        return self._context.sessions.session(stored, namespace)

    async def _push_one(
        self, resource: PushSecret, session: Session, store: Store, entry: PushEntry, source: Source
    ) -> None:
        value = payload(entry, source.data)
        if resource.spec.update_policy == "IfNotExists" and await self._exists(session, entry.target):
            return
        item = PushItem(
            remote_key=entry.target.remote_key,
            property=entry.target.property,
            value=value,
            metadata=entry.metadata,
            secret_key=entry.secret_key,
            source=source.document,
        )
        try:
            await session.push(item)
        except SyncError as error:
            what = f"could not write remote ref {entry.secret_key} to target secretstore {store.name}"
            raise error.within(what) from error

    async def _exists(self, session: Session, target: RemoteTarget) -> bool:
        try:
            return await session.exists(target)
        except SyncError as error:
            raise error.within("could not verify if secret exists in store") from error
