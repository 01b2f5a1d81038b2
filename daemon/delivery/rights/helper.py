"""Requests a reload where there is no polkit: by a file in the daemon's folder, on which a unit of root acts.

`systemd/syncret-reload@.path` starts that unit. It removes the last result and then the request before it
does anything: so once the request is gone, a result is that of this request.
"""

import asyncio
import os
from pathlib import Path
from typing import Final

from syncret.daemon.delivery.commands import CommandResult

REQUESTS: Final = Path("/run/syncret/reload")
RESULTS: Final = Path("/run/syncret-reload")

_PAUSE: Final = 0.05
"""Seconds between two polls for the result."""
_LONGEST_RESULT: Final = 4096


def instance(unit: str) -> str:
    """The name of the helper of a unit, without its suffix."""
    return f"syncret-reload@{unit}"


async def ask(
    unit: str,
    seconds: float,
    *,
    requests: Path = REQUESTS,
    results: Path = RESULTS,
) -> CommandResult:
    """Request the action of the unit's helper, and wait for its end. The exit code is that of systemctl."""
    request, result = requests / unit, results / unit
    try:
        async with asyncio.timeout(seconds):
            await asyncio.to_thread(_put, request)
            found = None
            while found is None:
                await asyncio.sleep(_PAUSE)
                found = await asyncio.to_thread(_answer, request, result)
    except OSError as error:  # also TimeoutError
        taken = "" if await asyncio.to_thread(_withdrawn, request) else ", and was begun"
        what = "took longer than" if isinstance(error, TimeoutError) else f"{error.strerror}, within"
        return CommandResult(code=None, output="", problem=f"{instance(unit)}: {what} {seconds:g}s{taken}")
    code, _, said = found.partition("\n")
    return CommandResult(code=int(code) if code.isdecimal() else None, output=said.strip(), problem="")


def _put(request: Path) -> None:
    request.parent.mkdir(mode=0o700, exist_ok=True)
    os.close(os.open(request, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o600))


def _answer(request: Path, result: Path) -> str | None:
    """The result of the request; None until it is carried out."""
    if request.exists():
        return None
    try:
        with result.open("rb") as file:
            return file.read(_LONGEST_RESULT).decode(errors="replace")
    except FileNotFoundError:
        return None


def _withdrawn(request: Path) -> bool:
    """Remove the request. Returns whether the helper had not begun it, and so never will."""
    try:
        request.unlink()
    except OSError:
        return False
    return True
