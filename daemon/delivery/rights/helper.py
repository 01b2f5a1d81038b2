"""Asks for a reload where there is no polkit: by a file in a folder of ours, which a unit of root looks for.

`systemd/syncret-reload@.path` starts it. It removes the last result and then the request before it does
anything: so a result that is there once the request is gone is that of this request.
"""

import asyncio
import os
from pathlib import Path
from typing import Final

from syncret.daemon.delivery.commands import CommandResult

REQUESTS: Final = Path("/run/syncret/reload")
RESULTS: Final = Path("/run/syncret-reload")

_PAUSE: Final = 0.05
"""Seconds between two looks: the answer of a system manager takes longer."""
_LONGEST_RESULT: Final = 4096


def instance(unit: str) -> str:
    """The name of the units that help with a unit, without its ending."""
    return f"syncret-reload@{unit}"


async def ask(
    unit: str,
    seconds: float,
    *,
    requests: Path = REQUESTS,
    results: Path = RESULTS,
) -> CommandResult:
    """Have the helper of the unit do what it does, and wait for the end. Its exit code is systemctl's."""
    request, result = requests / unit, results / unit
    try:
        async with asyncio.timeout(seconds):
            await asyncio.to_thread(_put, request)
            found = None
            while found is None:
                await asyncio.sleep(_PAUSE)
                found = await asyncio.to_thread(_answer, request, result)
    except OSError as error:  # also that the time is over
        taken = "" if await asyncio.to_thread(_withdrawn, request) else ", and was begun"
        what = "took longer than" if isinstance(error, TimeoutError) else f"{error.strerror}, within"
        return CommandResult(code=None, output="", problem=f"{instance(unit)}: {what} {seconds:g}s{taken}")
    code, _, said = found.partition("\n")
    return CommandResult(code=int(code) if code.isdecimal() else None, output=said.strip(), problem="")


def _put(request: Path) -> None:
    request.parent.mkdir(mode=0o700, exist_ok=True)
    os.close(os.open(request, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o600))


def _answer(request: Path, result: Path) -> str | None:
    """What became of the request; None while it waits, or is carried out."""
    if request.exists():
        return None
    try:
        with result.open("rb") as file:
            return file.read(_LONGEST_RESULT).decode(errors="replace")
    except FileNotFoundError:
        return None


def _withdrawn(request: Path) -> bool:
    """Whether nobody has taken the request: then nobody will."""
    try:
        request.unlink()
    except OSError:
        return False
    return True
