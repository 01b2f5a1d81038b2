"""Opens the cache of the settings. If it cannot be used, that is reported, and the daemon runs without it."""

import asyncio
import os
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

from syncret.config.settings import Settings
from syncret.daemon.cache.cache import OfflineCache, Stats
from syncret.daemon.cache.errors import CacheUnusable
from syncret.daemon.cache.file import CacheFile
from syncret.daemon.cache.key import find_keys


class Opened(NamedTuple):
    """The cache, or why there is none."""

    cache: OfflineCache | None
    problem: str = ""
    hint: str = ""

    def stats(self) -> Stats:
        """The statistics for status and metrics."""
        return Stats(usable=False, problem=self.problem) if self.cache is None else self.cache.stats()


@asynccontextmanager
async def open_cache(settings: Settings, now: Callable[[], float]) -> AsyncGenerator[Opened, None]:
    """Open the cache; changes are written until the block is left."""
    try:
        file = cache_file(settings, now)
    except CacheUnusable as error:
        yield Opened(None, error.message, error.hint)
        return
    cache = OfflineCache(file, settings.cache, now, asyncio.get_running_loop().time)
    writing = asyncio.create_task(cache.records.run(), name="cache: write")
    try:
        yield Opened(cache)
    finally:
        cache.records.stop()
        await writing


def cache_path(settings: Settings) -> str:
    """The file of the cache: beside the state. Raises CacheUnusable where there is none."""
    if not settings.state_file:
        raise CacheUnusable(
            "the cache is kept beside the state, and there is no state file", hint="set stateFile"
        )
    return str(Path(settings.state_file).absolute().with_name("cache.db"))


def cache_file(settings: Settings, now: Callable[[], float]) -> CacheFile:
    """The file, open and locked. Raises CacheUnusable."""
    path = cache_path(settings)
    keys = find_keys(settings.cache.key, os.environ.get("CREDENTIALS_DIRECTORY"))
    return CacheFile(path, keys, now=now(), fsync=settings.fsync)
