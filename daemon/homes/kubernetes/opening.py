"""Opens the cluster home: as a pod, or with a kubeconfig."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from syncret.config.catalog import Catalog
from syncret.config.meta import ObjectRef
from syncret.daemon.homes.contract import HomeProblem, HomeUnusable
from syncret.daemon.homes.kubernetes.api import ApiServer
from syncret.daemon.homes.kubernetes.home import KubernetesHome
from syncret.daemon.homes.kubernetes.kubeconfig import Access, FileToken, access, kubeconfig_paths
from syncret.providers.errors import SyncError
from syncret.providers.kit.http import Http, Timeouts, Tls
from syncret.providers.kit.kube.client import Kube

MOUNT: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount")
LARGEST: Final = 64 * 2**20
"""Bytes of one answer: a page of five hundred objects, some of them large."""

TIMEOUT: Final = 30.0


@asynccontextmanager
async def cluster_home(
    chosen: Access,
    *,
    catalog: Catalog,
    namespace: str = "",
    on_problems: Callable[[Sequence[HomeProblem]], None] = lambda _: None,
    on_deleted: Callable[[ObjectRef], object] | None = None,
) -> AsyncGenerator[KubernetesHome, None]:
    """The home on that server, until the block is left. Raises HomeUnusable."""
    timeouts = Timeouts(connect=10.0, total=TIMEOUT)
    http = Http(
        chosen.server,
        tls=chosen.tls,
        timeouts=timeouts,
        largest=LARGEST,
        connections=0,  # each stream holds one; the engine bounds the writes
        network=None,
        parses=False,
    )
    try:
        await http.__aenter__()
    except SyncError as error:
        raise HomeUnusable(str(error), hint=error.hint) from None
    try:
        api, kube = ApiServer(http, chosen.login), Kube(http, chosen.login)
        async with KubernetesHome(
            api,
            kube,
            catalog=catalog,
            namespace=namespace,
            on_problems=on_problems,
            on_deleted=on_deleted,
        ) as home:
            yield home
    finally:
        await http.__aexit__(None, None, None)


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
