"""The parts of the webhook, of which a process runs some: its server, its probes, and the keeper."""

import asyncio
import os
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path
from socket import socket
from typing import Final

from msgspec import Struct
from prometheus_client import CollectorRegistry

from syncret.config.catalog import Catalog
from syncret.config.settings import Settings
from syncret.daemon.admission.keeper import CertificateKeeper, Place
from syncret.daemon.admission.metrics import WebhookMetrics
from syncret.daemon.admission.probes import probes
from syncret.daemon.admission.rotation import Wanted
from syncret.daemon.admission.server import Reviewer, reviews
from syncret.daemon.admission.serving_certificate import Read, ServingCertificate, from_folder, from_secret
from syncret.daemon.admission.tls import ciphers_of
from syncret.daemon.core.cluster_stats import ClusterStats
from syncret.daemon.homes.kubernetes.access.kubeconfig import Access
from syncret.daemon.homes.kubernetes.api import ApiServer, no_fence
from syncret.daemon.homes.kubernetes.events import ApiEvents, Events
from syncret.daemon.homes.kubernetes.opening import http_to, own_access
from syncret.daemon.ops.connections import serve
from syncret.daemon.ops.http import listeners_at

PROBERS: Final = 8
"""Connections of kubelets."""

IDLE: Final = 120.0
"""Seconds that an idle connection stays: an API server ends it after 90, and repeats no POST."""


class Sockets(Struct, frozen=True):
    """Sockets that are bound before anything else starts."""

    reviews: list[socket]
    probes: list[socket]


@asynccontextmanager
async def listening(settings: Settings, *, reviewing: bool = True) -> AsyncGenerator[Sockets]:
    """The sockets that the settings name, until the block is left. Raises CannotListen, ConfigError."""
    webhook = settings.webhook
    ciphers_of(webhook)
    async with AsyncExitStack() as stack:

        async def bound(address: str, setting: str) -> list[socket]:
            found = await listeners_at(address, hint=f"choose another with --set {setting}=")
            for each in found:
                stack.callback(each.close)
            return found

        yield Sockets(
            await bound(f":{webhook.port}", "webhook.port") if reviewing else [],
            await bound(webhook.healthz_addr, "webhook.healthzAddr") if webhook.healthz_addr else [],
        )


class Cluster(Struct, frozen=True):
    """The API server as the webhook's parts use it."""

    api: ApiServer
    namespace: str
    """Where a Service or Secret is whose name has no namespace."""

    def place(self, name: str) -> Place:
        """The object of a setting: NAME, or NAMESPACE/NAME."""
        namespace, _, last = name.rpartition("/")
        return Place(namespace or self.namespace, last)


@asynccontextmanager
async def cluster(
    settings: Settings, stats: ClusterStats, *, fence: Callable[[], float] = no_fence
) -> AsyncGenerator[Cluster]:
    """A connection of its own, as the settings want it. Raises HomeUnusable."""
    chosen = own_access(settings.kubeconfig, settings.context, os.environ)
    async with http_to(chosen, connections=2) as http:
        yield Cluster(ApiServer(http, chosen.login, fence=fence, stats=stats), namespace_of(chosen))


def namespace_of(chosen: Access) -> str:
    """The namespace of the pod, or that of the kubeconfig's context."""
    return os.environ.get("POD_NAMESPACE") or chosen.namespace or "default"


def names_of(settings: Settings, service: Place | None) -> tuple[str, ...]:
    """What the API server may call the webhook by, its first choice first."""
    chosen = settings.webhook.dns_name
    theirs: tuple[str, ...] = ()
    if service is not None:
        within = f"{service.name}.{service.namespace}.svc"
        theirs = (within, f"{within}.cluster.local")
    return tuple(dict.fromkeys(each for each in (chosen, *theirs) if each))


@asynccontextmanager
async def keeping(
    settings: Settings, within: Cluster, is_active: Callable[[], bool]
) -> AsyncGenerator[CertificateKeeper]:
    """Keep the certificates that the settings want until the block is left."""
    webhook = settings.webhook
    service = within.place(webhook.service)
    events = Events(ApiEvents(within.api), time.time, within.api.stats)
    keeper = CertificateKeeper(
        within.api,
        secret=within.place(webhook.secret),
        service=service,
        wanted=Wanted(names_of(settings, service), webhook.lookahead_interval),
        every=webhook.check_interval,
        now=time.time,
        is_active=is_active,
        on_failure=lambda seen, why: events.record(seen, warning=True, reason="UpdateFailed", message=why),
    )
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(keeper.run(), name="webhook: keep the certificates"),
            group.create_task(events.run(), name="webhook: events"),
        ]
        yield keeper
        for task in tasks:
            task.cancel()


def certificate_of(settings: Settings, within: Cluster | None) -> ServingCertificate:
    """The certificate that is served: files, or the Secret that a keeper writes."""
    webhook = settings.webhook
    read: Read
    if within is None:
        where, names = f"the folder {webhook.cert_dir}", names_of(settings, None)
        read = from_folder(Path(webhook.cert_dir))
    else:
        secret = within.place(webhook.secret)
        where = f"Secret/{secret.namespace}/{secret.name}"
        names = names_of(settings, within.place(webhook.service))
        read = from_secret(within.api, secret.namespace, secret.name)
    name = names[0] if names else ""
    return ServingCertificate(webhook, read, where=where, name=name, now=time.time)


def probing(sockets: Sockets, not_ready: Callable[[], str]) -> AbstractAsyncContextManager[None]:
    """Answer probes until the block is left."""
    return serve(probes(not_ready), sockets.probes, most=PROBERS)


@asynccontextmanager
async def serving(
    sockets: Sockets, certificate: ServingCertificate, catalog: Catalog, metrics: CollectorRegistry
) -> AsyncGenerator[None]:
    """Answer reviews and probes until the block is left."""
    reviewer = Reviewer(catalog, WebhookMetrics(metrics))
    async with AsyncExitStack() as stack:
        stack.callback(reviewer.close)
        app = reviews(reviewer)
        await stack.enter_async_context(serve(app, sockets.reviews, idle=IDLE, tls=certificate.context))
        await stack.enter_async_context(probing(sockets, certificate.not_ready))
        group = await stack.enter_async_context(asyncio.TaskGroup())
        task = group.create_task(certificate.run(), name="webhook: follow the certificate")
        stack.callback(task.cancel)
        yield
