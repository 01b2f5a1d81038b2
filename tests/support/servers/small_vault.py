"""A small Vault with a thread for each request: AppRole, one key-value engine, and faults on command.

Written from Vault's published API. It lives in the process of a test that runs a daemon of its own.
"""

import json
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any, TypeVar

from syncret.config.meta import Document


class SmallVault:
    """What it holds and was asked. It `refuses` logins, or `hangs` until it is let go, if told so."""

    def __init__(self) -> None:
        self.url = ""
        self.secret_id = "right"
        self.refuses = False
        self.logins: list[float] = []
        self.reads: list[str] = []
        self.hangs = False
        self.waiting = 0
        """Requests that were left waiting so far."""
        self.is_away = False
        """Whether nothing listens at its address."""
        self._stop: Callable[[], object] = bool
        self._start: Callable[[], object] = bool
        self._goes_on = threading.Event()
        self.valid: set[str] = set()
        """Tokens."""
        self.lock = threading.Lock()
        self._numbers = count(1)
        self.generation = count(1)

    def revoke_all(self) -> None:
        """End every token."""
        self.valid.clear()

    def let_go(self) -> None:
        """Answer what waits, and hang no more."""
        self.hangs = False
        self._goes_on.set()

    def goes_away(self) -> None:
        """Refuse connections, and end those that there are without an answer."""
        self.is_away = True
        self._stop()

    def comes_back(self) -> None:
        """Listen at the same address again."""
        self.is_away = False
        self._start()

    def listens(self, start: Callable[[], object], stop: Callable[[], object]) -> None:
        """Whoever serves it says how that begins and ends."""
        self._start, self._stop = start, stop
        start()

    def answer(self, method: str, path: str, token: str, body: Document) -> tuple[int, Document]:
        """Status and document."""
        if self.hangs:
            self.waiting += 1
            self._goes_on.wait()
        if path == "auth/approle/login":
            self.logins.append(time.monotonic())
            if self.refuses or body.get("secret_id") != self.secret_id:
                return 400, {"errors": ["invalid role or secret ID"]}
            made = f"hvs.{next(self._numbers)}"
            self.valid.add(made)
            auth = {"client_token": made, "lease_duration": 3600, "renewable": True, "accessor": "a"}
            return 200, {"auth": auth}
        if token not in self.valid:
            return 403, {"errors": ["permission denied"]}
        if path == "auth/token/lookup-self":
            ends = {"ttl": 3600, "expire_time": "2036-01-01T00:00:00Z"}
            return 200, {"data": {**ends, "renewable": True, "type": "service"}}
        if path == "auth/token/revoke-self":
            self.valid.discard(token)
            return 204, {}
        if method == "GET" and path.startswith("kv/data/"):
            self.reads.append(path.removeprefix("kv/data/"))
            value = str(next(self.generation))
            data = dict.fromkeys(("user", "password", "host", "port", "name"), value)
            return 200, {"data": {"data": data, "metadata": {"version": 1}}}
        return 404, {"errors": []}


class _Server(ThreadingHTTPServer):
    """For many connections at once, some of which end before they are answered."""

    request_queue_size = 1024
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Print nothing."""
        del request, client_address


AnyVault = TypeVar("AnyVault", bound=SmallVault)


@contextmanager
def small_vault() -> Generator[SmallVault, None, None]:
    """A server on a free port of loopback, for as long as the block lasts."""
    with served(SmallVault()) as vault:
        yield vault


@contextmanager
def served(vault: AnyVault) -> Generator[AnyVault, None, None]:
    """That Vault on a free port of loopback, for as long as the block lasts."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _serve(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            path, token = self.path.removeprefix("/v1/"), self.headers.get("X-Vault-Token", "")
            if vault.is_away:
                self.close_connection = True
                return
            status, document = vault.answer(self.command, path, token, json.loads(body) if body else {})
            content = json.dumps(document).encode() if document else b""
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PUT = do_DELETE = _serve  # noqa: N815  # as the base class names them

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002, ANN401  # as the base class has it
            """Print nothing."""

    servers: list[_Server] = []

    def start() -> None:
        port = servers[-1].server_address[1] if servers else 0
        servers.append(_Server(("127.0.0.1", port), Handler))
        thread = threading.Thread(
            target=servers[-1].serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        )
        thread.start()

    def stop() -> None:
        servers[-1].shutdown()
        servers[-1].server_close()

    vault.listens(start, stop)
    vault.url = f"http://127.0.0.1:{servers[0].server_address[1]}"
    try:
        yield vault
    finally:
        vault.let_go()
        if not vault.is_away:
            stop()


def vault_store(vault: SmallVault, name: str = "vault", secret_id: str = "right") -> str:
    """Manifests of a store that logs in by AppRole, and of its credential."""
    return f"""---
apiVersion: v1
kind: Secret
metadata: {{name: {name}-login}}
stringData: {{secret-id: {secret_id}}}
---
apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {{name: {name}}}
spec:
  provider:
    vault:
      server: {vault.url}
      path: kv
      version: v2
      auth: {{appRole: {{path: approle, roleId: role, secretRef: {{name: {name}-login, key: secret-id}}}}}}
"""


def vault_sets(store: str, number: int, interval: str = "2s") -> str:
    """ExternalSecrets of five keys each, whose values are those of one answer, and other ones each time."""
    return "".join(
        f"""---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {{name: {store}-{each}}}
spec:
  refreshInterval: {interval}
  secretStoreRef: {{name: {store}}}
  dataFrom: [{{extract: {{key: k{each}}}}}]
"""
        for each in range(number)
    )
