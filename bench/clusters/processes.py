"""The contenders: ours, and the operator as delivered and tuned, each as a process on one namespace."""

import os
import urllib.request
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from bench.clusters.estate import kubeconfig
from bench.estate import INSTALLED
from tests.real.e2e.process import daemon, free_port, until
from tests.support.servers.eso.running import operator
from tests.support.servers.kube.running import KubeApi

TUNED: Final = (
    "--concurrent=32",
    "--client-qps=2000",
    "--client-burst=4000",
    "--experimental-enable-vault-token-cache",
)
CALLS: Final = "externalsecret_provider_api_calls_count"
RECONCILED: Final = "controller_runtime_reconcile_total"
WAITING: Final = "workqueue_depth"
_LOOKED_FOR: Final = 600.0


class Running(NamedTuple):
    """A contender that runs."""

    pid: int
    metrics: Callable[[], str]
    wait_reconciled: Callable[[int], None]
    """Returns once so many objects were reconciled, and none waits."""


class Contender(NamedTuple):
    """A process that can be started on a namespace."""

    name: str
    flags: tuple[str, ...] | None
    """Of the operator; None: ours."""

    @contextmanager
    def started(self, folder: Path, api: KubeApi, namespace: str) -> Generator[Running]:
        """At work until the block is left."""
        with (ours if self.flags is None else self._operator)(folder, api, namespace) as running:
            yield running

    @contextmanager
    def _operator(self, folder: Path, api: KubeApi, namespace: str) -> Generator[Running]:
        address = f"127.0.0.1:{free_port()}"
        more = (f"--metrics-addr={address}", f"--namespace={namespace}", *(self.flags or ()))
        with operator(api, folder, *more) as one:

            def metrics() -> str:
                try:
                    with urllib.request.urlopen(f"http://{address}/metrics", timeout=10) as answer:
                        return str(answer.read().decode())
                except OSError:  # it does not listen yet
                    return ""

            def wait_reconciled(objects: int) -> None:
                def is_done() -> bool:
                    samples = metrics()
                    done = total(samples, RECONCILED, 'controller="externalsecret"')
                    return done >= objects and not total(samples, WAITING, 'name="externalsecret"')

                until(is_done, f"{objects} objects reconciled", _LOOKED_FOR, every=0.1)

            yield Running(one.process.pid, metrics, wait_reconciled)


@contextmanager
def ours(folder: Path, api: KubeApi, namespace: str, *more: str, **env: str) -> Generator[Running]:
    """The product, as a user of that namespace runs it."""
    flags = ("--kubernetes", "--namespace", namespace, "--set", f"kubeconfig={kubeconfig(folder, api)}")
    with daemon(folder, None, *flags, *more, ready=False, program=INSTALLED, **env) as process:

        def looked(_: int) -> None:
            until(lambda: "the first pass is done" in process.stderr, "all looked at", _LOOKED_FOR)

        yield Running(process.process.pid, lambda: process.get("/metrics"), looked)


US: Final = Contender("ours", None)
DEFAULT: Final = Contender("the operator", ())
TUNED_OPERATOR: Final = Contender("the operator, tuned", TUNED)


def total(metrics: str, name: str, having: str = "") -> float:
    """The sum of all series of a metric that have this text."""
    lines = (line for line in metrics.splitlines() if line.startswith((f"{name} ", f"{name}{{")))
    return sum(float(line.rpartition(" ")[2]) for line in lines if having in line)


def cpu_of(pid: int) -> float:
    """Seconds of processor time."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def rss_of(pid: int) -> float:
    """Megabytes of resident memory."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024
