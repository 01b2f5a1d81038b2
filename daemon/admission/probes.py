"""Probes and metrics over HTTP for a process that is one part of an installation, or its operator."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager

from aiohttp import web
from aiohttp.typedefs import Middleware
from prometheus_client import CollectorRegistry, Gauge, ProcessCollector, generate_latest

from syncret.config.settings import Settings
from syncret.config.settings_layers import address_of
from syncret.config.version import version
from syncret.daemon.homes.opening import open_reviews
from syncret.daemon.ops.certificate_files import CertificateFiles
from syncret.daemon.ops.connections import serve
from syncret.daemon.ops.http import authorized, host_guard, listeners_at
from syncret.daemon.ops.metrics import CONTENT_TYPE


def probes(
    not_ready: Callable[[], str],
    *,
    metrics: CollectorRegistry | None = None,
    middlewares: Sequence[Middleware] = (),
) -> web.Application:
    """The application that the kubelet calls, and Prometheus if there are metrics."""

    async def get_health(_: web.Request) -> web.Response:
        return web.Response(text="ok\n")

    async def get_readiness(_: web.Request) -> web.Response:
        reason = not_ready()
        return web.Response(text=f"{reason or 'ok'}\n", status=503 if reason else 200)

    app = web.Application(middlewares=middlewares)
    app.router.add_get("/healthz", get_health)
    app.router.add_get("/readyz", get_readiness)
    if metrics is not None:

        async def get_metrics(_: web.Request) -> web.Response:
            return web.Response(body=generate_latest(metrics), headers={"Content-Type": CONTENT_TYPE})

        app.router.add_get("/metrics", get_metrics)
    return app


def process_registry() -> CollectorRegistry:
    """Metrics of this process, and its version."""
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    Gauge("syncret_build_info", "The running version.", ("version",), registry=registry).labels(
        version()
    ).set(1)
    return registry


@asynccontextmanager
async def metrics_at(
    settings: Settings, registry: CollectorRegistry, not_ready: Callable[[], str]
) -> AsyncGenerator[None]:
    """Serve metrics and probes at `listen`."""
    if not settings.listen:
        yield
        return
    listeners = await listeners_at(settings.listen)
    secured = settings.metrics_tls
    tls = CertificateFiles(secured).context if secured.enabled else None
    try:
        async with open_reviews(settings) as who:
            guard = host_guard(address_of(settings.listen).host, listeners)
            app = probes(not_ready, metrics=registry, middlewares=(guard, authorized(lambda: who)))
            async with serve(app, listeners, tls=tls):
                yield
    finally:
        for each in listeners:
            each.close()
