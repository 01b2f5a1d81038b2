"""The guide to HAProxy in a pod, with Debian's HAProxy: namespaces as the kubelet makes them, no cluster."""

import asyncio
import json
import os
import socket
import ssl
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Final

import pytest
import yaml

from syncret.config.meta import Document
from tests.suites.docs.pages import ROOT, blocks
from tests.support.debian import missing_tools, root_tar
from tests.support.tls import Authority, Pair
from tests.support.waiting import until

MISSING: Final = missing_tools("mmdebstrap", "unshare", "pivot_root")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(MISSING), reason=MISSING)]

SYNCRET = Path(sys.executable).parent / "syncret"
POD: Final = """\
set -eu
"$@" &
read started
unshare --mount sh -c '
  mount --make-rprivate /
  mount --bind "$ROOT" "$ROOT"
  mount -t proc proc "$ROOT/proc"
  mount --bind "$SECRETS" "$ROOT/secrets"
  cd "$ROOT"
  pivot_root . mnt
  exec chroot . sh -c "umount -l /mnt; exec /usr/sbin/haproxy -W -f /etc/haproxy/haproxy.cfg"
' &
wait
"""
"""The first process, as `pause`; the sidecar; and, once the probe passed, HAProxy in its own root."""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("haproxy")
    tar = root_tar(("haproxy", "openssl"), variant="minbase")
    subprocess.run(["tar", "--extract", f"--file={tar}", f"--directory={folder}"], check=True)
    (folder / "secrets").mkdir()
    return folder


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
        return port


def wait(condition: Callable[[], object]) -> None:
    asyncio.run(until(condition))


class Pod:
    """What runs in it, and what its network shows."""

    def __init__(self, folder: Path, root: Path) -> None:
        self.folder = folder
        self.secrets = folder / "secrets"
        self.secrets.mkdir(mode=0o755)
        self.port, self._probes = free_port(), free_port()
        written = {each.title: each.text for each in blocks(ROOT / "docs/guides/haproxy.md")}
        self._documents: list[Document] = list(yaml.safe_load_all(written["manifests/site.yaml"]))
        self._configuration = written["haproxy.cfg"]
        (root / "etc/haproxy/haproxy.cfg").write_text(self._configuration.replace("8443", str(self.port)))
        self.process: subprocess.Popen[bytes] | None = None
        self._root = root

    def write(self, pair: Pair, key: bytes) -> None:
        """Have the store hold these; the guide's manifests are as written, but for places and patience."""
        store, secret, delivery = self._documents
        value = json.dumps({"certificate": pair.certificate.decode(), "key": key.decode()})
        store["spec"] = {"provider": {"fake": {"data": [{"key": "site/tls", "value": value}]}}}
        secret["spec"]["refreshInterval"] = "1s"
        spec = delivery["spec"]
        spec["to"][0]["directory"]["path"] = str(self.secrets / "site")
        spec["reload"]["signal"]["process"] = "/usr/sbin/haproxy"
        spec["healthy"] = {
            "tls": {"address": f"127.0.0.1:{self.port}", "certificate": "site.pem"},
            "within": "3s",
            "stableFor": "0s",
        }
        spec |= {"debounce": {"quiet": "0s", "atMost": "1s"}, "minInterval": "0s"}
        new = self.folder / "site.new"
        new.write_text(yaml.safe_dump_all(self._documents))
        new.rename(self.folder / "site.yaml")

    def start(self) -> None:
        sidecar = [SYNCRET, "run", "-f", self.folder / "site.yaml", "--output-dir", self.folder / "out"]
        sidecar += ["--state", self.folder / "state.db", "--listen", f"127.0.0.1:{self._probes}"]
        sidecar += ["--socket", "", "--set", "statusOnListen=true"]
        namespaces = ["unshare", "--pid", "--fork", "--kill-child", "--mount", "--mount-proc"]
        self.process = subprocess.Popen(
            [*namespaces, "sh", "-c", POD, "sh", *map(str, sidecar)],
            env={**os.environ, "ROOT": str(self._root), "SECRETS": str(self.secrets)},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        assert self.process.stdin is not None
        wait(lambda: self.asked("/readyz?delivered=1") is not None)
        self.process.stdin.write(b"started\n")
        self.process.stdin.flush()

    def asked(self, path: str) -> str | None:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self._probes}{path}") as answer:
                text: str = answer.read().decode()
                return text
        except (urllib.error.HTTPError, ConnectionError, urllib.error.URLError):
            return None

    def reason(self) -> str:
        (row,) = [
            each
            for each in json.loads(self.asked("/status") or "{}")["objects"]
            if each["kind"] == "Delivery"
        ]
        reason: str = row["reason"]
        return reason

    def serves(self, pair: Pair) -> bool:
        try:
            served = ssl.get_server_certificate(("127.0.0.1", self.port))
        except OSError:
            return False
        return ssl.PEM_cert_to_DER_cert(served) == ssl.PEM_cert_to_DER_cert(pair.certificate.decode())


@pytest.fixture
def pod(tmp_path: Path, root: Path) -> Generator[Pod, None, None]:
    found = Pod(tmp_path, root)
    yield found
    if found.process is not None:
        with found.process:
            found.process.kill()


def test_a_new_certificate_is_served_and_a_bad_one_taken_back(pod: Pod) -> None:
    authority = Authority()
    first, second, third = (authority.pair() for _ in range(3))
    pod.write(first, first.key)
    pod.start()
    wait(lambda: pod.serves(first))
    pod.write(second, second.key)
    wait(lambda: pod.serves(second))
    wait(lambda: pod.reason() == "Delivered")
    pod.write(third, second.key)
    wait(lambda: pod.reason() == "RolledBack")
    assert pod.serves(second)
    assert second.certificate in (pod.secrets / "site/site.pem").read_bytes()
    pod.write(third, third.key)
    wait(lambda: pod.serves(third))
