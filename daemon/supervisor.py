"""Runs the daemon: home, engine and services in one TaskGroup, until a signal stops or reloads it.

A reload (SIGHUP) is a new run with new settings in the same process: work in progress is drained, the state
is on disk, and nothing that is not due is read again. Invalid settings leave the old ones in force.
"""

import asyncio
import gc
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Final, Protocol

import structlog

from syncret.config.errors import ConfigError
from syncret.config.settings import Settings
from syncret.daemon.app import EngineOverrides, RunningEngine, run_engine
from syncret.daemon.core.cluster_stats import ClusterStats
from syncret.daemon.delivery.opening import deliveries_of
from syncret.daemon.engine.clock import Clock
from syncret.daemon.engine.held_writes import HeldRecord
from syncret.daemon.engine.observer import ObserverGroup
from syncret.daemon.engine.sessions.shared_client import CLOSE_WITHIN
from syncret.daemon.engine.sessions.tasks import TaskOwner
from syncret.daemon.homes.contract import HomeProblem
from syncret.daemon.homes.opening import digest_key, open_home, open_reviews, releases_of
from syncret.daemon.ops import logs
from syncret.daemon.ops.failures import count_failing, invalid_manifests
from syncret.daemon.ops.logs.events import EngineLogger, EventLogger, log_deletion
from syncret.daemon.ops.logs.problems import ProblemLogger
from syncret.daemon.ops.logs.repeats import Repeats
from syncret.daemon.ops.metrics import AnswerStats, Metrics, Sources
from syncret.daemon.ops.notify import Notifier
from syncret.daemon.ops.pass_recorder import PassRecorder
from syncret.daemon.ops.series.cluster import WriteStats
from syncret.daemon.ops.view import Service, View
from syncret.daemon.process import trim_memory
from syncret.daemon.signals import Requested, Signals
from syncret.providers.registry import Registry

if TYPE_CHECKING:  # few hosts have any
    from syncret.daemon.cache.opening import Opened
    from syncret.daemon.delivery.credentials.offers import Offers

STATUS_EVERY: Final = 10.0
log = structlog.get_logger()


class Progress(Protocol):
    """Shows the progress of the first pass on a terminal, on a line that makes way for others."""

    def show(self, done: int, total: int) -> None: ...

    def clear(self) -> None: ...


