"""Three replicas as processes: one is active, and followed when it ends."""

from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import pytest

from tests.real.e2e.process import Daemon, daemon, until
from tests.real.kubernetes.test_engine import Cluster
from tests.support.servers.kube.running import KubeApi

pytestmark = pytest.mark.slow

TAKEOVER = 15.0
NAMES = ("one", "two", "three")


@contextmanager
def replicas(folder: Path, kubeconfig: Path, namespace: str) -> Generator[list[Daemon]]:
    """Three, each with a socket of its own."""
    flags = ("--kubernetes", "--namespace", namespace, "--set", f"kubeconfig={kubeconfig}")
    lease = ("--set", "leaderElection.enabled=true", "--set", f"leaderElection.namespace={namespace}")
    with ExitStack() as stack:
        some: list[Daemon] = []
        for name in NAMES:
            own = folder / name
            own.mkdir()
            env = {"POD_NAME": name}
            some.append(stack.enter_context(daemon(own, None, *flags, *lease, ready=False, **env)))
        yield some


def holder(api: KubeApi, namespace: str) -> str:
    """The pod that the Lease names."""
    path = f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/external-secrets-controller"
    found = api.get(path)
    return "" if found is None else str(found["spec"].get("holderIdentity") or "").partition("_")[0]


def is_synced(cluster: Cluster, name: str) -> bool:
    return cluster.ready(name).get("status") == "True"


def test_one_acts_and_is_followed(tmp_path: Path, kubeconfig: Path, api: KubeApi, namespace: str) -> None:
    cluster = Cluster(api, namespace)
    cluster.store(k="one")
    with replicas(tmp_path, kubeconfig, namespace) as some:
        until(lambda: holder(api, namespace), "somebody active")
        cluster.sync("first")
        until(partial(is_synced, cluster, "first"), "synced")
        before = cluster.get("secrets", "first")
        by_name: dict[str, Daemon] = dict(zip(NAMES, some, strict=True))

        killed = holder(api, namespace)
        by_name[killed].process.kill()
        cluster.sync("second")
        until(partial(is_synced, cluster, "second"), "taken over", seconds=TAKEOVER + 10)
        assert holder(api, namespace) not in {"", killed}
        assert cluster.get("secrets", "first") == before, "a takeover writes nothing that is as it should be"

        stopped = holder(api, namespace)
        assert by_name[stopped].stop() == 0
        cluster.sync("third")
        until(partial(is_synced, cluster, "third"), "taken over from who ended")
        assert holder(api, namespace) not in {"", killed, stopped}
        (last,) = [each for name, each in by_name.items() if name not in {killed, stopped}]
        assert last.stop() == 0
        assert holder(api, namespace) == ""
        for each in some:
            assert "Traceback" not in each.stderr
