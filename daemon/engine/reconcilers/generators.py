"""Generates values, and records what generators created in other systems, so that it is cleaned up."""

import secrets
from contextlib import suppress
from itertools import count
from types import TracebackType
from typing import Any, Final, NamedTuple, Self

import msgspec

from syncret.config.catalog import BrokenEntry, generator_key
from syncret.config.meta import Document, ObjectRef, is_object, member, ref_of
from syncret.config.resources.base import GENERATORS_API, Resource
from syncret.config.resources.external_secret import GeneratorRef
from syncret.config.resources.generators import GeneratorState
from syncret.config.resources.kinds import CLUSTER_GENERATOR, generator_ref
from syncret.daemon.core import generator_states
from syncret.daemon.core.conditions import stamp
from syncret.daemon.core.plan.secret_store import GeneratorLookup, GeneratorSummary
from syncret.daemon.engine.reconcilers.context import ReconcilerContext
from syncret.daemon.engine.reconcilers.stores import find
from syncret.daemon.engine.sessions.calls import CallRequest
from syncret.daemon.engine.work import SyncWork
from syncret.daemon.engine.writes import Writes, delete_if_there
from syncret.daemon.homes.contract import Conflict, HomeError, NotFound, OutcomeUnknown
from syncret.providers.contract import Generated, Generator
from syncret.providers.errors import Malformed, SyncError, Unavailable
from syncret.providers.registry import UnknownName
from syncret.providers.values import SecretMap


class GeneratedValues(NamedTuple):
    """New values, and the generator as it was when it made them."""

    generated: Generated
    resource: Document


async def look_up_generator(
    context: ReconcilerContext, writes: Writes, reference: GeneratorRef, namespace: str
) -> GeneratorLookup:
    """The generator that a resource names."""
    try:
        found = await _generator_spec(context, writes, reference, namespace)
    except SyncError as error:
        return error
    return None if found is None else GeneratorSummary(str(found[1].get("controller") or ""))


async def _generator_spec(
    context: ReconcilerContext, writes: Writes, reference: GeneratorRef, namespace: str
) -> tuple[str, Document] | None:
    """The kind behind the name and its spec; None where there is no such object. Raises SyncError."""
    stored = await find(context, writes, generator_ref(reference.kind, reference.name, namespace))
    if stored is None:
        return None
    spec = member(stored.document, "spec")
    if reference.kind != CLUSTER_GENERATOR.kind:
        return reference.kind, spec
    inner = str(spec.get("kind", ""))
    chosen = member(spec, "generator").get(generator_key(inner))
    if not is_object(chosen):
        raise Malformed(
            f'ClusterGenerator "{reference.name}" is of kind {inner} but carries another spec',
            hint=f"set spec.generator.{generator_key(inner)}",
        )
    return inner, chosen


class FoundGenerator(NamedTuple):
    """A generator as it is at the time of a run."""

    generator: Generator[Any]
    model: Any
    resource: Document
    origin: ObjectRef


async def _find_generator(
    context: ReconcilerContext, writes: Writes, reference: GeneratorRef, namespace: str
) -> FoundGenerator:
    """The generator that an entry names. Raises SyncError if there is none that can be used."""
    kind, name = reference.kind, reference.name
    if reference.api_version != GENERATORS_API:
        raise Malformed(
            f"generatorRef names no generator: {kind} of {reference.api_version}",
            hint=f"write apiVersion: {GENERATORS_API}, or leave it out",
        )
    found = await _generator_spec(context, writes, reference, namespace)
    if found is None:
        raise Malformed(
            f'unable to get generator: {kind} "{name}" does not exist', hint=f"create it in {namespace}"
        )
    actual, spec = found
    resource = {
        "apiVersion": GENERATORS_API,
        "kind": actual,
        "metadata": {"name": name, "namespace": namespace},
        "spec": spec,
    }
    generator = _generator(context, actual)
    if generator.generate is None:
        raise Malformed(f"generators of kind {actual} cannot be reached by this version of syncret")
    try:
        model = msgspec.convert(spec, generator.spec.model)
    except msgspec.ValidationError:  # an API server validates a spec, but lets it be left out entirely
        raise Malformed(f'{kind} "{name}" has no spec', hint="write what it needs") from None
    return FoundGenerator(generator, model, resource, generator_ref(kind, name, namespace))


async def _generate(
    context: ReconcilerContext, found: FoundGenerator, namespace: str, work: SyncWork
) -> GeneratedValues:
    """New values. Raises SyncError if the generator fails."""
    generator, model, resource, origin = found
    generate = generator.generate
    if generate is None:
        raise AssertionError("a generator that was found can generate")
    given = context.sessions.context(ref_of(resource), origin, namespace, work)
    if generator.local:
        return GeneratedValues(await generate(model, given), resource)
    calls = context.sessions.generator_calls(origin, generator.kind)
    no_answer = f'{origin.kind} "{origin.name}" did not answer'
    request = CallRequest("generate", None, namespace, once=True, no_answer=no_answer)
    return GeneratedValues(await calls.call(request, lambda: generate(model, given)), resource)


