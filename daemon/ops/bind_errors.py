"""The error for an address or a socket on which the daemon cannot listen, with a remedy."""

import errno
from typing import Final


class CannotListen(Exception):
    """The daemon cannot listen on an address or a socket; `hint` says what to do."""

    def __init__(self, message: str, *, hint: str) -> None:
        self.hint = hint
        super().__init__(message)


ELSEWHERE: Final = (
    "choose another with --listen HOST:PORT (port 0: any that is free), or none with --listen ''"
)

_WHY: Final = {
    errno.EADDRINUSE: "another process listens there already",
    errno.EADDRNOTAVAIL: "this machine has no such address",
    errno.EACCES: "ports below 1024 need a privilege",
}


def cannot_listen(address: str, error: OSError, *, hint: str = ELSEWHERE) -> CannotListen:
    """The error for a TCP address that cannot be bound; by default, that of the setting `listen`."""
    # asyncio skips addresses that this machine does not have; if none is left, the error has no errno (3.13)
    code = errno.EADDRNOTAVAIL if error.errno is None else error.errno
    why = _WHY.get(code, error.strerror or "it cannot be used")
    return CannotListen(f"cannot listen on {address}: {why}", hint=hint)
