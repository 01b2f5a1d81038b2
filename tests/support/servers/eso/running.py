"""The operator itself, release 0.20.4, as a process: what a cluster's objects come to without us."""

import json
import os
import subprocess
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from tests.support.servers.golang import built, need_go
from tests.support.servers.kube.running import ADMIN, KubeApi

_FLAGS: Final = ("-mod=mod", "-ldflags=-s -w")
SEVERAL: Final = ("--metrics-addr=0", "--concurrent=8", "--client-qps=1000", "--client-burst=2000")
"""At its defaults it runs one object at a time."""

ONE_THREAD: Final = {"GOMAXPROCS": "1"}
"""Its fake provider writes to a map without a lock, which ends the process where two do so at once."""


class Operator(NamedTuple):
    """A running one."""

    process: "subprocess.Popen[bytes]"
    log: Path


def program() -> Path:
    """The operator's program, built now if the cache does not have it (minutes, once)."""
    need_go()
    folder = built(Path(__file__).parent, packages=("./cmd/external-secrets",), flags=_FLAGS)
    return folder / "external-secrets"


@contextmanager
def operator(api: KubeApi, folder: Path, *flags: str, lease_in: str = "") -> Generator[Operator]:
    """The operator on an API server that has the CRDs, until the block is left.

    Without flags it is as the tests of behaviour need it. `lease_in`: it takes part in an election there, as
    in a pod.
    """
    kubeconfig, log = folder / "kubeconfig.json", folder / "operator.log"
    kubeconfig.write_text(json.dumps(_kubeconfig(api)))
    more: Mapping[str, str] = {} if flags else ONE_THREAD
    chosen: Sequence[str] = flags or SEVERAL
    elects = ("--enable-leader-election",) if lease_in else ()
    with log.open("wb") as out:
        process = subprocess.Popen(
            [*_in_pod(lease_in), program(), "--live-addr=0", *chosen, *elects],
            env={**os.environ, "KUBECONFIG": str(kubeconfig), **more},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
        )
    try:
        yield Operator(process, log)
        assert process.poll() is None, f"the operator ended: {log.read_text()[-1000:]}"
    finally:
        process.kill()
        process.wait()


def can_elect() -> bool:
    """Whether this machine can make an operator believe that it is in a pod."""
    command = [*_in_pod("default"), "true"]
    return os.geteuid() == 0 and subprocess.run(command, capture_output=True, check=False).returncode == 0


def _in_pod(namespace: str) -> list[str]:
    """What the operator reads the namespace of its Lease from, at a place that it cannot be told."""
    if not namespace:
        return []
    mount = "/run/secrets/kubernetes.io/serviceaccount"
    made = f"mount -t tmpfs tmpfs /run && mkdir -p {mount} && printf {namespace} > {mount}/namespace"
    return ["unshare", "--mount", "sh", "-c", f'{made} && exec "$@"', "pod"]


def _kubeconfig(api: KubeApi) -> dict[str, object]:
    name = "tests"
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {"name": name, "cluster": {"server": api.url, "certificate-authority-data": api.ca_base64}}
        ],
        "users": [{"name": name, "user": {"token": ADMIN}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "current-context": name,
    }
