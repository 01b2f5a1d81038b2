"""A pass that continues: follows the manifests and refreshes values while a program runs with them."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from syncret.config.meta import GroupKind
from syncret.config.resources.kinds import SECRET
from syncret.config.settings import Settings
from syncret.daemon.app import EngineOverrides, RunningEngine, run_engine
from syncret.daemon.engine.clock import Clock
from syncret.daemon.homes.contract import Home, WatchEvent
from syncret.daemon.one_pass import SyncResult, collect
from syncret.daemon.ops import logs
from syncret.daemon.ops.logs.events import EngineLogger
from syncret.daemon.ops.logs.problems import ProblemLogger
from syncret.daemon.ops.logs.repeats import Repeats
from syncret.providers.registry import Registry

if TYPE_CHECKING:  # few have one
    from syncret.daemon.cache.cache import OfflineCache

AT_MOST: Final = 30.0
"""The longest wait, in seconds, for values that keep changing."""


class FollowedPass:
    """The values, and whether they changed."""

    def __init__(
        self, settings: Settings, home: Home, running: RunningEngine, problems: ProblemLogger
    ) -> None:
        self._settings = settings
        self._home = home
        self._running = running
        self._problems = problems
        self._changed = asyncio.Event()
        running.engine.add_listener(self, (SECRET.group_kind,))

    def concerns(self, kind: GroupKind) -> bool:
        """Whether events of the kind are wanted: only those of Secrets."""
        return kind == SECRET.group_kind

    def notice(self, event: WatchEvent, /) -> None:
        """Take note of a new version of a Secret."""
        del event
        self._changed.set()

    async def result(self) -> SyncResult:
        """Wait until nothing is due any more, and return the result."""
        await self._running.engine.wait_idle()
        result = SyncResult(problems=[*self._problems.current])
        await collect(self._home, self._running, result, include_all=True)
        return result

    def log_failures(self) -> None:
        """From now on log failures: there is no caller any more that asks for a result."""
        logs.configure("warning", self._settings.log_format, time=self._settings.log_time)

    async def changed(self, quiet: float) -> None:
        """Wait for a change, and then until nothing else has changed for so many seconds."""
        await self._changed.wait()
        loop = asyncio.get_running_loop()
        latest = loop.time() + max(AT_MOST, quiet)
        while self._changed.is_set():
            self._changed.clear()
            until = min(loop.time() + quiet, latest)
            try:
                async with asyncio.timeout_at(until):
                    await self._changed.wait()
            except TimeoutError:
                continue
            if loop.time() >= latest:
                return


@asynccontextmanager
async def followed_pass(
    settings: Settings, registry: Registry, cache: "OfflineCache | None" = None
) -> AsyncGenerator[FollowedPass]:
    """Keep what the manifests want up to date until the block is left; Deliveries are left alone.

    What stores do not answer is taken from the `cache`. Raises ConfigError, StateError or StorageUnavailable
    if it cannot begin.
    """
    from syncret.daemon.homes.filesystem.opening import host_home  # the daemon of a cluster needs none

    logs.configure("error", settings.log_format, time=settings.log_time)
    clock, repeats = Clock(), Repeats()
    problems = ProblemLogger(repeats)
    home = host_home(settings, registry, now=clock.now, on_problems=problems.found)
    async with home:
        hooks = EngineOverrides(observer=EngineLogger(repeats), cache=cache)
        async with (
            run_engine(home, registry=registry, settings=settings, clock=clock, hooks=hooks) as running,
            asyncio.TaskGroup() as group,
        ):
            chores = [
                group.create_task(home.run(), name="home: follow the folders"),
                group.create_task(clock.follow(), name="clock: follow the system's"),
            ]
            try:
                yield FollowedPass(settings, home, running, problems)
            finally:
                running.engine.stop(abandon_waits=True)
                for chore in chores:
                    chore.cancel()
