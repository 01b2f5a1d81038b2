"""The operator itself, release 0.20.4, as a process: what a cluster's objects come to without us."""

import json
import os
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.support.servers.golang import built, need_go
from tests.support.servers.kube.running import ADMIN, KubeApi

_FLAGS: Final = ("-mod=mod", "-ldflags=-s -w")
_TUNED: Final = ("--concurrent=8", "--client-qps=1000", "--client-burst=2000")
"""At its defaults it runs one object at a time."""


def program() -> Path:
    """The operator's program, built now if the cache does not have it (minutes, once)."""
    need_go()
    folder = built(Path(__file__).parent, packages=("./cmd/external-secrets",), flags=_FLAGS)
    return folder / "external-secrets"


@contextmanager
def operator(api: KubeApi, folder: Path) -> Generator[Path]:
    """The operator on an API server that has the CRDs, until the block is left; what it yields is its log.

    It has one thread for Go: its fake provider writes to a map without a lock, which ends the process where
    two reconcilers do so at once.
    """
    kubeconfig, log = folder / "kubeconfig.json", folder / "operator.log"
    kubeconfig.write_text(json.dumps(_kubeconfig(api)))
    with log.open("wb") as out:
        process = subprocess.Popen(
            [program(), "--metrics-addr=0", "--live-addr=0", *_TUNED],
            env={**os.environ, "KUBECONFIG": str(kubeconfig), "GOMAXPROCS": "1"},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
        )
    try:
        yield log
        assert process.poll() is None, f"the operator ended: {log.read_text()[-1000:]}"
    finally:
        process.kill()
        process.wait()


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