async def clean_up(context: ReconcilerContext, resource: Document, state: Document) -> None:
    """Remove what a generator, as recorded, made elsewhere. Raises SyncError."""
    kind = str(resource.get("kind", ""))
    generator = _generator(context, kind)
    cleanup = generator.cleanup
    if cleanup is None:
        return
    try:
        model = msgspec.convert(member(resource, "spec"), generator.spec.model)
    except msgspec.ValidationError:
        raise Malformed(f"the record of {kind} holds no spec of that kind") from None
    ref = ref_of(resource)
    origin = _origin(context, ref)
    given = context.sessions.context(ref, origin, ref.namespace, context.sessions.threads.sync())
    calls = context.sessions.generator_calls(origin, kind)
    request = CallRequest(
        "cleanup", None, ref.namespace, no_answer=f"the clean-up of {kind} was not answered"
    )
    await calls.call(request, lambda: cleanup(model, state, given))


def _generator(context: ReconcilerContext, kind: str) -> Generator[Any]:
    try:
        return context.generator(kind)
    except (UnknownName, BrokenEntry) as error:
        raise Malformed(error.message, hint=error.hint) from None


def _origin(context: ReconcilerContext, generator: ObjectRef) -> ObjectRef:
    """The object behind a generator of a record, which does not say whether that was a ClusterGenerator."""
    cluster_wide = generator_ref(CLUSTER_GENERATOR.kind, generator.name, "")
    found = context.inventory.get(cluster_wide)
    if found is None or context.inventory.get(generator) is not None:
        return generator
    return cluster_wide if member(found.document, "spec").get("kind") == generator.kind else generator


MAX_DELETE_TRIES: Final = 5

_ALPHABET: Final = "bcdfghjklmnpqrstvwxz2456789"
"""As in names that an API server generates: no vowels, so that they form no words."""


class GeneratorTransaction:
    """The values that one run of a resource generates: cleaned up at the end of the block unless in use.

    A record exists as soon as the generator has answered: after a crash the next run finds it, and cleans it
    up like any other once it has generated anew.
    """

    def __init__(self, context: ReconcilerContext, writes: Writes, owner: Resource, work: SyncWork) -> None:
        self.in_use = False
        """Whether the values are, or may be, stored where they are read."""
        self._context = context
        self._writes = writes
        self._owner = owner
        self._work = work
        self._recorded: dict[str, ObjectRef] = {}
        self._found: dict[GeneratorRef, FoundGenerator] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for ref in () if self.in_use else self._recorded.values():
            await self._give_back(ref)

    async def _give_back(self, ref: ObjectRef) -> None:
        """Delete a record, whatever its own run writes meanwhile: that one cleans up after it."""
        for tries in count(1):
            stored = await self._writes.get(ref)
            if stored is None:
                return
            try:
                await delete_if_there(self._writes, stored)
            except Conflict:
                if tries == MAX_DELETE_TRIES:
                    raise
            else:
                return

    async def generate(self, place: str, generator: GeneratorRef) -> SecretMap:
        """New values for an entry of the resource. Raises SyncError."""
        namespace = self._owner.metadata.namespace
        found = self._found.get(generator)
        if found is None:
            found = await _find_generator(self._context, self._writes, generator, namespace)
            self._found[generator] = found
        self._writes.check_ours()
        made = await _generate(self._context, found, namespace, self._work)
        if made.generated.state is not None and self._context.options.generator_states:
            self._recorded[place] = await self._record(place, made, made.generated.state)
        return made.generated.values

    async def commit(self) -> None:
        """The values are in use: give up those that they replace, after the grace period."""
        self.in_use = True
        known = self._context.inventory.list(generator_states.KIND, self._owner.metadata.namespace)
        states = [stored.as_type(GeneratorState) for stored in known]
        if not states:
            return
        newest = {place: ref.name for place, ref in self._recorded.items()}
        deadline = stamp(self._context.clock.now() + self._context.options.generator_grace)
        for state in list(generator_states.superseded(states, self._owner, newest)):
            with suppress(Conflict, NotFound):  # changed or gone since: the next refresh looks again
                await self._give_up(state.ref, deadline)

    async def _give_up(self, ref: ObjectRef, deadline: str) -> None:
        stored = await self._writes.get(ref)
        if stored is not None:
            document = stored.document
            document["spec"]["garbageCollectionDeadline"] = deadline
            await self._writes.update(document)

    async def _record(self, place: str, made: GeneratedValues, state: Document) -> ObjectRef:
        """Record what was created; if that fails, clean it up at once."""
        suffix = "".join(secrets.choice(_ALPHABET) for _ in range(5))
        document = generator_states.state_document(self._owner, place, made.resource, state, suffix=suffix)
        try:
            return await self._create(document)
        except HomeError as error:
            await clean_up(self._context, made.resource, state)
            raise Unavailable(f"cannot record what a generator made: {error.reason}") from error

    async def _create(self, document: Document) -> ObjectRef:
        try:
            stored = await self._writes.create(document)
        except OutcomeUnknown:
            found = await self._writes.get(ref_of(document))  # the name is random: no other writer uses it
            if found is None:
                raise
            return found.ref
        return stored.ref
