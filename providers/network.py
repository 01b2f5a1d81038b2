"""Shared by the connections of all clients: the servers that may be reached, sockets, memory."""

import asyncio
import math
import socket
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import ip_address
from types import TracebackType
from typing import Any, Final

from syncret.config.addresses import Address, AddressRule, address_of_host, address_rule, effective, host_name
from syncret.providers.answer_memory import AnswerMemory
from syncret.providers.errors import Denied

_RECEIVED: Final = 64 * 1024
"""Bytes that the kernel may hand over at once, whether they are wanted or not: the buffer of a socket."""


class Egress:
    """The servers that stores and generators may reach: all that `deny` does not name, and all of `allow`.

    A host is checked before anything is sent, and its addresses each time they are resolved, so that a name
    cannot be pointed at a denied address later.
    """

    def __init__(self, allow: Iterable[str] = (), deny: Iterable[str] = ()) -> None:
        self._entries = (tuple(allow), tuple(deny))

    @cached_property
    def _allow(self) -> list[AddressRule]:
        return [address_rule(entry) for entry in self._entries[0]]

    @cached_property
    def _deny(self) -> list[AddressRule]:
        return [address_rule(entry) for entry in self._entries[1]]

    def check_host(self, host: str) -> None:
        """Check a name, or an address that stands in place of one. Raises Denied."""
        address = address_of_host(host)
        if address is not None:
            self._check(host, self._denying(address))
        elif not self._allows_name(host):
            self._check(host, next((rule for rule in self._deny if rule.covers_host(host_name(host))), None))

    def allowed(self, host: str, addresses: Sequence[Address]) -> list[Address]:
        """Those of a host's addresses that may be connected to. Raises Denied if that is none of them."""
        if self._allows_name(host):
            return [*addresses]
        denied = [self._denying(effective(address)) for address in addresses]
        if denied and all(denied):
            self._check(host, denied[0], address=str(addresses[0]))
        return [address for address, rule in zip(addresses, denied, strict=True) if rule is None]

    def _denying(self, address: Address) -> AddressRule | None:
        if any(rule.covers_address(address) for rule in self._allow):
            return None
        return next((rule for rule in self._deny if rule.covers_address(address)), None)

    def _allows_name(self, host: str) -> bool:
        return any(rule.covers_host(host_name(host)) for rule in self._allow)

    @staticmethod
    def _check(host: str, rule: AddressRule | None, address: str = "") -> None:
        if rule is None:
            return
        server = f"{host} ({address})" if address else host
        raise Denied(
            f"{server} may not be reached: egress.deny has {rule.text}",
            hint="write it into the setting egress.allow, if stores may reach it",
        )

    def __repr__(self) -> str:
        return (
            f"<Egress allow={[rule.text for rule in self._allow]} deny={[rule.text for rule in self._deny]}>"
        )


MOST_KEPT: Final = 512
"""Open connections above which no idle one is kept: with its pool one takes 15 kB. A store that is not read
for 15 seconds has none anyway."""

SCARCE: Final = 128
"""Connections below which a client of an SDK keeps no idle ones: its pool has no way to close them."""


