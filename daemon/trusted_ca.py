"""Keeps trusting the authorities of a file, which may appear and change while the daemon runs."""

import asyncio
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, TypeAlias

from syncret.providers.errors import Malformed

EVERY: Final = 30.0
"""Seconds between two checks of the file."""

LARGEST: Final = 8 * 2**20

_Seen: TypeAlias = tuple[int, int, int] | None


@asynccontextmanager
async def trusted_ca(path: str) -> AsyncGenerator[None, None]:
    """Trust the file's authorities beside the system's until the block is left; an empty path is none."""
    if not path:
        yield
        return
    file = TrustedFile(Path(path))
    await asyncio.to_thread(file.look)
    following = asyncio.create_task(_follow(file), name="trusted authorities: follow the file")
    try:
        yield
    finally:
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)


async def _follow(file: "TrustedFile") -> None:
    while True:
        await asyncio.sleep(EVERY)
        await asyncio.to_thread(file.look)


class TrustedFile:
    """A file of authorities, read again when it was replaced."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: _Seen = None
        self._failure = ""

    def look(self) -> None:
        """Trust the authorities in the file. An absent or empty one has none; an invalid one is logged."""
        from syncret.providers.kit.http.tls import beside  # few have such a file

        try:
            with self._path.open("rb") as opened:
                stat = os.fstat(opened.fileno())
                seen = (stat.st_ino, stat.st_mtime_ns, stat.st_size)
                if seen == self._seen:
                    return
                authorities = opened.read(LARGEST + 1)
        except FileNotFoundError:
            self._seen = None
            return
        except OSError as error:
            self._failed(error.strerror or "cannot be read")
            return
        try:
            if len(authorities) > LARGEST:
                self._failed(f"is larger than {LARGEST} bytes")
                return
            if authorities.strip():
                beside.add(authorities)
        except Malformed as error:
            self._failed(str(error))
        else:
            self._failure = ""
        self._seen = seen

    def _failed(self, reason: str) -> None:
        if reason != self._failure:
            import structlog  # commands that log nothing do without it

            structlog.get_logger().warning(
                "the trusted authorities cannot be used", file=str(self._path), reason=reason
            )
        self._failure = reason
