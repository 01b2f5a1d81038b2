"""The call paths of generators: each object has a token bucket and an outage, as a store has."""

from collections.abc import Iterator

from syncret.config.meta import ObjectRef
from syncret.daemon.engine.retry import call_policy
from syncret.daemon.engine.sessions.calls import CallEnvironment, CallPath, CircuitBreaker, StoreState
from syncret.providers.kit.limits import Limiter
from syncret.providers.kit.retry import Doubling

MOST = 1024
"""Paths that are kept. Records outlive their generators, so no event says when the last call was made."""


class GeneratorCalls:
    """The path of each generator object, the one that was used last at the end."""

    def __init__(self, around: CallEnvironment) -> None:
        self._around = around
        self._calls: dict[ObjectRef, CallPath] = {}

    def of(self, generator: ObjectRef, kind: str) -> CallPath:
        """The path of a generator; `kind` is what a ClusterGenerator holds, otherwise its own."""
        calls = self._calls.pop(generator, None)
        if calls is None or calls.provider != kind:
            calls = self._new(generator, kind)
        self._calls[generator] = calls
        if len(self._calls) > MOST:
            del self._calls[next(iter(self._calls))]
        return calls

    def changed(self, generator: ObjectRef) -> None:
        """Its server or its login may be another now: an outage so far says nothing about it."""
        calls = self._calls.get(generator)
        if calls is not None:
            calls.outage.succeeded()

    def memories(self) -> Iterator[tuple[ObjectRef, StoreState]]:
        """The bucket of each."""
        for ref, calls in self._calls.items():
            yield ref, calls.memory

    def _new(self, generator: ObjectRef, kind: str) -> CallPath:
        settings = self._around.settings
        return CallPath(
            store=generator,
            provider=kind,
            retry=call_policy(settings),
            memory=StoreState(Limiter(settings.requests_per_second, settings.burst), {}),
            around=self._around,
            outage=CircuitBreaker(Doubling(settings.retry_min, settings.retry_max)),
        )