class ConnectionBudget:
    """Bounds what all clients have open together, so that descriptors are left for the daemon itself.

    There are two limits: of the calls in progress, each of which uses a connection at a time, and of the open
    connections, idle ones of a pool included. Above the second one a pool closes its connections when it has
    no request. Not thread-safe: it belongs to an event loop.

    Args:
        calls: calls in progress at the same time. One store has at most half of them, so that one that
            hangs leaves room for others; stores that wait take turns.
        connections: open at the same time.
    """

    def __init__(self, calls: float = math.inf, connections: float = math.inf) -> None:
        self._calls = calls
        self._of_one = max(1, calls / 2)
        self._connections = connections
        self._kept = min(connections, MOST_KEPT)
        self._running: Counter[str] = Counter()
        self._in_progress = 0
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}
        self.open = 0
        """Connections that are open, or being opened."""

    @property
    def crowded(self) -> bool:
        """Whether so many connections are open that none should be kept without need."""
        return self.open >= self._kept

    @property
    def scarce(self) -> bool:
        """Whether the limit itself is low."""
        return self._connections < SCARCE

    def turn(self, store: str) -> AbstractAsyncContextManager[None]:
        """Waits until a call to this store may be made; it is in progress until the block is left."""
        return _Turn(self, store)

    async def begin(self, store: str) -> None:
        """Wait for the turn of a store."""
        if self._may_run(store) and store not in self._waiting:
            self._take(store)
        else:
            await self._wait(store)

    def end(self, store: str) -> None:
        """Let the next one begin."""
        self._running[store] -= 1
        if not self._running[store]:
            del self._running[store]
        self._in_progress -= 1
        self._grant()

    def open_socket(self, address: tuple[Any, ...]) -> socket.socket:
        """A new socket for an entry of `getaddrinfo`, counted until it is closed."""
        family, kind, protocol = address[:3]
        opened = _CountedSocket(family, kind, protocol, on_close=self._closed)
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVED)
        self.open += 1
        return opened

    def _closed(self) -> None:
        self.open -= 1

    def _may_run(self, store: str) -> bool:
        return self._in_progress < self._calls and self._running[store] < self._of_one

    def _take(self, store: str) -> None:
        self._running[store] += 1
        self._in_progress += 1

    async def _wait(self, store: str) -> None:
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(store, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # granted, and not used any more
                self.end(store)
            else:
                self._forget(store, turn)
            raise

    def _forget(self, store: str, turn: asyncio.Future[None]) -> None:
        waiting = self._waiting.get(store)
        if waiting is not None and turn in waiting:
            waiting.remove(turn)
            if not waiting:
                del self._waiting[store]

    def _grant(self) -> None:
        """Let stores that wait make a call each, in turn."""
        for store in list(self._waiting):
            if self._in_progress >= self._calls:
                return
            waiting = self._waiting.pop(store)
            while waiting and waiting[0].done():  # cancelled
                del waiting[0]
            if waiting and self._may_run(store):
                self._take(store)
                turn = waiting.popleft()
                turn.set_result(None)
            if waiting:  # at the end now
                self._waiting[store] = waiting

    def __repr__(self) -> str:
        waiting = sum(map(len, self._waiting.values()))
        return f"<ConnectionBudget in progress={self._in_progress} waiting={waiting} open={self.open}>"


class _Turn(AbstractAsyncContextManager[None]):
    """The turn of one call. A class, because each call takes one."""

    __slots__ = ("_budget", "_store")

    def __init__(self, budget: ConnectionBudget, store: str) -> None:
        self._budget = budget
        self._store = store

    async def __aenter__(self) -> None:
        await self._budget.begin(self._store)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._budget.end(self._store)


class _CountedSocket(socket.socket):
    """A socket that reports when it is closed."""

    __slots__ = ("_on_close",)

    def __init__(self, family: int, kind: int, protocol: int, *, on_close: Callable[[], None]) -> None:
        super().__init__(family, kind, protocol)
        self._on_close: Callable[[], None] | None = on_close

    def close(self) -> None:
        super().close()
        self._report()

    def detach(self) -> int:
        self._report()
        return super().detach()

    def _report(self) -> None:
        report, self._on_close = self._on_close, None
        if report is not None:
            report()


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """Handed to each client that connects to a server."""

    egress: Egress
    connections: ConnectionBudget = field(default_factory=ConnectionBudget)
    answers: AnswerMemory = field(default_factory=AnswerMemory)

    async def resolve(self, host: str) -> Address:
        """The first address of a host that may be connected to. Raises Denied, and OSError if it has none."""
        return (await self.addresses(host))[0]

    async def addresses(self, host: str) -> list[Address]:
        """All addresses of a host that may be connected to. Raises Denied, and OSError if it has none."""
        self.egress.check_host(host)
        found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
        addresses = [ip_address(str(place[0]).partition("%")[0]) for *_, place in found]
        return self.egress.allowed(host, addresses)
