"""Templates for the reconcilers: the operator's functions, threads of their own, within a budget.

Renders request templates for providers, which have no template engine of their own.
"""

import asyncio
import secrets
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self, TypeVar

import msgspec

from syncret.config.meta import ObjectRef
from syncret.config.resources.templates import Template
from syncret.daemon.core.rendering import Rendering, sources_of
from syncret.daemon.core.secret import secret_data
from syncret.daemon.engine.sessions.tasks import within
from syncret.daemon.homes.contract import ObjectReader
from syncret.providers.contract import Render
from syncret.providers.errors import Malformed


def requests(now: Callable[[], float]) -> Render:
    """What `OpenContext.render` is: the operator's functions, at the time of this clock."""

    def render(template: str, data: Mapping[str, Mapping[str, str]]) -> str:
        from syncret.daemon.core.templating import operator  # costs 50 ms that most never need
        from syncret.daemon.core.templating.functions.contract import Context

        moment = datetime.fromtimestamp(now(), UTC).astimezone()
        return operator.request(template, data, Context(now=moment, random=secrets.token_bytes))

    return render


if TYPE_CHECKING:
    from syncret.daemon.core.templating.functions.contract import Context
    from syncret.daemon.core.templating.golang.budget import Budget

T = TypeVar("T")

_THREADS: Final = 4
_TRANSFORMS: Final = 10
"""A transform is rendered for each of many keys: all of them together may cost so many times as much."""

_LONGEST_AT_ONCE: Final = 4_000
"""Characters of a text that is parsed on the loop."""


class TemplateLimits(msgspec.Struct, frozen=True, kw_only=True):
    """What the templates of one sync of one object may cost together."""

    time: float = 0.1
    """Seconds of work, by the count of steps and not by the clock."""
    memory: int = 10_000_000
    keys: int = 10
    timeout: float = 10.0
    """Seconds by the clock, keys and certificates included; 0: no limit."""


class _Texts(msgspec.Struct):
    data: dict[str, str] = {}


def _at_once(allowed: TemplateLimits) -> TemplateLimits:
    """What a sync may cost on the loop: the way to a thread and back costs more than most templates do."""
    return msgspec.structs.replace(
        allowed, time=min(allowed.time, 0.002), memory=min(allowed.memory, 100_000), keys=0
    )


class Templates:
    """Renders templates. The engine and its functions are imported when the first template is met.

    Its threads are few and nobody else's: a template that makes ten RSA keys holds up other templates alone.
    """

    def __init__(self, now: Callable[[], float], allowance: TemplateLimits | None = None) -> None:
        self._now = now
        self._allowance = allowance or TemplateLimits()
        self._at_once = _at_once(self._allowance)
        self._threads: ThreadPoolExecutor | None = None
        self._turns = asyncio.Semaphore(_THREADS)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._threads is not None:
            self._threads.shutdown(wait=False, cancel_futures=True)

    def bench(self) -> "TemplateRun":
        """What one sync of one object needs."""
        return TemplateRun(self, self._allowance, self._at_once)

    def now(self) -> datetime:
        """The time, in the zone of the process."""
        return datetime.fromtimestamp(self._now(), UTC).astimezone()

    async def in_thread(self, function: Callable[[], T]) -> T:
        """Run this as soon as a thread is free. Raises Malformed where it takes too long."""
        async with self._turns:  # who waits for a thread does not use up its time
            if self._threads is None:
                self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="template")
            limit = self._allowance.timeout
            error = Malformed(
                f"the template was not done within {limit:g} s",
                hint="make fewer keys in it, or raise templateTimeout",
            )
            async with within(limit, error):
                return await asyncio.get_running_loop().run_in_executor(self._threads, function)


class _TooCostlyInline(Exception):
    """It takes more than may be done on the loop."""


class TemplateRun:
    """The templates of one sync: they share one budget, and end soon after nobody waits for them any more."""

    def __init__(self, templates: Templates, allowance: TemplateLimits, at_once: TemplateLimits) -> None:
        """`at_once` is what may be done on the loop."""
        self._templates = templates
        self._whole = self._allowance = allowance
        self._little = at_once
        self._contexts: dict[int, Context] = {}
        self._at_once = False

    async def run(self, function: Callable[[], T]) -> T:
        """Run what renders with this bench: at once if that is cheap, else again, in a thread.

        Raises Malformed where it takes too long.
        """
        self._allowance, self._at_once = self._little, True
        try:
            return function()
        except _TooCostlyInline:
            self._contexts.clear()
        finally:
            self._allowance, self._at_once = self._whole, False
        try:
            return await self._templates.in_thread(function)
        finally:
            for context in self._contexts.values():
                context.budget.cost = 0  # whatever still runs in the thread ends at its next step

    @property
    def budget(self) -> "Budget":
        """What is left for the texts of an output."""
        return self._context().budget

    def render(self, name: str, text: str, data: Mapping[str, bytes]) -> bytes:
        """One template of an output: a key that the data lacks is an error. Raises Malformed."""
        from syncret.daemon.core.templating import operator  # costs 50 ms that most never need

        if self._at_once and len(text) > _LONGEST_AT_ONCE:
            raise _TooCostlyInline
        context = self._context()
        with self._watched(context):
            return operator.render(name, text, data, context)

    def transform(self, text: str) -> Callable[[str], str]:
        """A template over the name of a key, `.value`. Raises Malformed where it does not parse."""
        from syncret.daemon.core.templating import operator  # as above

        if self._at_once and len(text) > _LONGEST_AT_ONCE:
            raise _TooCostlyInline
        try:
            parsed = operator.parse("transform", text)
        except operator.TemplateError as error:
            raise Malformed(f"failed to parse template: {error}") from None
        context = self._context(1 if self._at_once else _TRANSFORMS)

        def rename(key: str) -> str:
            try:
                with self._watched(context):
                    named = operator.string_data({"value": key.encode()})
                    return parsed.render(named, context, missing_key="default").decode()
            except operator.TemplateError as error:
                raise Malformed(f"failed to execute template: {error}") from None
            except UnicodeDecodeError:
                raise Malformed("the template makes a key that is not text") from None

        return rename

    @contextmanager
    def _watched(self, context: "Context") -> Generator[None]:
        """A rendering: what spends the little that it may have at once has failed for no other reason."""
        try:
            yield
        finally:
            if self._at_once and context.budget.spent:
                raise _TooCostlyInline

    def _context(self, times: int = 1) -> "Context":
        known = self._contexts.get(times)
        if known is None:
            from syncret.daemon.core.templating.functions.contract import Context
            from syncret.daemon.core.templating.golang.budget import Budget  # as above

            allowed = self._allowance
            memory = times * allowed.memory
            budget = Budget.of(seconds=times * allowed.time, memory=memory, keys=allowed.keys)
            known = self._contexts[times] = Context(
                now=self._templates.now(), random=secrets.token_bytes, budget=budget
            )
        return known


async def rendering_for(
    template: Template, bench: TemplateRun, reader: ObjectReader, namespace: str
) -> Rendering:
    """The rendering of one template, with the texts that stand in Secrets and ConfigMaps."""
    sources: dict[ObjectRef, Mapping[str, bytes]] = {}
    for ref in sources_of(template, namespace):
        stored = await reader.get(ref)
        if stored is None:
            continue  # told with its place when it is asked for
        if ref.kind == "Secret":
            sources[ref] = secret_data(stored.document)
        else:
            sources[ref] = {key: text.encode() for key, text in stored.as_type(_Texts).data.items()}
    return Rendering(bench.render, sources, namespace)
