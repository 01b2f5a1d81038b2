"""Serves the credential socket, on which systemd asks for the credentials of a unit that starts.

To close a connection is to give an empty credential (see `core.delivery.credentials`). So each one is
answered or refused, and none is accepted before there are offers. Connections that wait when a run of the
daemon ends are passed to the next run; systemd keeps a copy of each, in case the process dies.
"""

import asyncio
import errno
import itertools
import os
import socket
import struct
from collections.abc import Sequence
from contextlib import suppress
from typing import Final, Literal, NamedTuple, Protocol, TypeAlias

import structlog
from msgspec import Struct

from syncret.config.meta import ObjectRef
from syncret.daemon.core.delivery.credentials import REFUSAL, Asked, asked_by
from syncret.daemon.delivery.credentials.live_sets import LiveSets
from syncret.daemon.delivery.credentials.offers import Offers
from syncret.daemon.delivery.paths import Refused

MOST_CONNECTIONS: Final = 256
WRITE_WITHIN: Final = 5.0
"""Seconds in which systemd has to take an answer."""

ACCEPT_PAUSE: Final = 1.0
"""Seconds until the next attempt, if no connection can be accepted."""

ROOT: Final = 0
KEPT: Final = "asked-"
"""Prefix of the names of connections that systemd keeps."""

_NUMBERS: Final = itertools.count()
_PEER: Final = struct.Struct("3i")
_EXHAUSTED: Final = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}
_GONE: Final = {errno.EAGAIN, errno.ECONNABORTED, errno.EINTR}
log = structlog.get_logger()

Result: TypeAlias = Literal["answered", "refused", "timeout", "failed"]


class Request(Struct, frozen=True, kw_only=True):
    """A connection, and until when it may wait, in loop time."""

    connection: socket.socket
    deadline: float
    name: str
    """The name under which systemd keeps a copy."""


class Keeper(Protocol):
    """Keeps a descriptor open if this process dies, and passes it to the next one: systemd's FDSTORE."""

    def keep(self, name: str, fd: int) -> None:
        """Keep it under this name."""
        ...

    def forget(self, name: str) -> None:
        """Close it."""
        ...


class NoKeeper:
    """Keeps nothing: the daemon was not started by systemd."""

    def keep(self, name: str, fd: int) -> None: ...
    def forget(self, name: str) -> None: ...


class Answer(NamedTuple):
    """The answer to a request: a value of a set, or a refusal with its reason."""

    result: Result
    why: str = ""
    ref: ObjectRef | None = None
    value: bytes = REFUSAL
    generation: int = 0


