"""Opens the home of a sidecar: a host home on a cluster home."""

import os
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager

from syncret.config.resources.kinds import DELIVERY, Kinds
from syncret.config.settings import Settings
from syncret.daemon.core.cluster_stats import ClusterStats
from syncret.daemon.homes.contract import Home, HomeProblem
from syncret.daemon.homes.filesystem.opening import host_home
from syncret.daemon.homes.filesystem.state.writer import OnDeleted, OnRemoved
from syncret.daemon.homes.kubernetes.opening import cluster_home, own_access
from syncret.daemon.homes.kubernetes.scope import Scope
from syncret.daemon.homes.sidecar.source import KINDS, Upstream
from syncret.providers.registry import Registry


@asynccontextmanager
async def sidecar_home(
    settings: Settings,
    registry: Registry,
    *,
    now: Callable[[], float],
    on_problems: Callable[[Sequence[HomeProblem]], None],
    on_removed: OnRemoved | None = None,
    on_deleted: OnDeleted | None = None,
    stats: ClusterStats | None = None,
) -> AsyncGenerator[Home, None]:
    """A host home whose wanted objects come from one namespace of a cluster.

    Raises ConfigError and HomeUnusable.
    """

    def problems_changed(_: Sequence[HomeProblem]) -> None:
        upstream.on_problems()

    others = {kind.kind for kind in Kinds(registry).names() if kind not in KINDS}
    also = (DELIVERY.group_kind,) if settings.deliveries_from_api else ()
    api = cluster_home(
        own_access(settings.kubeconfig, settings.context, os.environ),
        catalog=registry,
        scope=Scope(settings.namespace, others, settings.selector, also),
        on_problems=problems_changed,
        stats=stats,
    )
    async with api as cluster:
        upstream = Upstream(
            cluster,
            registry,
            kinds=(*KINDS, *also),
            every=settings.rescan_interval,
            reports=settings.report_status,
        )
        home = host_home(
            settings,
            registry,
            now=now,
            on_problems=on_problems,
            on_removed=on_removed,
        )
        home.open_source = upstream.source
        home.on_deleted = on_deleted
        async with home:
            yield home
