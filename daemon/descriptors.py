"""Shares the file descriptors of this process among its parts, so that no part can take those of another."""

import resource
from typing import Final

from msgspec import Struct

OTHERS: Final = 28
"""Descriptors for everything else: the state, folders, the event loop, name lookups, manifests."""


class Descriptors(Struct, frozen=True, kw_only=True):
    """How many each part may have open."""

    server_connections: int
    """Connections of each HTTP server."""
    writes: int
    """Files and folders that are being written."""
    connections: int
    """Connections to secret managers, idle ones included."""

    @property
    def calls(self) -> int:
        """Calls to secret managers in progress; as many connections again may be idle."""
        return max(2, self.connections // 2)


def descriptors(limit: int | None = None) -> Descriptors:
    """The shares of a limit; without one, of the soft limit of this process."""
    if limit is None:
        limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        limit = 1 << 20 if limit == resource.RLIM_INFINITY else limit
    server_connections = min(max(limit // 16, 4), 64)
    writes = min(max(limit // 5, 12), 644)
    rest = limit - OTHERS - 2 * server_connections - writes
    return Descriptors(server_connections=server_connections, writes=writes, connections=max(rest, 4))