class Supervisor:
    """Runs the daemon again after each reload. `announce` is called after the first pass of each run.

    With `progress`, the first pass is shown by it instead of a log line for each object.
    `passed_over` are flags without effect, with the reason: they are logged once. `offers` says what
    units may ask for in one run.
    """

    def __init__(
        self,
        load: Callable[[], Settings],
        *,
        registry: Registry,
        notifier: Notifier,
        services: Sequence[Service] = (),
        announce: Callable[[View], None] | None = None,
        progress: Progress | None = None,
        passed_over: Sequence[tuple[str, str]] = (),
        offers: "Callable[[Settings], Offers | None]" = lambda _: None,
    ) -> None:
        self._load = load
        self._offers = offers
        self._registry = registry
        self._notifier = notifier
        self._services = services
        self._announce = announce
        self._progress = progress
        self._passed_over = passed_over
        self._closing = TaskOwner()
        """Closes the clients of the run that the last reload ended; at the next one it has had its time."""

    async def run(self, *, exit_with: str = "") -> None:
        """Run until SIGTERM or SIGINT, or until the program `exit_with` has run and ended.

        Raises what keeps a run from starting, or ends it.
        """
        asyncio.get_running_loop().set_exception_handler(logs.on_loop_error)
        signals = Signals(self._stopping)
        # Around all runs: systemd must be notified during a start and a drain, too.
        chores = [
            asyncio.create_task(self._feed_watchdog(), name="watchdog"),
            asyncio.create_task(_stop_with(exit_with, signals), name="stop with the main program"),
        ]
        try:
            settings = self._load()
            while await self._run_once(settings, signals) is Requested.RELOAD and not signals.stopping:
                signals.reload_begins()
                settings = self._reloaded(settings)
                gc.collect()  # the last run is one big cycle, and little else is left to look at now
        finally:
            for chore in chores:
                chore.cancel()
            await asyncio.wait(chores)
            await self._closing.close(CLOSE_WITHIN)

    def _stopping(self) -> None:
        self._notifier.stopping()
        log.info("stopping")

    def _reloaded(self, settings: Settings) -> Settings:
        try:
            return self._load()
        except ConfigError as error:
            for problem in error.problems:
                log.warning("the settings are wrong, the old ones stay in force", problem=str(problem))
            return settings

    async def _run_once(self, settings: Settings, signals: Signals) -> Requested:
        progress = self._progress if settings.log_format != "json" else None
        before = None if progress is None else progress.clear
        logs.configure(settings.log_level, settings.log_format, before=before, time=settings.log_time)
        for flag, why in self._passed_over:
            log.info("the flag has no effect", flag=flag, reason=why)
        self._passed_over = ()
        recorder = PassRecorder(None if progress is None else progress.show)
        if progress is None:
            recorder.stop()
        clock = Clock()
        metrics = Metrics(clock.now, extended=settings.extended_metric_labels)
        repeats = Repeats()
        problems = _Problems(repeats)
        cluster = ClusterStats() if settings.kubernetes else None
        observing = _observing(settings, None if settings.is_sidecar else cluster)
        held = HeldRecord(lambda: bool(observing()))
        offers = self._offers(settings)
        async with AsyncExitStack() as stack:
            # first: a daemon that cannot listen must not have written anything when it exits
            serves = [await stack.enter_async_context(service(settings)) for service in self._services]
            offline = await _opened_cache(stack, settings, clock)
            home = await stack.enter_async_context(
                open_home(
                    settings,
                    self._registry,
                    now=clock.now,
                    on_problems=problems.found,
                    on_removed=recorder.output_removed,
                    on_deleted=log_deletion,
                    stats=cluster,
                    cache=None if offline is None else offline.cache,
                )
            )
            if cluster is not None:
                log.info("works in a cluster", server=cluster.host, namespace=settings.namespace or "all")
            reviews = await stack.enter_async_context(open_reviews(settings))
            hooks = EngineOverrides(
                observer=ObserverGroup(metrics, EngineLogger(repeats), recorder),
                events=EventLogger(
                    repeats,
                    lambda ref: running.context.manifest_place(ref),  # noqa: PLW0108  # it runs later
                    is_brief=lambda: recorder.is_recording,
                ),
                applied=recorder.applied,
                held=held,
                deliveries=deliveries_of(
                    settings, digest_key(home), took_step=metrics.took_step, offers=offers
                ),
                cache=None if offline is None else offline.cache,
            )
            running = await stack.enter_async_context(
                run_engine(home, registry=self._registry, settings=settings, clock=clock, hooks=hooks)
            )
            sources = sources_of(running, settings)
            metrics.watch(
                sources._replace(
                    cluster=cluster,
                    held=held.counts,
                    cache=None if offline is None else offline.stats,
                    deletions_waiting=lambda: home.waiting_deletions,
                    credential_requests=dict if offers is None else lambda: offers.results,
                    invalid_manifests=lambda: (
                        (each.file, each.reason) for each in invalid_manifests(problems.current)
                    ),
                )
            )
            view = View(
                running=running,
                metrics=metrics,
                clock=clock,
                settings=settings,
                registry=self._registry,
                recorder=recorder,
                cluster=None if settings.is_sidecar else cluster,
                observing=observing,
                releases=lambda: releases_of(home),
                offline=offline,
                reviews=reviews,
                offers=offers,
            )
            problems.view = view
            problems.found(problems.current)
            for serve in serves:
                await stack.enter_async_context(serve(view))
            async with asyncio.TaskGroup() as group:
                chores = [
                    group.create_task(home.run(), name="home: follow the folders"),
                    group.create_task(clock.follow(), name="clock: follow the system's"),
                    group.create_task(self._notify_status(view), name="status"),
                ]
                requested = await signals.requested()
                recorder.stop()
                if progress is not None:
                    progress.clear()
                if requested is Requested.RELOAD:
                    self._notifier.reloading()
                    log.info("reloading")
                    await self._closing.close(0)
                    await running.context.sessions.leave(self._closing)
                    running.engine.stop(abandon_waits=True)
                for chore in chores:
                    chore.cancel()
        return requested

    async def _feed_watchdog(self) -> None:
        """Notify systemd's watchdog twice in each of its intervals, as long as the event loop runs."""
        while self._notifier.watchdog:
            self._notifier.alive()
            await asyncio.sleep(self._notifier.watchdog / 2)

    async def _notify_status(self, view: View) -> None:
        await view.running.engine.delivered.wait()
        self._notifier.ready(_status_line(view))
        await view.running.engine.first_pass.wait()
        trim_memory()
        self._notifier.status(_status_line(view))
        if self._progress is not None:
            self._progress.clear()
        if self._announce is not None:
            self._announce(view)
        view.recorder.stop()
        while True:
            await asyncio.sleep(STATUS_EVERY)
            self._notifier.status(_status_line(view))


