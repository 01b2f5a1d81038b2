"""Runs the webhook, or the keeper of its certificates, as a process that reconciles no objects."""

import asyncio
import os
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final, Literal, TypeAlias

import structlog
from msgspec import structs

from syncret.config.settings import Settings
from syncret.config.version import version
from syncret.daemon.admission import parts
from syncret.daemon.admission.probes import metrics_at, process_registry
from syncret.daemon.core.cluster_stats import ClusterStats
from syncret.daemon.homes.kubernetes.api import ApiServer, no_fence
from syncret.daemon.homes.kubernetes.opening import elected, http_to, own_access
from syncret.daemon.homes.kubernetes.other_operator.interlock import lease_of
from syncret.daemon.ops import logs
from syncret.daemon.signals import Requested, Signals
from syncret.providers.registry import Registry

Part: TypeAlias = Literal["webhook", "certificates"]

CERTIFICATES_LEASE: Final = "crd-certs-controller"
"""The Lease of ESO's certificate controller: the two exclude each other."""

log = structlog.get_logger()


async def run_standalone(load: Callable[[], Settings], part: Part) -> None:
    """Run one part until a signal stops it; a reload begins it again. Raises what keeps it from starting."""
    asyncio.get_running_loop().set_exception_handler(logs.on_loop_error)
    signals = Signals(lambda: log.info("stopping"))
    requested = Requested.RELOAD
    while requested is Requested.RELOAD:
        signals.reload_begins()
        settings = load()
        logs.configure(settings.log_level, settings.log_format, time=settings.log_time)
        run = _webhook if part == "webhook" else _certificates
        async with run(settings):
            log.info("running", only=part, version=version())
            requested = await signals.requested()


@asynccontextmanager
async def _webhook(settings: Settings) -> AsyncGenerator[None]:
    registry = process_registry()
    async with AsyncExitStack() as stack:
        sockets = await stack.enter_async_context(parts.listening(settings))
        within = None
        if not settings.webhook.cert_dir:
            within = await stack.enter_async_context(parts.cluster(settings, ClusterStats()))
        certificate = parts.certificate_of(settings, within)
        await stack.enter_async_context(metrics_at(settings, registry, certificate.not_ready))
        await stack.enter_async_context(parts.serving(sockets, certificate, Registry(), registry))
        yield


@asynccontextmanager
async def _certificates(settings: Settings) -> AsyncGenerator[None]:
    registry = process_registry()
    stats = ClusterStats()
    async with AsyncExitStack() as stack:
        sockets = await stack.enter_async_context(parts.listening(settings, reviewing=False))
        left = await stack.enter_async_context(_elected(settings, stats))
        within = await stack.enter_async_context(parts.cluster(settings, stats, fence=left))
        keeper = await stack.enter_async_context(parts.keeping(settings, within, lambda: left() > 0))

        def not_ready() -> str:
            return keeper.problem if left() > 0 else ""

        await stack.enter_async_context(metrics_at(settings, registry, not_ready))
        await stack.enter_async_context(parts.probing(sockets, not_ready))
        yield


@asynccontextmanager
async def _elected(settings: Settings, stats: ClusterStats) -> AsyncGenerator[Callable[[], float]]:
    """Gives the time until which this replica may write: without an election, for ever."""
    lease = lease_of(settings, os.environ)
    if lease is None:
        yield no_fence
        return
    lease = structs.replace(lease, name=settings.leader_election.id or CERTIFICATES_LEASE)
    chosen = own_access(settings.kubeconfig, settings.context, os.environ)
    async with (
        http_to(chosen, connections=1) as http,
        elected(ApiServer(http, chosen.login, stats=stats), chosen, lease) as election,
    ):
        yield lambda: election.left
