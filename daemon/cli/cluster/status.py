"""`syncret status --kubernetes`: conditions and events of the objects of a namespace, or of all."""

import asyncio
import time
from argparse import Namespace
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import msgspec

from syncret.config.meta import ObjectRef
from syncret.config.resources.kinds import NAMESPACE, SHOWN, Kind
from syncret.config.settings import Settings
from syncret.daemon.cli.cluster.asking import ask, warnings
from syncret.daemon.cli.cluster.knowledge import due, failures, last_error
from syncret.daemon.cli.daemon_client import Answer, CommandError
from syncret.daemon.cli.exit_codes import UNUSABLE
from syncret.daemon.homes.contract import StoredObject
from syncret.daemon.homes.kubernetes.user import ClusterEvent, NotAllowed, UserCluster
from syncret.daemon.ops.status import API_VERSION, ObjectStatus, object_status
from syncret.daemon.ops.view import view_of


def status(options: Namespace) -> Answer:
    """The document of the cluster, with the rows of the daemon's own. Raises CommandError."""

    async def work(cluster: UserCluster, settings: Settings) -> Answer:
        namespace = "" if options.all_namespaces else cluster.namespace
        return await _status(cluster, settings, namespace)

    return ask(options, work)


async def _status(cluster: UserCluster, settings: Settings, namespace: str) -> Answer:
    kinds = [kind for kind in SHOWN if kind.namespaced or not namespace]
    lists = await asyncio.gather(*(cluster.list(kind.group_kind, namespace) for kind in kinds))
    if all(listed is None for listed in lists):
        raise CommandError(min(cluster.denied), hint=_remedy(namespace), code=UNUSABLE)
    if not any(lists) and not await _is_served(cluster, kinds):
        hint = "install them (`syncret export crds`), or choose the cluster with --context"
        raise CommandError(f"{cluster.server} has none of the CRDs", hint=hint, code=UNUSABLE)
    is_missing = bool(namespace) and not any(lists) and await _is_missing(cluster, namespace)
    events = await cluster.events(namespace)
    rows = {kind: _rows(listed or (), events, settings) for kind, listed in zip(kinds, lists, strict=True)}
    stores = [row for kind, of in rows.items() if kind.role == "store" for row in of]
    objects = [row for kind, of in rows.items() if kind.role != "store" for row in of]
    return {
        "apiVersion": API_VERSION,
        "kind": "ClusterStatus",
        "server": cluster.server,
        "context": cluster.context,
        "namespace": namespace,
        "failing": sum(row["ready"] is False for row in (*stores, *objects)),
        "problems": warnings([f"there is no namespace {namespace}"] * is_missing + [*cluster.denied]),
        "stores": stores,
        "objects": objects,
    }


async def _is_served(cluster: UserCluster, kinds: Iterable[Kind]) -> bool:
    return any([await cluster.serves(kind.group_kind) for kind in kinds])


async def _is_missing(cluster: UserCluster, namespace: str) -> bool:
    try:
        return await cluster.get(NAMESPACE.ref("", namespace)) is None
    except NotAllowed:
        return False


def _remedy(namespace: str) -> str:
    return "" if namespace else "name a namespace with -n: your rights may be in one"


def _rows(
    listed: Collection[StoredObject],
    events: Mapping[ObjectRef, Sequence[ClusterEvent]],
    settings: Settings,
) -> list[Answer]:
    return [msgspec.to_builtins(row) for row in _each(listed, events, settings)]


def _each(
    listed: Iterable[StoredObject],
    events: Mapping[ObjectRef, Sequence[ClusterEvent]],
    settings: Settings,
) -> Iterator[ObjectStatus]:
    now = time.time()
    for stored in listed:
        of_object = events.get(stored.ref, ())
        error = last_error(stored, of_object)
        yield object_status(
            stored.ref,
            view_of(stored),
            due=None if error is not None else due(stored, now, spread=settings.spread),
            failures=0 if error is None else failures(of_object),
            failure=error,
            silence=None,
            manifest=None,
            invalid=None,
        )