class CredentialServer:
    """Serves one listening socket, until it is stopped."""

    def __init__(
        self,
        listener: socket.socket,
        offers: Offers,
        *,
        wait: float,
        left: Sequence[Request] = (),
        keeper: Keeper | None = None,
    ) -> None:
        """`wait`: seconds until a request without a live set is refused; `left`: those of an earlier run."""
        self.left: list[Request] = list(left)
        """Requests that still wait when the server has stopped."""
        self._keeper = keeper or NoKeeper()
        self._listener = listener
        self._offers = offers
        self._wait = wait
        self._sets = LiveSets()
        self._reading = asyncio.Lock()
        self._room = asyncio.Semaphore(MOST_CONNECTIONS)
        self._stopping = asyncio.Event()

    async def serve(self) -> None:
        """Answer until `stop` is called; requests that still wait are then in `left`."""
        self._listener.settimeout(0)
        async with asyncio.TaskGroup() as group:
            for request in self._take_left():
                await self._begin(group, request)
            accepting = group.create_task(self._accept(group), name="credentials: accept")
            await self._stopping.wait()
            accepting.cancel()

    def stop(self) -> None:
        """Stop serving; requests that still wait are kept in `left`."""
        self._stopping.set()
        self._offers.notify()

    def _take_left(self) -> list[Request]:
        left, self.left = self.left, []
        return left

    async def _accept(self, group: asyncio.TaskGroup) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await _readable(self._listener)
            deadline = loop.time() + self._wait
            while not (self._offers or self._offers.is_complete) and loop.time() < deadline:
                await self._change(self._offers.changed, deadline)
            try:
                connection, _ = self._listener.accept()
            except OSError as error:
                if error.errno in _EXHAUSTED:
                    await asyncio.sleep(ACCEPT_PAUSE)
                elif error.errno not in _GONE:
                    raise
                continue
            connection.settimeout(0)
            name = f"{KEPT}{os.getpid()}-{next(_NUMBERS)}"
            await self._begin(group, Request(connection=connection, deadline=deadline, name=name))

    async def _begin(self, group: asyncio.TaskGroup, request: Request) -> None:
        group.create_task(self._serve(request), name="credentials: answer")
        await self._room.acquire()  # after it: an accepted connection is always served

    async def _serve(self, request: Request) -> None:
        answer: Answer | None = Answer("failed", "an unexpected error")
        try:
            asked = _asked(request.connection)
            if asked is None:
                answer = Answer("refused", "the peer is no unit that systemd starts")
            else:
                answer = await self._found(request, *asked)
            if answer is not None:
                self._report(answer, None if asked is None else asked[1])
        finally:
            self._room.release()
            if answer is None:
                self.left.append(request)
            else:
                await _send(request.connection, answer.value)
                self._keeper.forget(request.name)

    async def _found(self, request: Request, pid: int, asked: Asked) -> Answer | None:
        """The answer, once there is one; None if the server stops before."""
        is_kept = False
        while True:
            changed = self._offers.changed
            answer = await self._answer(pid, asked)
            if answer is not None:
                return answer
            if self._stopping.is_set():
                return None
            if not is_kept:
                self._keeper.keep(request.name, request.connection.fileno())
                is_kept = True
            if not await self._change(changed, request.deadline):
                near = self._offers.near(asked)
                return Answer("timeout", f"nothing is live after {self._wait:g}s", near)

    async def _answer(self, pid: int, asked: Asked) -> Answer | None:
        """The answer by the offers that there are now; None if one may come later."""
        known = False
        for ref, offer in list(self._offers.of(asked)):
            known = True
            try:
                async with self._reading:
                    live = await asyncio.to_thread(self._sets.of, pid, asked, ref, offer)
            except (Refused, OSError) as error:
                return Answer("failed", str(error), ref)
            value = None if live is None else live.values.get(asked.credential)
            if live is not None and value:
                return Answer("answered", "", ref, value, live.generation)
        if known or not self._offers.is_complete:
            return None
        return Answer("refused", "no Delivery gives it this credential", self._offers.near(asked))

    async def _change(self, changed: asyncio.Event, deadline: float) -> bool:
        """Whether something changed before the deadline."""
        with suppress(TimeoutError):
            async with asyncio.timeout_at(deadline):
                await changed.wait()
                return True
        return False

    def _report(self, answer: Answer, asked: Asked | None) -> None:
        self._offers.results[answer.result] += 1
        if answer.result == "answered" and answer.ref is not None and asked is not None:
            self._offers.report_answered(answer.ref, asked, answer.generation)
            return
        unit, credential = asked or ("", "")
        log.warning("a credential is refused", unit=unit, credential=credential, reason=answer.why)
        if answer.ref is not None:
            self._offers.report_refused(answer.ref, f"{unit} asked for {credential}: {answer.why}")


def refuse_all(requests: Sequence[Request]) -> None:
    """Refuse the requests that still wait when the process ends."""
    for request in requests:
        with request.connection as connection, suppress(OSError):
            connection.settimeout(WRITE_WITHIN)
            connection.sendall(REFUSAL)
            connection.shutdown(socket.SHUT_WR)


def _asked(connection: socket.socket) -> tuple[int, Asked] | None:
    """The PID of the peer and what it asks for; None unless it is root's and asks for a unit."""
    pid, uid, _ = _PEER.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size))
    asked = None
    with suppress(OSError):  # the peer has disconnected
        asked = asked_by(connection.getpeername())
    return None if uid != ROOT or asked is None else (pid, asked)


async def _send(connection: socket.socket, value: bytes) -> None:
    """Send the value in one piece where the buffer holds it, so that a crash truncates nothing."""
    with connection, suppress(OSError, TimeoutError):  # systemd does not read all of a refusal
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, len(value))
        async with asyncio.timeout(WRITE_WITHIN):
            await asyncio.get_running_loop().sock_sendall(connection, value)
        connection.shutdown(socket.SHUT_WR)  # systemd may have a copy that is still open


def _resolve(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)


async def _readable(listener: socket.socket) -> None:
    """Wait for a connection without accepting it: until then it waits in the kernel."""
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[None] = loop.create_future()
    loop.add_reader(listener, _resolve, ready)
    try:
        await ready
    finally:
        loop.remove_reader(listener)
