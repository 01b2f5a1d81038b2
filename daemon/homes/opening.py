"""Opens the home of the settings: a host's, or a cluster's."""

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import TYPE_CHECKING

from syncret.config.meta import Document, ObjectRef
from syncret.config.resources.switches import not_watched
from syncret.config.settings import Settings
from syncret.daemon.core.cluster_stats import ClusterStats
from syncret.daemon.core.reviews import Reviews
from syncret.daemon.homes.contract import Home, HomeProblem
from syncret.providers.registry import Registry

if TYPE_CHECKING:  # few hosts have any
    from syncret.daemon.cache.cache import OfflineCache
    from syncret.daemon.release.hosted import HostedRelease


def open_home(
    settings: Settings,
    registry: Registry,
    *,
    now: Callable[[], float],
    on_problems: Callable[[Sequence[HomeProblem]], None],
    on_removed: Callable[[ObjectRef, Document], None] | None = None,
    on_deleted: Callable[[ObjectRef], None] | None = None,
    stats: ClusterStats | None = None,
    cache: "OfflineCache | None" = None,
) -> AbstractAsyncContextManager[Home]:
    """The home of a daemon. Raises ConfigError; opening it raises HomeUnusable.

    `on_removed` is called with written objects that are removed, `on_deleted` with all objects that are.
    `stats` counts the requests to the API server of a cluster. On a host, outputs whose files are missing at
    the start are restored from the `cache`.
    """
    if not settings.kubernetes:
        from syncret.daemon.homes.filesystem.opening import host_home  # each home imports much of its own

        home = host_home(settings, registry, now=now, on_problems=on_problems, on_removed=on_removed)
        home.on_deleted = on_deleted
        home.cache = cache
        return home
    if settings.is_sidecar:
        from syncret.daemon.homes.sidecar.opening import sidecar_home  # as above

        return sidecar_home(
            settings,
            registry,
            now=now,
            on_problems=on_problems,
            on_removed=on_removed,
            on_deleted=on_deleted,
            stats=stats,
        )
    from syncret.daemon.homes.kubernetes.opening import (  # aiohttp is slow to import
        cluster_home,
        own_access,
    )
    from syncret.daemon.homes.kubernetes.other_operator.interlock import writing_of
    from syncret.daemon.homes.kubernetes.scope import Scope

    return cluster_home(
        own_access(settings.kubeconfig, settings.context, os.environ),
        catalog=registry,
        scope=Scope(settings.namespace, not_watched(settings), exporting=settings.exports.groups),
        on_problems=on_problems,
        on_deleted=on_deleted,
        writing=writing_of(settings, os.environ),
        stats=stats,
    )


def digest_key(home: Home) -> bytes | None:
    """The key of the digests of delivered values on this host; None for a home that is no host's."""
    key: bytes | None = getattr(home, "digest_key", None)
    return key


def open_reviews(settings: Settings) -> AbstractAsyncContextManager[Reviews | None]:
    """Reviews tokens for requests to our metrics; None if anyone may read them."""
    if not settings.metrics_auth:
        return nullcontext()
    from syncret.daemon.homes.kubernetes.opening import own_access, token_reviews  # as above

    return token_reviews(own_access(settings.kubeconfig, settings.context, os.environ))


def releases_of(home: Home) -> "Sequence[HostedRelease]":
    """The releases that a host renders; none of a home that is no host's."""
    found: Sequence[HostedRelease] = getattr(home, "releases", ())
    return found
