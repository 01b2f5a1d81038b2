"""The operations at the stores of a PushSecret, and the account of what was pushed: `syncedPushSecrets`."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import msgspec
from msgspec import Struct

from syncret.config.resources.push_secret import PushData
from syncret.daemon.core.needs import StoreName
from syncret.daemon.core.push_entries import Push
from syncret.providers.errors import Denied, Malformed, SyncError, Throttled
from syncret.providers.pushes import RemoteTarget

Account: TypeAlias = Mapping[str, Mapping[str, PushData]]
"""By store (`SecretStore/name`) and remote key, each entry that was pushed and not deleted since."""


class Removal(NamedTuple):
    """One entry to delete, and the key under which the account has it."""

    key: str
    target: RemoteTarget


class StoreOperations(Struct, frozen=True, kw_only=True):
    """The operations at one store. Deletions begin once all pushes to all stores are done."""

    store: StoreName
    is_selected: bool = False
    """Whether the PushSecret pushes to it; otherwise it leaves the account with the last of its entries."""
    pushes: tuple[Push, ...] = ()
    error: SyncError | None = None
    """Why the entry after these pushes cannot be pushed."""
    deletes: tuple[Removal, ...] = ()


class Done(Struct, frozen=True, kw_only=True):
    """How many operations of one store were done, and what ended them."""

    pushed: int = 0
    push_error: SyncError | None = None
    deleted: int = 0
    delete_error: SyncError | None = None


def deletions(account: Account, wanted: Mapping[str, StoreOperations]) -> Iterator[StoreOperations]:
    """The operations of each store that has entries which are not wanted any more."""
    for name, pushed in account.items():
        kind, _, store = name.partition("/")
        operations = wanted.get(name) or StoreOperations(store=StoreName(kind, store))
        kept = {push.entry.status_key for push in operations.pushes}
        removals = tuple(Removal(key, _target(data)) for key, data in pushed.items() if key not in kept)
        if removals:
            yield msgspec.structs.replace(operations, deletes=removals)


def _target(data: PushData) -> RemoteTarget:
    remote = data.match.remote_ref
    return RemoteTarget(remote.remote_key, remote.property)


def push_error(done: Sequence[Done]) -> SyncError | None:
    """The error that ended the pushes of the first store that failed."""
    return next((each.push_error for each in done if each.push_error is not None), None)


def delete_error(done: Sequence[Done]) -> SyncError | None:
    """The error that ended the deletions of the first store that failed."""
    return next((each.delete_error for each in done if each.delete_error is not None), None)


def account_after(
    before: Account, operations: Sequence[StoreOperations], done: Sequence[Done]
) -> dict[str, dict[str, PushData]]:
    """The account after as many of the operations as were done.

    If all were done, it has what was pushed: with deletionPolicy None the account drops the rest.
    """
    pushed = {
        str(each.store): {push.entry.status_key: push.entry.as_data() for push in each.pushes[: count.pushed]}
        for each, count in zip(operations, done, strict=True)
        if each.is_selected
    }
    if push_error(done) is None and delete_error(done) is None:
        return pushed
    left = {name: {**pushed.get(name, {}), **before.get(name, {})} for name in (*pushed, *before)}
    for each, count in zip(operations, done, strict=True):
        name = str(each.store)
        for removal in each.deletes[: count.deleted]:
            del left[name][removal.key]
        if not left[name] and not each.is_selected:
            del left[name]
    return left


def was_pushed(operations: Sequence[StoreOperations], done: Sequence[Done]) -> bool:
    """Whether a value of this run stands at a store."""
    return any(
        push.item is not None
        for each, count in zip(operations, done, strict=True)
        for push in each.pushes[: count.pushed]
    )


def may_stand(operations: Sequence[StoreOperations], done: Sequence[Done]) -> bool:
    """Whether a value of this run may stand at a store: what got no answer may have been pushed."""
    return was_pushed(operations, done) or any(
        count.pushed < len(each.pushes) and not isinstance(count.push_error, Denied | Malformed | Throttled)
        for each, count in zip(operations, done, strict=True)
    )
