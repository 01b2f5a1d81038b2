"""A cache in a folder, with a clock that the test sets."""

import asyncio
import os
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from syncret.config.settings import Cache
from syncret.daemon.cache.cache import OfflineCache
from syncret.daemon.cache.file import CacheFile
from syncret.daemon.cache.key import Keys

START = 1_767_225_600.0


class Disk:
    """The file of a cache, and the times that it is opened with."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "cache.db"
        self.keys = Keys(os.urandom(32))
        self.settings = Cache()
        self.clock = START
        self.passed = 0.0

    def file(self) -> CacheFile:
        return CacheFile(str(self.path), self.keys, now=self.clock, fsync=False)

    def later(self, seconds: float) -> None:
        """Let time pass."""
        self.clock += seconds
        self.passed += seconds

    @asynccontextmanager
    async def opened(self) -> AsyncGenerator[OfflineCache, None]:
        """One life of a daemon, at the end of which all is written."""
        cache = OfflineCache(self.file(), self.settings, lambda: self.clock, lambda: self.passed)
        writing = asyncio.create_task(cache.records.run())
        try:
            yield cache
        finally:
            cache.records.stop()
            await writing


Open = Callable[[], AbstractAsyncContextManager[OfflineCache]]


@pytest.fixture
def disk(tmp_path: Path) -> Disk:
    tmp_path.chmod(0o700)
    return Disk(tmp_path)
