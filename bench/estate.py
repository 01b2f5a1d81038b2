"""What is measured on: folders of manifests of any size, and the product's own processes on them."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.request import urlopen

SHARED_MEMORY: Final = Path("/dev/shm")  # noqa: S108  # a file system to measure on
SYNCRET: Final = str(Path(sys.executable).with_name("syncret"))
INSTALLED: Final = (
    sys.executable,
    "-c",
    "import sys; sys.modules['rich'] = None; from syncret.daemon.cli.main import main; sys.exit(main())",
)
"""As the locked runtime requirements install it: `rich` is for development, but structlog imports it."""
PER_FILE: Final = 100
STORE_KEYS: Final = 200
READY_WITHIN: Final = 170.0

STORE: Final = """\
apiVersion: external-secrets.io/v1
kind: ClusterSecretStore
metadata:
  name: bench
spec:
  provider:
    fake:
      data:
"""
EXTERNAL_SECRET: Final = """\
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata:
  name: {name}
  namespace: {namespace}
spec:
  refreshInterval: 1h
  secretStoreRef:
    name: bench
    kind: ClusterSecretStore
  data:
    - secretKey: username
      remoteRef:
        key: key-{first}
    - secretKey: password
      remoteRef:
        key: key-{second}
"""


@dataclass(frozen=True, slots=True)
class Estate:
    """One host: its manifests, its state file and its written secrets, all in one folder."""

    folder: Path

    @property
    def manifests(self) -> Path:
        return self.folder / "manifests"

    @property
    def outputs(self) -> Path:
        return self.folder / "secrets"

    @property
    def state(self) -> Path:
        return self.folder / "state.db"

    @property
    def arguments(self) -> list[str]:
        return [
            *("--manifests", str(self.manifests)),
            *("--output-dir", str(self.outputs)),
            *("--state", str(self.state)),
        ]

    def fill(self, objects: int) -> None:
        """One store, and so many ExternalSecrets of two keys each, a hundred to a file and a namespace."""
        self.manifests.mkdir(parents=True)
        keys = "".join(f"        - {{key: key-{n}, value: value-{n}}}\n" for n in range(STORE_KEYS))
        (self.manifests / "store.yaml").write_text(STORE + keys)
        for start in range(0, objects, PER_FILE):
            namespace = f"team-{start // PER_FILE:03d}"
            texts = (
                EXTERNAL_SECRET.format(
                    name=f"app-{n:05d}",
                    namespace=namespace,
                    first=2 * n % STORE_KEYS,
                    second=(2 * n + 1) % STORE_KEYS,
                )
                for n in range(start, min(objects, start + PER_FILE))
            )
            (self.manifests / f"{namespace}.yaml").write_text("".join(texts))

    def sync(self) -> None:
        """Bring it in step once, not to be measured."""
        command = [SYNCRET, "sync", *self.arguments, "--set", "fsync=false", "-o", "json"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=READY_WITHIN)

    def clear(self) -> None:
        """As if it had never been synced. What was written is put aside, see `estate`."""
        aside = Path(tempfile.mkdtemp(prefix="former-", dir=self.folder))
        for path in (self.outputs, *self.folder.glob("state.db*")):
            if path.exists():
                path.rename(aside / path.name)


@contextmanager
def estate(objects: int, parent: Path) -> Iterator[Estate]:
    """A host with so many ExternalSecrets.

    On a disk it stays until the bench is over: for minutes after many files were deleted, ext4 tries each of
    their inodes before it makes a new file, which takes ten times as long, and is not what is measured here.
    """
    parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="estate-", dir=parent))
    made = Estate(folder)
    made.fill(objects)
    try:
        yield made
    finally:
        if SHARED_MEMORY in folder.parents:
            shutil.rmtree(folder)


@dataclass(slots=True)
class Daemon:
    """A `syncret run` that is ready."""

    process: subprocess.Popen[bytes]
    port: int
    seconds: float
    """From its start to READY=1."""

    def rss(self) -> float:
        """Its resident memory in MB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) / 1024

    def cpu(self) -> float:
        """Processor seconds that it has used."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def count(self, metric: str) -> float:
        """The sum of all series of a metric."""
        with urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=30) as answer:
            lines = answer.read().decode().splitlines()
        return sum(
            float(line.split()[-1]) for line in lines if line.startswith((f"{metric}{{", f"{metric} "))
        )


@contextmanager
def daemon(host: Estate, *settings: str) -> Iterator[Daemon]:
    """A daemon on that host; it is stopped at the end, and must then have ended well."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify, socket.socket() as probe:
        address = str(host.folder / "notify.sock")
        with suppress(FileNotFoundError):
            Path(address).unlink()
        notify.bind(address)
        notify.settimeout(READY_WITHIN)
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
        probe.close()
        command = [*INSTALLED, "run", *host.arguments, "--listen", f"127.0.0.1:{port}", "--socket", ""]
        command += ["--set", "logLevel=warning"]
        for setting in settings:
            command += ["--set", setting]
        begin = time.monotonic()
        process = subprocess.Popen(
            command, env=os.environ | {"NOTIFY_SOCKET": address}, stdout=subprocess.DEVNULL
        )
        try:
            while b"READY=1" not in notify.recv(4096):
                pass
            yield Daemon(process, port, time.monotonic() - begin)
            process.send_signal(signal.SIGTERM)
            assert process.wait(60) == 0
        finally:
            process.kill()
            process.wait()


def worker(name: str, **options: object) -> subprocess.Popen[str]:
    """A part of a measure that needs a process of its own; it writes JSON lines."""
    command = [sys.executable, "-m", f"bench.{name}", json.dumps(options)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[1])
