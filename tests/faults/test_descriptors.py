"""A shortage of file descriptors: all is delivered, only slower, and the daemon can be asked meanwhile."""

import socket
import threading
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final
from urllib.request import urlopen

import pytest

from tests.real.e2e.manifests import replaced, written
from tests.real.e2e.process import Daemon, daemon, free_port

pytestmark = pytest.mark.slow

OBJECTS: Final = 200
STORE: Final = """apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {{name: {name}}}
spec:
  provider:
    webhook:
      url: "http://127.0.0.1:{port}/{{{{ .remoteRef.key }}}}"
      result: {{jsonPath: "$.value"}}
"""
SECRET: Final = """---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {{name: {store}-{number}}}
spec:
  refreshInterval: {interval}
  secretStoreRef: {{name: {store}}}
  data: [{{secretKey: a, remoteRef: {{key: k{number}}}}}]
"""


class Handler(BaseHTTPRequestHandler):
    """Answers with the path as the value, after a while, and keeps the connection open."""

    protocol_version = "HTTP/1.1"

    def __init__(self, delay: float, stopped: threading.Event, *arguments: Any) -> None:  # noqa: ANN401  # as http.server has them
        self.delay = delay
        self.stopped = stopped
        super().__init__(*arguments)

    def do_GET(self) -> None:
        if self.delay and self.stopped.wait(self.delay):
            return
        body = b'{"value": "%s"}' % self.path.encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # as http.server names it
        del format, args


class Manager(ThreadingHTTPServer):
    """A secret manager, each of whose connections has a thread."""

    request_queue_size = 256
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401  # as http.server has it
        """Clients may leave."""
        del request, client_address


@contextmanager
def manager(delay: float = 0.0) -> Generator[int, None, None]:
    """The port of a secret manager that takes so long for an answer."""
    stopped = threading.Event()
    with Manager(("127.0.0.1", 0), partial(Handler, delay, stopped)) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            stopped.set()
            server.shutdown()
            thread.join()


def secrets(store: str, numbers: range, interval: str = "1h") -> str:
    return "".join(SECRET.format(store=store, number=number, interval=interval) for number in numbers)


def estate(store: str, port: int, count: int, interval: str = "1h") -> str:
    """A store and so many ExternalSecrets."""
    return STORE.format(name=store, port=port) + secrets(store, range(count), interval)


def limited(number: int) -> list[str]:
    """Runs a command with so many descriptors, which it cannot raise again."""
    return ["prlimit", f"--nofile={number}:{number}"]


def delivered(running: Daemon, store: str) -> int:
    namespace = running.folder.parent / "out" / "default"
    return len(list(namespace.glob(f"{store}-*/a"))) if namespace.exists() else 0


def complaints(running: Daemon) -> list[str]:
    """What was logged as a warning or an error."""
    return [line for line in running.stderr.splitlines() if "[warning" in line or "[error" in line]


@pytest.mark.parametrize("limit", [64, 256])
def test_everything_is_delivered_within_few_descriptors(tmp_path: Path, limit: int) -> None:
    with manager(delay=0.05) as one, manager(delay=0.05) as other:
        texts = {"one": estate("one", one, OBJECTS, "20s"), "other": estate("other", other, 5, "20s")}
        manifests = written(tmp_path / "manifests", **texts)
        with daemon(tmp_path, manifests, under=limited(limit), ready=False) as running:
            running.until(lambda: delivered(running, "other") == 5, "the other store's Secrets delivered")
            running.until(lambda: delivered(running, "one") == OBJECTS, "all delivered")
            assert running.get("/healthz") == "ok\n"
            assert running.ask("status").returncode == 0
            assert complaints(running) == []
            assert running.stop() == 0


def test_connections_that_many_stores_keep_open_leave_room(tmp_path: Path) -> None:
    """A store keeps its connections for some seconds, in case that it needs them again."""
    with manager() as port:
        texts = {f"s{number}": estate(f"s{number}", port, 3, "1s") for number in range(40)}
        manifests = written(tmp_path / "manifests", **texts)
        with daemon(tmp_path, manifests, under=limited(64), ready=False) as running:
            running.until(lambda: delivered(running, "s*") == 120, "all delivered")
            begin = running.metric("externalsecret_provider_api_calls_count", call="read")
            running.until(
                lambda: running.metric("externalsecret_provider_api_calls_count", call="read") > begin + 240,
                "all read twice more",
            )
            assert running.ask("status").returncode == 0
            assert complaints(running) == []


def test_a_store_that_hangs_takes_no_descriptor_from_another(tmp_path: Path) -> None:
    with manager(delay=60) as dead, manager() as good:
        texts = {"dead": estate("dead", dead, 100), "good": estate("good", good, 50)}
        manifests = written(tmp_path / "manifests", **texts)
        port = free_port()  # the address is printed after the first pass, which goes on
        listen = ("--listen", f"127.0.0.1:{port}")
        with daemon(tmp_path, manifests, *listen, under=limited(64), ready=False) as running:
            running.until(lambda: delivered(running, "good") == 50, "the good store's Secrets delivered")
            with urlopen(f"http://127.0.0.1:{port}/healthz") as answer:
                assert answer.read() == b"ok\n"
            assert running.ask("status").returncode in {0, 1}
            assert complaints(running) == []


def test_idle_connections_to_the_metrics_port_have_no_effect(tmp_path: Path) -> None:
    with manager() as port, ExitStack() as clients:
        manifests = written(tmp_path / "manifests", one=estate("one", port, 20))
        with daemon(tmp_path, manifests, under=limited(256)) as running:
            for _ in range(400):
                clients.enter_context(socket.create_connection(running.address))
            replaced(manifests / "late.yaml", secrets("one", range(100, 150)))
            running.until(lambda: delivered(running, "one") == 70, "new Secrets delivered")
            assert running.get("/healthz") == "ok\n"
            assert running.ask("status").returncode == 0
            assert len(complaints(running)) <= 10
            assert running.stop() == 0
