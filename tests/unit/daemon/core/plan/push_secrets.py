"""PushSecrets of tests, what was read for them, and what a plan says in short."""

from collections.abc import Callable, Mapping, Sequence

import msgspec

from syncret.config.fields import Json
from syncret.config.meta import Document
from syncret.config.resources.push_secret import PushSecret
from syncret.daemon.core.plan.push_secret import (
    FINALIZER,
    Existing,
    PushObserved,
    PushPlan,
    SourceMissing,
    decide,
    needs,
)
from syncret.daemon.core.push_entries import Source, Store
from syncret.daemon.core.rendering import Rendering
from syncret.daemon.core.schedule import refresh
from syncret.providers.errors import SyncError, Unavailable
from syncret.providers.work import Work
from tests.support.templates import no_template

NOW = 1_767_229_200.0
"""2026-01-01, at one o'clock."""

MIDNIGHT = "2026-01-01T00:00:00Z"
S, T = Store("SecretStore", "s"), Store("SecretStore", "t")
AWAY = Unavailable("away")
GOING: Document = {"deletionTimestamp": MIDNIGHT}
NO_SUCH = SourceMissing('secret "q" not found', hint="create it in default")
Q = Source({"metadata": {"name": "q"}}, {"a": b"1", "b": b"2"})
SECOND = Source({"metadata": {"name": "q2"}}, {"a": b"9", "c": b"3"})


def entry(remote: str, key: str = "a") -> Document:
    remote_key, _, prop = remote.partition("/")
    return {"match": {"secretKey": key, "remoteRef": {"remoteKey": remote_key, "property": prop}}}


def account(**stores: Sequence[str]) -> Document:
    """What a status says to stand at each SecretStore."""
    return {f"SecretStore/{name}": {key: entry(key) for key in keys} for name, keys in stores.items()}


def push_secret(
    *entries: Document,
    metadata: Document | None = None,
    pushed: Document | None = None,
    synced: bool = False,
    reason: str = "",
    **spec: Json,
) -> PushSecret:
    """A PushSecret to store `s`; `synced` at midnight, with all of its policy's finalizers."""
    held = [FINALIZER] if spec.get("deletionPolicy") == "Delete" else []
    whole: Document = {
        "apiVersion": "external-secrets.io/v1alpha1",
        "kind": "PushSecret",
        "metadata": {
            "name": "p",
            "namespace": "default",
            "generation": 1,
            "finalizers": held,
            **(metadata or {}),
        },
        "spec": {
            "secretStoreRefs": [{"name": "s"}],
            "selector": {"secret": {"name": "q"}},
            "data": list(entries) or [entry("r")],
            **spec,
        },
    }
    resource = msgspec.convert(whole, PushSecret)
    ready = [{"type": "Ready", "status": "False", "reason": reason}] if reason else []
    status: Document = {"syncedPushSecrets": pushed or {}, "conditions": ready}
    if synced or reason:
        version = refresh.version_of(resource.metadata)
        status |= {"refreshTime": MIDNIGHT, "syncedResourceVersion": version}
    return msgspec.convert({**whole, "status": status}, PushSecret)


def observed(*sources: Source, stores: tuple[Store, ...] = (S,), **errors: SyncError | None) -> PushObserved:
    return PushObserved(sources=sources, stores=stores, **errors)


def plan_for(
    resource: PushSecret,
    seen: PushObserved,
    existing: Existing | None = None,
    render: Callable[[str, str, Mapping[str, bytes]], bytes] | None = None,
) -> PushPlan:
    rendering = None if render is None else Rendering(render, {}, "default", Work())
    needed = needs(resource, seen, Work(), render=rendering, transform=no_template)
    return decide(resource, seen, needed, existing or {})


def pushes(plan: PushPlan) -> dict[str, list[str]]:
    """What is pushed to each store that is selected, as `key=value`; a value that stays is `-`."""
    return {
        str(each.store): [
            f"{push.entry.status_key}={'-' if push.item is None else push.item.value.raw.decode()}"
            for push in each.pushes
        ]
        for each in plan.operations or ()
        if each.is_selected
    }


def deletes(plan: PushPlan) -> dict[str, list[str]]:
    return {
        str(each.store): [removal.key for removal in each.deletes]
        for each in plan.operations or ()
        if each.deletes
    }
