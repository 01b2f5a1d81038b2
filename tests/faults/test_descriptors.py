"""A shortage of file descriptors: all is delivered, only slower, and the daemon can be asked meanwhile."""

import socket
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Final
from urllib.request import urlopen

import pytest

from tests.faults.manager import VALUE, after, estate, manager, secrets
from tests.real.e2e.manifests import replaced, written
from tests.real.e2e.process import Daemon, daemon, free_port

pytestmark = pytest.mark.slow

OBJECTS: Final = 200


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
    with manager(partial(after, 0.05)) as one, manager(partial(after, 0.05)) as other:
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
    with manager(lambda: VALUE) as port:
        texts = {f"s{number}": estate(f"s{number}", port, 3, "1s") for number in range(40)}
        manifests = written(tmp_path / "manifests", **texts)
        with daemon(tmp_path, manifests, under=limited(64), ready=False) as running:
            running.until(lambda: delivered(running, "s*") == 120, "all delivered")
            begin = running.metric("externalsecret_provider_api_calls_count", call="HTTPRequest")
            running.until(
                lambda: (
                    running.metric("externalsecret_provider_api_calls_count", call="HTTPRequest")
                    > begin + 240
                ),
                "all read twice more",
            )
            assert running.ask("status").returncode == 0
            assert complaints(running) == []


def test_a_store_that_hangs_takes_no_descriptor_from_another(tmp_path: Path) -> None:
    with manager(partial(after, 60.0)) as dead, manager(lambda: VALUE) as good:
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
    with manager(lambda: VALUE) as port, ExitStack() as clients:
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
