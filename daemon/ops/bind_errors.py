"""Says why an address or a socket cannot be listened on, and what to do about it."""

import errno
from typing import Final


class CannotListen(Exception):
    """An address or a socket cannot be used; `hint` says what to do about it."""

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


def cannot_listen(address: str, error: OSError) -> CannotListen:
    """The error of binding to a TCP address, with what to do about it."""
    # asyncio passes over addresses that this machine lacks, and names no code when none is left (since 3.13)
    code = errno.EADDRNOTAVAIL if error.errno is None else error.errno
    why = _WHY.get(code, error.strerror or "it cannot be used")
    return CannotListen(f"cannot listen on {address}: {why}", hint=ELSEWHERE)
