"""A secret manager of a test, each of whose connections has a thread, and objects that read from it."""

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

STORE: Final = """apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {{name: {name}}}
spec:
  provider:
    webhook: {{url: "http://127.0.0.1:{port}/{{{{ .remoteRef.key }}}}", result: {{jsonPath: "$.value"}}}}
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
VALUE: Final = b'{"value": "x"}'


class _Handler(BaseHTTPRequestHandler):
    """Keeps the connection open."""

    protocol_version = "HTTP/1.1"

    def __init__(self, answer: Callable[[], bytes], *arguments: Any) -> None:  # noqa: ANN401  # as http.server has them
        self.answer = answer
        super().__init__(*arguments)

    def do_GET(self) -> None:
        body = self.answer()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # as http.server names it
        del format, args


class _Server(ThreadingHTTPServer):
    request_queue_size = 256
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401  # as http.server has it
        """Clients may leave."""
        del request, client_address


def after(seconds: float) -> bytes:
    """A value, after a while."""
    threading.Event().wait(seconds)
    return VALUE


@contextmanager
def manager(answer: Callable[[], bytes]) -> Generator[int, None, None]:
    """The port of a manager that gives these answers."""
    with _Server(("127.0.0.1", 0), partial(_Handler, answer)) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


def secrets(store: str, numbers: range, interval: str = "1h") -> str:
    """ExternalSecrets of a store."""
    return "".join(SECRET.format(store=store, number=number, interval=interval) for number in numbers)


def estate(store: str, port: int, count: int, interval: str = "1h") -> str:
    """A store and so many ExternalSecrets."""
    return STORE.format(name=store, port=port) + secrets(store, range(count), interval)
