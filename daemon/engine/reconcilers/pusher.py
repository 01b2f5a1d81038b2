"""Pushes and deletes at the stores, and keeps the account of what stands where."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from syncret.config.resources.push_secret import PushData, PushSecret
from syncret.daemon.backends.contract import Stored
from syncret.daemon.core.needs import StoreName
from syncret.daemon.core.push import PushEntry, Store, entries, payload
from syncret.daemon.engine.reconcilers.push_source import Source
from syncret.daemon.engine.reconcilers.stores import usable_store
from syncret.daemon.engine.reconcilers.world import World
from syncret.daemon.engine.session import Session
from syncret.providers.contract import PushItem, RemoteTarget
from syncret.providers.errors import SyncError

Synced: TypeAlias = dict[str, dict[str, PushData]]
Account: TypeAlias = Mapping[str, Mapping[str, PushData]]
"""`status.syncedPushSecrets`: by store (`SecretStore/name`) and remote key, the entry pushed."""


def merged(new: Account, old: Account) -> Synced:
    """Both accounts in one; where both tell of an entry, the old one stays."""
    return {store: {**new.get(store, {}), **old.get(store, {})} for store in dict.fromkeys([*new, *old])}


class Pusher:
    """What it did before a failure is in the account that it returns beside the error."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def push(
        self, resource: PushSecret, source: Source, stores: Mapping[Store, Stored]
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
                session = self._session(resource, store.kind, store.name, told=store.name)
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
                session = self._session(resource, kind, store, told=name)
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
        bench = self._world.templates.bench()
        return await bench.work(lambda: entries(resource.spec, source.data, store, transform=bench.transform))

    def _session(self, resource: PushSecret, kind: str, name: str, *, told: str) -> Session:
        namespace = resource.metadata.namespace
        try:
            stored = usable_store(self._world, StoreName(kind, name), namespace, ready=False)
        except SyncError as error:
            raise error.within(f"could not get secrets client for store {told}") from error
        return self._world.sessions.session(stored, namespace)

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
