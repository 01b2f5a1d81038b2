"""The offline cache of `exec`: values of an earlier run, used while a manager does not answer."""

import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from syncret.config.durations import span
from syncret.config.settings import Settings
from syncret.config.visible import printable
from syncret.daemon.cli.exit_codes import INVALID
from syncret.daemon.cli.program.not_run import NotRun
from syncret.daemon.cli.terminal import print_error, print_text
from syncret.daemon.engine.clock import Clock
from syncret.daemon.one_pass import SyncResult
from syncret.daemon.ops import logs

if TYPE_CHECKING:  # few have one
    from syncret.daemon.cache.cache import OfflineCache


class Cached(NamedTuple):
    """The settings to run with, and the cache; None where there is none, or it cannot be used."""

    settings: Settings
    cache: "OfflineCache | None"

    def settle(self, result: SyncResult) -> None:
        """Print on stderr which stores were replaced by the cache, whose errors are then no failures."""
        cache = self.cache
        if cache is None or not cache.stats().served:
            return
        served = cache.stats().served
        for ref in [ref for ref in result.errors if str(ref) in served]:
            del result.errors[ref]
        age, stores = span(max(0.0, cache.now() - cache.served_since)), ", ".join(sorted(served))
        print_text(sys.stderr, printable(f"syncret: values from the cache, {age} old: no answer of {stores}"))


@asynccontextmanager
async def cached(settings: Settings, *, wanted: bool) -> AsyncGenerator[Cached]:
    """Open the cache, if it is wanted; one that cannot be used is reported. Raises NotRun without a key."""
    if not wanted:
        yield Cached(settings, None)
        return
    from syncret.daemon.cache.opening import open_cache

    if not settings.cache.key:
        raise NotRun(INVALID, "--cache: there is no key", "`syncret cache init` makes one; set cache.key")
    logs.configure("error", settings.log_format, time=settings.log_time)
    beside = settings if settings.state_file else replace(settings, state_file=str(_folder() / "state.db"))
    async with open_cache(beside, Clock().now) as opened:
        if opened.cache is None:
            print_error(f"goes on without the cache: {opened.problem}", opened.hint)
        # a store that does not answer cannot be checked, either
        yield Cached(replace(settings, require_ready_stores=False), opened.cache)


def _folder() -> Path:
    """Where a user's caches are."""
    home = os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
    folder = Path(home, "syncret")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder
