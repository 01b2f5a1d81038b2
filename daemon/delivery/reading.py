"""Reads the sources of a Delivery: what its targets are to hold, and whether a source is too old."""

from collections.abc import Iterable, Iterator, Mapping

from syncret.config.durations import parse_duration, span
from syncret.config.fields import LabelSelector
from syncret.config.meta import Document, ObjectRef, member
from syncret.config.resources.delivery.delivery import DeliverySpec
from syncret.config.resources.kinds import CONFIG_MAP, DELIVERY, SECRET
from syncret.daemon.core import selectors
from syncret.daemon.core.delivery.assemble import Objects, assemble
from syncret.daemon.core.delivery.file_targets import ALONE, WantedTarget, file_targets
from syncret.daemon.core.delivery.words import then
from syncret.daemon.core.plan.actions import Action, Verb
from syncret.daemon.engine.reconcilers.context import ReconcilerContext
from syncret.providers.errors import SyncError


async def wanted_targets(
    context: ReconcilerContext, spec: DeliverySpec, delivery: ObjectRef, own: str = ""
) -> list[WantedTarget]:
    """What each target is to hold; `own` is as `file_targets` says.

    Raises SourceMissing, Unfit, SyncError and HomeError.
    """
    objects = await _sources(context, spec, delivery.namespace)
    files = assemble(spec, objects)
    origins = tuple([f"{name} is {each.key} of {each.source}" for name, each in files.items()])
    context.memory.note(delivery, origins)
    if not any(target.file is not None and target.file.template for target in spec.to):
        return file_targets(spec, files, delivery, _no_template, own)
    work, templates = context.sessions.threads.sync(), context.templates
    return await work.run(
        lambda paid: file_targets(spec, files, delivery, templates.of(paid).render, own), templates.time_limit
    )


def change_of(
    delivery: ObjectRef, spec: DeliverySpec, before: Mapping[str, bytes], targets: Iterable[WantedTarget]
) -> Action:
    """The delivery as an action on an object whose keys are files, for the output of `plan` and `sync`."""
    after = {_file(each.name, name): content for each in targets for name, content in each.files.items()}
    return Action(
        verb=Verb.UPDATE if before else Verb.CREATE,
        ref=delivery,
        document=_document(after),
        before=_document(before) if before else None,
        then=then(spec),
    )


async def _sources(context: ReconcilerContext, spec: DeliverySpec, namespace: str) -> Objects:
    secrets: dict[str, Document] = {}
    config_maps: dict[str, Document] = {}
    for source in spec.sources:
        names = [source.secret] if source.secret else []
        if source.selector is not None:
            names = [each.name for each in selected(context, source.selector, namespace)]
        for name in names:
            found = await context.home.get(SECRET.ref(namespace, name))
            if found is not None:
                secrets[name] = found.document
        if source.config_map:
            found = await context.home.get(CONFIG_MAP.ref(namespace, source.config_map))
            if found is not None:
                config_maps[source.config_map] = found.document
    return Objects(secrets=secrets, config_maps=config_maps)


def selected(context: ReconcilerContext, selector: LabelSelector, namespace: str) -> list[ObjectRef]:
    """The Secrets of a namespace that have these labels."""
    return [
        stored.ref
        for stored in context.inventory.list(SECRET.group_kind, namespace)
        if selectors.matches(selector, member(stored.document, "metadata", "labels"))
    ]


def stale_source(context: ReconcilerContext, spec: DeliverySpec, namespace: str) -> str | None:
    """A message about a source that is too old; None if none is."""
    cache, limit = context.cache, _limit(spec)
    if cache is None:
        return None
    for ref in _secrets(context, spec, namespace):
        if cache.is_withdrawn(ref):
            return f"Secret/{ref.name} was withdrawn: no store could confirm it for too long"
        age = cache.age(ref)
        if limit and age is not None and ref in cache.unconfirmed and age > limit:
            return f"Secret/{ref.name} is {span(age)} old, and no store can confirm it"
    return None


def expires_in(context: ReconcilerContext, spec: DeliverySpec, namespace: str) -> float | None:
    """Seconds until a source becomes too old by `maxStale`; None if none can."""
    cache, limit = context.cache, _limit(spec)
    if cache is None or not limit:
        return None
    ages = [cache.age(ref) for ref in _secrets(context, spec, namespace) if ref in cache.unconfirmed]
    return min((max(0.0, limit - age) for age in ages if age is not None), default=None)


def has_unconfirmed(context: ReconcilerContext, spec: DeliverySpec, namespace: str) -> bool:
    """Whether a source comes from the offline cache and is not confirmed by its store."""
    cache = context.cache
    if cache is None:
        return False
    return any(
        ref in cache.unconfirmed or ref in cache.restored for ref in _secrets(context, spec, namespace)
    )


def _limit(spec: DeliverySpec) -> float:
    return parse_duration(spec.max_stale) if spec.max_stale else 0.0


def _secrets(context: ReconcilerContext, spec: DeliverySpec, namespace: str) -> Iterator[ObjectRef]:
    for source in spec.sources:
        if source.secret:
            yield SECRET.ref(namespace, source.secret)
        elif source.selector is not None:
            yield from selected(context, source.selector, namespace)


def _no_template(name: str, text: str, data: object) -> bytes:
    del text, data
    raise SyncError(f"{name}: there is no template")


def _document(files: Mapping[str, bytes]) -> Document:
    return {
        "apiVersion": DELIVERY.api_version,
        "metadata": {},
        "data": {name: content.hex() for name, content in files.items()},
    }


def _file(target: str, name: str) -> str:
    return target if name == ALONE else f"{target}/{name}"
