"""Runs the operator: one home, one engine, two reconcilers, until a signal stops it.

Everything is installed in one namespace, and only that namespace is watched. If the configuration names
another one, the watches are restarted there.
"""

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Final

import structlog
from msgspec import Struct
from prometheus_client import CollectorRegistry

from syncret.config.settings import Settings
from syncret.config.version import version
from syncret.daemon.admission.probes import metrics_at, process_registry
from syncret.daemon.core.cluster_stats import ClusterStats
from syncret.daemon.engine.clock import Clock
from syncret.daemon.engine.engine import Engine
from syncret.daemon.engine.inventory import Inventory
from syncret.daemon.engine.queue.from_settings import work_queue
from syncret.daemon.homes.kubernetes.access.kubeconfig import Access
from syncret.daemon.homes.kubernetes.applying import Applier
from syncret.daemon.homes.kubernetes.home import KubernetesHome
from syncret.daemon.homes.kubernetes.opening import cluster_home, own_access
from syncret.daemon.homes.kubernetes.other_operator.interlock import LeaseChoice, Writing, identity_of
from syncret.daemon.homes.kubernetes.scope import Scope
from syncret.daemon.install.operator.choices import DEFAULT_NAMESPACE, Environment, Proxy
from syncret.daemon.operator.cluster import CONFIG, WATCHED, Cluster
from syncret.daemon.operator.compare import MANAGER as FIELD_MANAGER
from syncret.daemon.operator.manager import ManagerReconciler, keep_manager
from syncret.daemon.operator.metrics import OperatorMetrics
from syncret.daemon.operator.reconciler import ConfigReconciler
from syncret.daemon.ops import logs
from syncret.daemon.ops.logs.events import EngineLogger
from syncret.daemon.signals import Requested, Signals
from syncret.providers.registry import Registry

LEASE: Final = "external-secrets-operator"
_PROXY: Final = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")

log = structlog.get_logger()


class RunningOperator(Struct, frozen=True, kw_only=True):
    """A running operator."""

    engine: Engine
    inventory: Inventory
    home: KubernetesHome
    moved: asyncio.Event
    """Set if the watches have to be restarted in another namespace."""
    namespace: Callable[[], str]
    """The namespace that is wanted."""


async def run_operator(load: Callable[[], Settings]) -> None:
    """Run until a signal stops it; a reload begins it again. Raises what keeps it from starting."""
    asyncio.get_running_loop().set_exception_handler(logs.on_loop_error)
    signals = Signals(lambda: log.info("stopping"))
    namespace, requested = DEFAULT_NAMESPACE, None
    while requested is not Requested.STOP:
        signals.reload_begins()
        settings = load()
        logs.configure(settings.log_level, settings.log_format, time=settings.log_time)
        registry = process_registry()
        access = own_access(settings.kubeconfig, settings.context, os.environ)
        async with AsyncExitStack() as stack:
            running = await stack.enter_async_context(
                running_operator(
                    access,
                    settings,
                    environment_of(settings, os.environ),
                    namespace=namespace,
                    registry=registry,
                    own_namespace=own_namespace(settings, os.environ),
                )
            )
            await stack.enter_async_context(metrics_at(settings, registry, partial(_not_ready, running)))
            log.info("running", namespace=namespace, version=version())
            asked = asyncio.create_task(signals.requested())
            moved = asyncio.create_task(running.moved.wait())
            await asyncio.wait([asked, moved], return_when=asyncio.FIRST_COMPLETED)
            if asked.done():
                requested = asked.result()
            for each in (asked, moved):
                each.cancel()
            namespace = running.namespace()


def own_namespace(settings: Settings, environment: Mapping[str, str]) -> str:
    """Where the operator itself runs."""
    return settings.operator.operator_namespace or environment.get("POD_NAMESPACE", "") or LEASE


def environment_of(settings: Settings, environment: Mapping[str, str]) -> Environment:
    """The operator's environment; settings take precedence over the variables that bundles set."""
    chosen = settings.operator
    return Environment(
        image=chosen.operand_image or environment.get("RELATED_IMAGE_EXTERNAL_SECRETS", ""),
        version=version(),
        namespace=own_namespace(settings, environment),
        bitwarden_image=chosen.bitwarden_image or environment.get("RELATED_IMAGE_BITWARDEN_SDK_SERVER", ""),
        bitwarden_version=chosen.bitwarden_version
        or environment.get("BITWARDEN_SDK_SERVER_IMAGE_VERSION", ""),
        proxy=Proxy(*_proxy(environment)),
    )


def _proxy(environment: Mapping[str, str]) -> tuple[str, str, str]:
    http, https, none = (environment.get(each) or environment.get(each.lower(), "") for each in _PROXY)
    return http, https, none


@asynccontextmanager
async def running_operator(
    access: Access,
    settings: Settings,
    environment: Environment,
    *,
    namespace: str,
    registry: CollectorRegistry,
    own_namespace: str,
) -> AsyncGenerator[RunningOperator, None]:
    """The operator at work, until the block is left. Raises HomeUnusable."""
    catalog, inventory, clock = Registry(), Inventory(), Clock()
    moved, wanted = asyncio.Event(), namespace

    def move(where: str) -> None:
        nonlocal wanted
        wanted = where
        moved.set()

    async with AsyncExitStack() as stack:
        home = await stack.enter_async_context(
            cluster_home(
                access,
                catalog=catalog,
                scope=Scope(namespace, chosen=WATCHED),
                writing=Writing(lease=_lease(settings, own_namespace)),
                stats=ClusterStats(),
            )
        )
        cluster = Cluster(
            applier=Applier(home, manager=FIELD_MANAGER),
            inventory=inventory,
            catalog=catalog,
            environment=environment,
            namespace=namespace,
            now=clock.now,
            record_event=home.record_event,
            metrics=OperatorMetrics(registry),
            resync=settings.operator.resync,
            contested_after=settings.operator.contested_after,
            move=move,
            wake=lambda ref: engine.refresh(ref, asked=False),
        )
        engine = Engine(
            home,
            (ConfigReconciler(cluster), ManagerReconciler(cluster)),
            inventory=inventory,
            queue=work_queue(clock, settings),
            settings=settings,
            observer=EngineLogger(),
            awaits=lambda kind: kind in WATCHED,
        )
        async with asyncio.TaskGroup() as group:
            group.create_task(engine.run(), name="engine")
            chores = [
                group.create_task(home.run(), name="home: write events"),
                group.create_task(clock.follow(), name="clock: follow the system's"),
                group.create_task(_manage(engine, cluster, home), name="operator: keep the manager"),
            ]
            try:
                yield RunningOperator(
                    engine=engine, inventory=inventory, home=home, moved=moved, namespace=lambda: wanted
                )
            finally:
                engine.stop()
                for each in chores:
                    each.cancel()


async def _manage(engine: Engine, cluster: Cluster, home: KubernetesHome) -> None:
    await engine.synced.wait()
    await keep_manager(cluster, home)


def _lease(settings: Settings, namespace: str) -> LeaseChoice:
    election = settings.leader_election
    return LeaseChoice(
        name=LEASE,
        namespace=namespace,
        identity=identity_of(os.environ),
        seconds=election.lease_duration,
        renew=election.renew,
    )


def _not_ready(running: RunningOperator) -> str:
    """Why it cannot work yet; empty: it can."""
    if not running.engine.synced.is_set():
        return "what is there has not been read yet"
    if running.inventory.is_unknown(CONFIG.group_kind):
        return "the API server does not serve ExternalSecretsConfig"
    return ""
