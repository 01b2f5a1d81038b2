"""Opens the cluster home: as a pod, or with a kubeconfig."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit
from uuid import uuid4

import structlog
from msgspec import Struct

from syncret.config.catalog import Catalog
from syncret.config.meta import ObjectRef
from syncret.config.settings import Settings
from syncret.daemon.core.cluster_stats import ClusterStats, Fence
from syncret.daemon.homes.contract import HomeError, HomeProblem, HomeUnusable
from syncret.daemon.homes.kubernetes.api import ApiServer, no_fence
from syncret.daemon.homes.kubernetes.election import Election
from syncret.daemon.homes.kubernetes.home import KubernetesHome
from syncret.daemon.homes.kubernetes.kubeconfig import Access, access, kubeconfig_paths
from syncret.daemon.homes.kubernetes.leases import ApiLeases
from syncret.daemon.homes.kubernetes.logins import FileToken, pair_of
from syncret.daemon.homes.kubernetes.scope import Scope
from syncret.providers.errors import SyncError
from syncret.providers.kit.http import Http, Timeouts, Tls
from syncret.providers.kit.kube.client import Kube

MOUNT: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount")
LARGEST: Final = 64 * 2**20
"""Bytes of one answer: a page of five hundred objects, some of them large."""

TIMEOUT: Final = 30.0
LEAVE_WITHIN: Final = 2.0


class LeaseChoice(Struct, frozen=True, kw_only=True):
    """The Lease that one of several replicas holds, and our name on it."""

    name: str
    namespace: str
    """Empty: that of the kubeconfig's context."""
    identity: str
    seconds: float
    renew: float


@asynccontextmanager
async def cluster_home(
    chosen: Access,
    *,
    catalog: Catalog,
    scope: Scope = Scope(),  # noqa: B008  # immutable
    on_problems: Callable[[Sequence[HomeProblem]], None] = lambda _: None,
    on_deleted: Callable[[ObjectRef], object] | None = None,
    lease: LeaseChoice | None = None,
    observe: bool = False,
    stats: ClusterStats | None = None,
) -> AsyncGenerator[KubernetesHome, None]:
    """The home on that server, until the block is left. Without a lease this is the only replica.

    With `observe` no write leaves it, whoever asks for one. `stats` is counted up. Raises HomeUnusable.
    """
    stats = stats or ClusterStats()
    stats.host = urlsplit(chosen.server).netloc
    async with AsyncExitStack() as stack:
        http = await stack.enter_async_context(http_to(chosen))
        election = None
        if lease is not None:
            renewals = await stack.enter_async_context(http_to(chosen, connections=1))
            election = await stack.enter_async_context(
                taking_part(ApiServer(renewals, chosen.login, stats=stats), chosen, lease)
            )
            stats.fence = Fence(lease.name, lambda: election.left, lambda: election.holder)
        fence = no_fence if election is None else lambda: election.left
        if observe:
            fence = _shut
        home = KubernetesHome(
            ApiServer(http, chosen.login, fence=fence, stats=stats),
            Kube(http, chosen.login),
            catalog=catalog,
            scope=scope,
            on_problems=on_problems,
            on_deleted=on_deleted,
            election=election,
        )
        yield await stack.enter_async_context(home)


def _shut() -> float:
    """The fence of who only observes."""
    return 0.0


@asynccontextmanager
async def http_to(chosen: Access, *, connections: int = 0) -> AsyncGenerator[Http, None]:
    """A client of that server, until the block is left. Raises HomeUnusable."""
    try:
        certificate, key = await pair_of(chosen.login)
        http = Http(
            chosen.server,
            tls=replace(chosen.tls, certificate=certificate, key=key) if certificate else chosen.tls,
            timeouts=Timeouts(connect=10.0, total=TIMEOUT),
            largest=LARGEST,
            connections=connections,  # each stream holds one; the engine bounds the writes
            network=None,
            parses=False,
            proxy=chosen.proxy,
        )
        await http.__aenter__()
    except SyncError as error:
        raise HomeUnusable(str(error), hint=error.hint) from None
    try:
        yield http
    finally:
        await http.__aexit__(None, None, None)


@asynccontextmanager
async def taking_part(api: ApiServer, chosen: Access, lease: LeaseChoice) -> AsyncGenerator[Election, None]:
    """The election, from now on. At the end the Lease is given back, if it is ours."""
    namespace = lease.namespace or chosen.namespace or "default"
    leases = ApiLeases(api, namespace, lease.name)
    election = Election(leases, identity=lease.identity, seconds=lease.seconds, renew=lease.renew)
    task = asyncio.create_task(election.run(), name="home: leader election")
    try:
        yield election
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        try:
            async with asyncio.timeout(LEAVE_WITHIN):
                await election.leave()
        except (HomeError, TimeoutError) as error:
            structlog.get_logger().warning("the Lease was not given back", reason=str(error))


def lease_of(settings: Settings, environment: Mapping[str, str]) -> LeaseChoice | None:
    """The Lease that the settings want; None where this is the only replica."""
    election = settings.leader_election
    if not election.enabled or settings.observe:  # who only observes takes the Lease from nobody
        return None
    pod = environment.get("POD_NAME") or environment.get("HOSTNAME") or "syncret"
    return LeaseChoice(
        name=settings.lease_name,
        namespace=election.namespace or environment.get("POD_NAMESPACE", ""),
        identity=f"{pod}_{uuid4()}",
        seconds=election.lease_duration,
        renew=election.renew,
    )


def own_access(kubeconfig: str, context: str, environment: Mapping[str, str], mount: Path = MOUNT) -> Access:
    """Who we are: by a kubeconfig that is named, else as the pod that we run in. Raises HomeUnusable."""
    host = environment.get("KUBERNETES_SERVICE_HOST", "")
    if kubeconfig or context or not host or not (mount / "token").is_file():
        return access(kubeconfig_paths(kubeconfig, environment), context, environment)
    port = environment.get("KUBERNETES_SERVICE_PORT", "443")
    name = f"[{host}]" if ":" in host else host
    try:
        ca = (mount / "ca.crt").read_bytes()
    except OSError as error:
        raise HomeUnusable(f"{mount / 'ca.crt'}: {error.strerror}") from None
    return Access(server=f"https://{name}:{port}", tls=Tls(ca=ca), login=FileToken(mount / "token"))
