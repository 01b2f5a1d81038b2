"""The labels of a provider call in the metrics: which manager, and which call of its API."""

from typing import Final, TypeAlias

from syncret.daemon.engine.observer import Item, Operation
from syncret.providers.api_names import ApiNames, CallKind
from syncret.providers.pushes import PushItem, RemoteTarget
from syncret.providers.values import FindQuery

CallLabels: TypeAlias = tuple[str, str]

_OTHERWISE: Final[dict[CallKind, CallKind]] = {
    "batch": "read",
    "metadata": "read",
    "exists": "read",
    "find_tags": "find",
}
"""The kind whose name a call has, if there is none for its own."""


def labels_of(
    names: ApiNames, provider: str, operation: Operation, item: Item, *, reads: int = 0
) -> CallLabels:
    """The values of `provider` and `call`.

    `reads`: the request is part of a search, and reads so many of the entries that it found.
    """
    kind, key = _kind_of(operation, item, reads)
    own = names.by_key(kind, key) if key else None
    call = own or names.of(kind) or names.of(_OTHERWISE.get(kind, kind))
    return names.provider or provider, call or operation


def _kind_of(operation: Operation, item: Item, reads: int) -> tuple[CallKind, str]:
    """The kind of the call, and its remote key, if it is one."""
    match item:
        case FindQuery(tags=tags):
            if reads:
                return ("batch" if reads > 1 else "read"), ""
            return ("find_tags" if tags else "find"), ""
        case PushItem() | RemoteTarget():
            return operation, item.remote_key
        case (first, *others) if operation == "read":
            if others:
                return "batch", ""
            return ("metadata" if first.metadata else "read"), first.key
        case _:
            return operation, ""
