"""Templates for the reconcilers, and for the requests of providers, which have no engine of their own.

The engine and its functions are imported when the first template is met.
"""

import secrets
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec import structs

from syncret.config.meta import ObjectRef
from syncret.config.resources.templates import Template
from syncret.config.settings import Settings
from syncret.daemon.core.rendering import Sources, sources_of
from syncret.daemon.core.secret import secret_data
from syncret.daemon.engine.work import TimeLimit
from syncret.daemon.homes.contract import ObjectReader
from syncret.providers.errors import OverBudget
from syncret.providers.work import MEGABYTE, Work

if TYPE_CHECKING:
    from syncret.daemon.core.templating.functions.contract import Context

_TRANSFORMS: Final = 10
"""A transform is rendered for each of many keys: all of them together may cost so many times as much."""


class TemplateLimits(msgspec.Struct, frozen=True, kw_only=True):
    """The limits for all templates of one sync of one object: a share of the limits of the sync."""

    time: float = 0.1
    """Seconds of work, by the count of steps and not by the clock."""
    memory: int = 10 * MEGABYTE
    keys: int | None = 10
    """None: those of a request, which makes none."""
    timeout: float = 10.0
    """Seconds by the clock, keys and certificates included; 0: no limit."""

    @classmethod
    def of(cls, settings: Settings) -> "TemplateLimits":
        """Those of the settings."""
        return cls(
            time=settings.template_time,
            memory=settings.template_memory,
            keys=settings.template_keys,
            timeout=settings.template_timeout,
        )


class _Texts(msgspec.Struct):
    data: dict[str, str] = {}


class Templates:
    """Renders templates with the current time and the limits of each sync."""

    def __init__(
        self,
        now: Callable[[], float],
        limits: TemplateLimits | None = None,
        delims: tuple[str, str] = ("{{", "}}"),
    ) -> None:
        """`delims` are those of outputs; requests and transforms keep Go's."""
        self._now = now
        self._limits = limits or TemplateLimits()
        self._delims = delims
        self.time_limit = TimeLimit(self._limits.timeout, self._too_long)
        """How long what renders templates may take in a thread."""

    def of(self, work: Work) -> "SyncTemplates":
        """The templates of one sync, which pay from its work."""
        return SyncTemplates(self._moment, self._limits, work, self._delims)

    def request(self, template: str, data: Mapping[str, Mapping[str, str]], work: Work) -> str:
        """One template of a request, which makes no keys: it is rendered at every read. Raises Malformed."""
        limits = structs.replace(self._limits, keys=None)
        return SyncTemplates(self._moment, limits, work, self._delims).request(template, data)

    def _too_long(self) -> OverBudget:
        return OverBudget(
            f"the template takes longer than templateTimeout ({self._limits.timeout:g} s)",
            hint="make fewer keys in it, or raise templateTimeout",
        )

    def _moment(self) -> datetime:
        return datetime.fromtimestamp(self._now(), UTC).astimezone()


class SyncTemplates:
    """The templates of one sync: together they have one budget."""

    def __init__(
        self, moment: Callable[[], datetime], limits: TemplateLimits, work: Work, delims: tuple[str, str]
    ) -> None:
        self._moment = moment
        self._now: datetime | None = None
        self._limits = limits
        self._work = work
        self._delims = delims
        self._contexts: dict[int, Context] = {}

    def render(self, name: str, text: str, data: Mapping[str, bytes]) -> bytes:
        """One template of an output: a key that the data lacks is an error. Raises Malformed."""
        from syncret.daemon.core.templating import operator  # costs 50 ms that most never need

        return operator.render(name, text, data, self._context(), self._work, self._delims)

    def request(self, text: str, data: Mapping[str, Mapping[str, str]]) -> str:
        """One template of a request: a key that the data lacks prints as in Go. Raises Malformed."""
        from syncret.daemon.core.templating import operator  # as above

        return operator.request(text, data, self._context(), self._work)

    def transform(self, text: str) -> Callable[[str], str]:
        """A template over the name of a key, `.value`. Raises Malformed where it does not parse."""
        from syncret.daemon.core.templating import operator  # as above

        return operator.transform(text, self._context(_TRANSFORMS), self._work)

    def _context(self, times: int = 1) -> "Context":
        known = self._contexts.get(times)
        if known is None:
            from syncret.daemon.core.templating.functions.contract import Context
            from syncret.daemon.core.templating.golang.budget import Budget  # as above

            self._now = self._now or self._moment()  # one for all templates of the sync
            limits = self._limits
            budget = Budget(
                seconds=times * limits.time,
                memory=times * limits.memory,
                keys=limits.keys,
                at_once=self._work.at_once,
            )
            known = self._contexts[times] = Context(now=self._now, random=secrets.token_bytes, budget=budget)
        return known


async def template_sources(template: Template | None, reader: ObjectReader, namespace: str) -> Sources:
    """The templates in Secrets and ConfigMaps; one that is missing is an error when it is rendered."""
    sources: dict[ObjectRef, Mapping[str, bytes]] = {}
    for ref in () if template is None else sources_of(template, namespace):
        stored = await reader.get(ref)
        if stored is None:
            continue
        if ref.kind == "Secret":
            sources[ref] = secret_data(stored.document)
        else:
            sources[ref] = {key: text.encode() for key, text in stored.as_type(_Texts).data.items()}
    return sources
