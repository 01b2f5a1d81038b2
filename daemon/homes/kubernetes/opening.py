"""Opens the cluster home: as a pod, or with a kubeconfig."""

import re
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from msgspec import structs

from syncret.config.catalog import Catalog
from syncret.config.meta import ObjectRef
from syncret.daemon.core.cluster_stats import ClusterStats, Fence
from syncret.daemon.homes.contract import HomeProblem, HomeUnusable
from syncret.daemon.homes.kubernetes.access.kubeconfig import Access, access, kubeconfig_paths
from syncret.daemon.homes.kubernetes.access.logins import FileToken, pair_of
from syncret.daemon.homes.kubernetes.api import ApiServer, no_fence
from syncret.daemon.homes.kubernetes.election import Election, Leases, boot_time
from syncret.daemon.homes.kubernetes.home import KubernetesHome
from syncret.daemon.homes.kubernetes.leases import ApiLeases
from syncret.daemon.homes.kubernetes.other_operator.foreign import ForeignWriters, SeenLease
from syncret.daemon.homes.kubernetes.other_operator.interlock import (
    LeaseChoice,
    LeaseName,
    Writing,
    looking_out,
    taking_part,
)
from syncret.daemon.homes.kubernetes.other_operator.statuses import ForeignStatuses, NoVersions
from syncret.daemon.homes.kubernetes.reviews import AT_ONCE, TokenReviews
from syncret.daemon.homes.kubernetes.scope import Scope
from syncret.providers.errors import SyncError
from syncret.providers.kit.http import Http, Timeouts, Tls
from syncret.providers.kit.http.client import user_agent
from syncret.providers.kit.kube.client import Kube

MOUNT: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount")
LARGEST: Final = 64 * 2**20
"""Bytes of one answer: a page of five hundred objects, some of them large."""

_A_POD: Final = re.compile(r"[a-z0-9.-]+")
TIMEOUT: Final = 30.0


@asynccontextmanager
async def cluster_home(
    chosen: Access,
    *,
    catalog: Catalog,
    scope: Scope = Scope(),  # noqa: B008  # immutable
    on_problems: Callable[[Sequence[HomeProblem]], None] = lambda _: None,
    on_deleted: Callable[[ObjectRef], object] | None = None,
    writing: Writing = Writing(),  # noqa: B008  # immutable
    stats: ClusterStats | None = None,
) -> AsyncGenerator[KubernetesHome, None]:
    """The home on that server, until the block is left; `writing` says when writes are allowed.

    `stats` is counted up. Raises HomeUnusable.
    """
    lease, interlock = writing.lease, writing.interlock
    stats = stats or ClusterStats()
    stats.host = urlsplit(chosen.server).netloc
    async with AsyncExitStack() as stack:
        http = await stack.enter_async_context(http_to(chosen))
        election, foreign = None, None
        renewals = await stack.enter_async_context(http_to(chosen, connections=1))
        unfenced = ApiServer(renewals, chosen.login, stats=stats)  # connects only where it is used
        if interlock is not None:
            foreign = await stack.enter_async_context(looking_out(unfenced, interlock))
            stats.foreign_writers = lambda: foreign.signs
        if lease is not None:
            election = await stack.enter_async_context(elected(unfenced, chosen, lease, foreign))
            stats.fence = Fence(lease.name, lambda: election.left, lambda: election.holder)
        home = KubernetesHome(
            ApiServer(
                http, chosen.login, fence=_fence(election, foreign, observe=writing.observe), stats=stats
            ),
            Kube(http, chosen.login),
            catalog=catalog,
            scope=scope,
            on_problems=on_problems,
            on_deleted=on_deleted,
            election=election,
        )
        if foreign is not None and interlock is not None:
            looks = ForeignStatuses(foreign, interlock.handles) if interlock.statuses else NoVersions()
            home.look_for(foreign, looks)
        yield await stack.enter_async_context(home)


def elected(
    api: ApiServer, chosen: Access, lease: LeaseChoice, foreign: ForeignWriters | None = None
) -> AbstractAsyncContextManager[Election]:
    """The election of our replicas. Any other holder of its Lease is another operator."""
    name = LeaseName(lease.namespace or chosen.namespace or "default", lease.name)
    leases: Leases = ApiLeases(api, *name)
    if foreign is not None:
        leases = SeenLease(leases, str(name), foreign, boot_time)
    election = Election(leases, identity=lease.identity, seconds=lease.seconds, renew=lease.renew)
    return taking_part(election, "home: leader election")


def _fence(
    election: Election | None, foreign: ForeignWriters | None, *, observe: bool
) -> Callable[[], float]:
    """The seconds for which writes may still be sent."""
    if observe:
        return _shut
    left = no_fence if election is None else lambda: election.left
    return left if foreign is None else lambda: 0.0 if foreign.reason else left()


def _shut() -> float:
    """The fence of a daemon that only observes."""
    return 0.0


@asynccontextmanager
async def token_reviews(chosen: Access) -> AsyncGenerator[TokenReviews, None]:
    """Reviews tokens of that server's users. Raises HomeUnusable."""
    async with http_to(chosen, connections=AT_ONCE) as http:
        yield TokenReviews(ApiServer(http, chosen.login))


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
            headers={"User-Agent": f"{user_agent()} ({chosen.pod})"} if chosen.pod else None,
        )
        await http.__aenter__()
    except SyncError as error:
        raise HomeUnusable(str(error), hint=error.hint) from None
    try:
        yield http
    finally:
        await http.__aexit__(None, None, None)


def own_access(kubeconfig: str, context: str, environment: Mapping[str, str], mount: Path = MOUNT) -> Access:
    """Our access: by a kubeconfig that is named, else as the pod that we run in. Raises HomeUnusable."""
    pod = environment.get("POD_NAME", "")
    found = _access(kubeconfig, context, environment, mount)
    return structs.replace(found, pod=pod) if _A_POD.fullmatch(pod) else found


def _access(kubeconfig: str, context: str, environment: Mapping[str, str], mount: Path) -> Access:
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
