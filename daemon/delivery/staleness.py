"""Which sources of a Delivery are too old to be used: what no store could confirm for too long."""

from collections.abc import Iterator

from syncret.config.durations import parse_duration, span
from syncret.config.meta import ObjectRef
from syncret.config.resources.delivery.delivery import DeliverySpec
from syncret.config.resources.kinds import SECRET
from syncret.daemon.delivery.reading import selected
from syncret.daemon.engine.reconcilers.context import ReconcilerContext


def stale_source(context: ReconcilerContext, spec: DeliverySpec, namespace: str) -> str | None:
    """What is too old, for people; None if nothing is."""
    cache, limit = context.cache, _limit(spec)
    if cache is None:
        return None
    for ref in _sources(context, spec, namespace):
        if cache.is_withdrawn(ref):
            return f"Secret/{ref.name} was withdrawn: no store could confirm it for too long"
        age = cache.age(ref)
        if limit and age is not None and ref in cache.unconfirmed and age > limit:
            return f"Secret/{ref.name} is {span(age)} old, and no store can confirm it"
    return None


def expires_in(context: ReconcilerContext, spec: DeliverySpec, namespace: str) -> float | None:
    """Seconds until a source becomes too old by `maxStale`; None: none can."""
    cache, limit = context.cache, _limit(spec)
    if cache is None or not limit:
        return None
    ages = [cache.age(ref) for ref in _sources(context, spec, namespace) if ref in cache.unconfirmed]
    return min((max(0.0, limit - age) for age in ages if age is not None), default=None)


def has_unconfirmed(context: ReconcilerContext, spec: DeliverySpec, namespace: str) -> bool:
    """Whether a source is from the offline cache, and its store has not confirmed it since."""
    cache = context.cache
    if cache is None:
        return False
    return any(
        ref in cache.unconfirmed or ref in cache.restored for ref in _sources(context, spec, namespace)
    )


def _limit(spec: DeliverySpec) -> float:
    return parse_duration(spec.max_stale) if spec.max_stale else 0.0


def _sources(context: ReconcilerContext, spec: DeliverySpec, namespace: str) -> Iterator[ObjectRef]:
    for source in spec.sources:
        if source.secret:
            yield SECRET.ref(namespace, source.secret)
        elif source.selector is not None:
            yield from selected(context, source.selector, namespace)
