"""A real daemon whose secret managers begin to answer without measure: what memory it takes for that."""

import http.client
import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from tests.faults.hostile.manifests import Document, external, read, secret, store, written
from tests.real.e2e.process import Daemon, daemon, server_process, until
from tests.support.servers import endless

STORES: Final = tuple(endless.stores(""))
SEARCHED: Final = tuple(name for name in STORES if name not in {"ibm", "webhook", "openbao"})
"""Those whose searches go from page to page, or from folder to folder."""
MODES: Final = tuple(mode for mode in endless.BODIES if mode != "small")
"""What the answers are like, in the words of the server."""

READS: Final = 100
"""Of all objects together; an object has one store, or one search."""

PACKED: Final = 32
"""Those of answers that have to be unpacked, which takes a quarter of a second each: four times the limit."""

LIMIT: Final = 64.0
"""MiB over the base: the setting answerMemory."""

_LONGEST: Final = 180.0
"""Seconds until every object says what is wrong, on a busy machine."""

_RETRIES: Final = 10
"""Calls to slow managers that were repeated: a hundred answers, taking turns of a second, fail in minutes."""

_PATIENCE: Final = {"slow": "2s"}
"""The time limit of a call by mode: managers that stop in the midst of an answer are given up soon."""


@dataclass(frozen=True, slots=True)
class Weighed:
    """Memory of the daemon in MiB, and what became of the object of each store."""

    base: float
    peak: float
    failures: dict[str, str]
    log: str

    @property
    def over(self) -> float:
        """What the answers took."""
        return self.peak - self.base

    def __str__(self) -> str:
        return f"+{self.over:.0f} MiB over {self.base:.0f}: {self.failures}"


def weighed(folder: Path, mode: str, stores: Collection[str]) -> Weighed:
    """Let the objects of these stores read one small value each time, and then answers of one mode."""
    with server_process("tests.support.servers.endless") as url:
        manifests = folder / "manifests"
        manifests.mkdir(parents=True)
        (manifests / "all.yaml").write_text(_manifest(url, mode, stores))
        settings = ("--set", f"callTimeout={_PATIENCE.get(mode, '10s')}", "--set", "drainTimeout=1s")
        with daemon(folder, manifests, *settings, ready=True, **endless.environment(url)) as running:
            running.until(lambda: all(_ready(running, name) for name in stores), "all synced")
            base = _memory(running, "VmRSS")
            _ask(url, mode)
            failed = partial(_failures, running, stores)
            until(
                lambda: (
                    _gone(running)
                    or len(failed()) == len(stores)
                    or (mode == "slow" and running.metric("syncret_call_retries_total") >= _RETRIES)
                ),
                "failed",
                _LONGEST,
                every=0.2,
            )
            return Weighed(base, _memory(running, "VmHWM"), failed(), running.stderr)


def _manifest(url: str, mode: str, stores: Collection[str]) -> str:
    specs = endless.stores(url)
    reads = PACKED if mode == "packed" else READS
    documents = [secret(endless.LOGIN, endless.credentials(url))]
    for name in stores:
        [(provider, spec)] = specs[name].items()
        documents += [store(provider, spec, name), _object(name, mode, reads // len(stores))]
    return written(*documents)


def _object(name: str, mode: str, reads: int) -> Document:
    about: Document = {"name": name, "secretStoreRef": {"name": name}}
    if mode == "pages":
        query: Document = {"name": {"regexp": ".*"}}
        return external(data_from=[{"find": query | ({"path": "/"} if "parameter" in name else {})}], **about)
    key = "arbitrary/00000000-0000-0000-0000-{:012}" if name == "ibm" else "key-{}"
    return external(data=[read(key.format(number), to=f"k{number}") for number in range(reads)], **about)


def _ask(url: str, mode: str) -> None:
    connection = http.client.HTTPConnection(urlsplit(url).netloc)
    connection.request("POST", "/mode", mode)
    connection.getresponse().read()
    connection.close()


def _ready(running: Daemon, name: str) -> bool:
    return _row(running, name)["ready"] is True


def _failures(running: Daemon, stores: Collection[str]) -> dict[str, str]:
    rows = [_row(running, name) for name in stores]
    return {row["name"]: row["lastFailure"]["message"] for row in rows if row["lastFailure"]}


def _row(running: Daemon, name: str) -> Document:
    rows: list[Document] = running.status_document()["objects"]
    return next(row for row in rows if row["name"] == name)


def _gone(running: Daemon) -> bool:
    return running.process.poll() is not None


def _memory(running: Daemon, what: str) -> float:
    status = Path(f"/proc/{running.process.pid}/status").read_text()
    found = re.search(rf"{what}:\s+(\d+)", status)
    assert found is not None
    return int(found[1]) / 1024
