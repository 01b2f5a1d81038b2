"""One replica as a process: begun, killed, stopped for a while, ended, begun again."""

import signal
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from tests.real.e2e.process import Daemon, daemon
from tests.real.replicas.audit import PREFIX
from tests.support.servers.kube.running import KubeApi, token_of

NAMES: Final = tuple(f"{PREFIX}{name}" for name in ("one", "two", "three"))
LEASE_NAMESPACE: Final = "replicas"
LEASE: Final = f"/apis/coordination.k8s.io/v1/namespaces/{LEASE_NAMESPACE}/leases/external-secrets-controller"


class Replica:
    """A name under which one process after the other takes part."""

    def __init__(self, name: str, folder: Path, api: KubeApi) -> None:
        self.name = name
        self._folder = folder
        self._lives = 0
        self._processes = ExitStack()
        self._daemon: Daemon | None = None
        self._going_on: threading.Timer | None = None
        self._kubeconfig = api.kubeconfig(folder / f"{name}.kubeconfig", token_of(name))

    def start(self) -> None:
        """Another process."""
        self._lives += 1
        folder = self._folder / f"{self.name}-{self._lives}"
        folder.mkdir()
        flags = (
            *("--kubernetes", "--enable-leader-election", "--set", f"kubeconfig={self._kubeconfig}"),
            *("--set", f"leaderElection.namespace={LEASE_NAMESPACE}", "--set", "drainTimeout=5s"),
        )
        running = daemon(folder, None, *flags, ready=False, POD_NAME=self.name)
        self._daemon = self._processes.enter_context(running)

    @property
    def process(self) -> Daemon:
        assert self._daemon is not None, "it was started"
        return self._daemon

    @property
    def is_stopped(self) -> bool:
        """Whether it is between SIGSTOP and SIGCONT."""
        return self._going_on is not None and self._going_on.is_alive()

    @property
    def is_there(self) -> bool:
        """Whether it runs and was not told to end."""
        return self._daemon is not None and self._daemon.process.poll() is None

    def is_warm(self) -> bool:
        """Whether it follows everything."""
        if not self.is_there or self.is_stopped:
            return False
        try:
            return self.process.get("/readyz").startswith("ok")
        except (OSError, AssertionError):
            return False

    def kill(self) -> None:
        """As a machine that loses its power."""
        self.process.process.kill()
        self.process.process.wait()

    def stop(self, seconds: float) -> None:
        """As a machine that is suspended for so long."""
        self.process.send(signal.SIGSTOP)
        self._going_on = threading.Timer(seconds, self.go_on)
        self._going_on.start()

    def go_on(self) -> None:
        """No longer stopped."""
        if self._going_on is not None:
            self._going_on.cancel()
        if self.is_there:
            self.process.send(signal.SIGCONT)

    def end(self) -> int:
        """As a rollout ends it; its exit code."""
        return self.process.stop()

    def reload(self) -> None:
        """Read the settings again."""
        self.process.send(signal.SIGHUP)

    def tracebacks(self) -> list[str]:
        """Bugs that any of its processes told of."""
        found: list[str] = []
        for log in sorted(self._folder.glob(f"{self.name}-*/told/stderr")):
            text = log.read_text(errors="replace")
            place = text.find("Traceback")
            if place >= 0 or "internal error" in text:
                found.append(f"{log.parent.parent.name}: {text[max(0, place - 300) : place + 3000]}")
        return found

    def close(self) -> None:
        """End what still runs."""
        self.go_on()
        self._processes.close()