async def _opened_cache(stack: AsyncExitStack, settings: Settings, clock: Clock) -> "Opened | None":
    """The offline cache of a host; None where none is wanted."""
    if settings.kubernetes or not settings.cache.key:
        return None
    from syncret.daemon.cache.opening import open_cache  # few have one

    opened = await stack.enter_async_context(open_cache(settings, clock.now))
    if opened.cache is None:
        log.warning("there is no offline cache", reason=opened.problem, hint=opened.hint)
    return opened


async def _stop_with(program: str, signals: Signals) -> None:
    if program:
        from syncret.daemon.delivery.processes.sibling import (
            ended,  # imported late: few daemons end with a program
        )

        await ended(program)
        log.info("the program has ended", program=program)
        signals.stop()


def _observing(settings: Settings, cluster: ClusterStats | None) -> Callable[[], str]:
    """Returns a function that says why nothing is to be written; empty: writes are allowed."""

    def reason() -> str:
        if settings.observe:
            return "the setting observe is on"
        return "" if cluster is None else "; ".join(cluster.foreign_writers().values())

    return reason


def sources_of(running: RunningEngine, settings: Settings) -> Sources:
    """What a scrape of the metrics reads."""
    sessions = running.context.sessions
    memory = sessions.answer_memory
    return Sources(
        inventory=running.inventory,
        queue=running.engine.queue.stats,
        kinds=running.engine.queue.stats_of,
        workers=settings.workers,
        limits=sessions.limits,
        in_flight=sessions.in_flight,
        answers=lambda: AnswerStats(memory.used, memory.limit, memory.waiting),
        failure=running.context.memory.failure,
        unreported=running.engine.unreported,
        unanswered=running.engine.queue.unanswered,
        writes=lambda: WriteStats(running.engine.writes_under_way, running.engine.owed),
    )


class _Problems(ProblemLogger):
    """Also shows them in `/status`."""

    def __init__(self, repeats: Repeats) -> None:
        super().__init__(repeats)
        self.view: View | None = None

    def found(self, problems: Sequence[HomeProblem]) -> None:
        """As `ProblemLogger` says."""
        super().found(problems)
        if self.view is not None:
            self.view.problems = self.current


def _status_line(view: View) -> str:
    """One line for `systemctl status`."""
    queue = view.running.engine.queue.stats()
    objects = queue.ready + queue.scheduled + queue.running
    return f"{objects} objects scheduled, {count_failing(view)} failing, {queue.ready} due"
