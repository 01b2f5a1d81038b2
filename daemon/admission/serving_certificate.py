"""The certificate that the webhook serves: read at intervals, and replaced without a restart."""

import asyncio
import ssl
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, TypeAlias

import structlog
from msgspec import Struct

from syncret.config.settings import Webhook
from syncret.daemon.admission.authority import Facts, Pair, facts_of
from syncret.daemon.admission.rotation import valid_at
from syncret.daemon.admission.tls import webhook_context
from syncret.daemon.homes.contract import HomeError
from syncret.daemon.homes.kubernetes.api import ApiServer
from syncret.daemon.ops.logs.repeats import Repeats, counted
from syncret.providers.errors import SyncError
from syncret.providers.kit.kube.client import path_of

READY_FOR: Final = 3600.0
"""Seconds for which the certificate must still be valid, for the webhook to count as ready."""

SOON: Final = 1.0
"""Seconds until the next read while there is no certificate that can be served."""

UNTIL_LOGGED: Final = 5
"""Reads without a certificate until that is logged: at a first start the active replica still makes it."""

LATEST: Final = 60.0
"""The longest time between two reads, in seconds: a new certificate is used long before the old one ends."""

Read: TypeAlias = Callable[[], Awaitable[Pair]]
log = structlog.get_logger()


class _Secret(Struct):
    data: dict[str, str] | None = None


def from_folder(folder: Path) -> Read:
    """Reads the files that a Secret or cert-manager puts there."""

    def read() -> Pair:
        try:
            return Pair((folder / "tls.crt").read_bytes(), (folder / "tls.key").read_bytes())
        except OSError:
            return Pair()

    return lambda: asyncio.to_thread(read)


def from_secret(api: ApiServer, namespace: str, name: str) -> Read:
    """Reads the Secret that the active replica writes. Reading raises HomeError."""

    async def read() -> Pair:
        path = path_of("", "v1", "secrets", namespace=namespace, name=name)
        answer = await api.read(path, doing=f"reading Secret/{namespace}/{name}")
        held = ({} if answer is None else answer.decode(_Secret).data) or {}
        return Pair(decoded(held.get("tls.crt", "")), decoded(held.get("tls.key", "")))

    return read


def decoded(text: str) -> bytes:
    """The bytes of a member of a Secret; nothing for what is no base64."""
    try:
        return b64decode(text)
    except (NotBase64, ValueError):
        return b""


class ServingCertificate:
    """The TLS context of new connections. `run` keeps it up to date."""

    def __init__(
        self, webhook: Webhook, read: Read, *, where: str, name: str, now: Callable[[], float]
    ) -> None:
        """`where` it is read, for messages; `name`: what the API server calls us by, if that is known."""
        self._webhook = webhook
        self._read = read
        self._where = where
        self._name = name
        self._now = now
        self._served: Pair = Pair()
        self._facts = Facts()
        self._context: ssl.SSLContext | None = None
        self._repeats = Repeats()
        self._reads = 0
        """How often nothing at all was found."""

    def context(self) -> ssl.SSLContext | None:
        """The context of a new connection; None while there is no certificate."""
        return self._context

    def not_ready(self) -> str:
        """Why the API server cannot rely on it; empty if it can."""
        if self._context is None:
            return f"there is no certificate in {self._where} yet"
        if not valid_at(self._facts, self._now() + READY_FOR):
            return "the certificate is not valid in an hour"
        if self._name and self._name not in self._facts.names:
            return f"the certificate is not for {self._name}"
        return ""

    async def run(self) -> None:
        """Look for a newer certificate until cancelled."""
        while True:
            await self.refresh()
            pause = SOON if self.not_ready() else min(self._webhook.check_interval, LATEST)
            await asyncio.sleep(pause)

    async def refresh(self) -> None:
        """Serve the present certificate. If it cannot be served, the last one stays in use."""
        try:
            found = await self._read()
        except HomeError as error:
            self._warn("the webhook's certificate cannot be read", str(error))
            return
        if found == Pair() and self._context is None:
            self._reads += 1
            if self._reads < UNTIL_LOGGED:
                return
        elif found == self._served:
            return
        facts = facts_of(found)
        if not facts.is_whole:  # a file may have been replaced between the reading of both
            self._warn("there is no certificate for the webhook", f"{self._where} has none with its key")
            return
        try:
            self._context = webhook_context(self._webhook, found)
        except SyncError as error:
            self._warn("the webhook's certificate cannot be served", str(error))
            return
        self._served, self._facts = found, facts
        self._repeats.clear()
        ends = datetime.fromtimestamp(facts.ends, UTC).isoformat()
        log.info("the webhook serves a new certificate", ends=ends, names=sorted(facts.names))

    def _warn(self, what: str, why: str) -> None:
        times = self._repeats.occurred(what, why)
        if times:
            log.warning(what, reason=why, **counted(times))
