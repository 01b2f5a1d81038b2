"""Draws values from a generator, named directly or through a ClusterGenerator, and cleans up after it.

What one run draws from generators: recorded before a value is used, given back unless the run keeps it.
"""

import secrets
from contextlib import suppress
from types import TracebackType
from typing import Any, Final, NamedTuple, Self

import msgspec

from syncret.config.catalog import generator_key
from syncret.config.meta import Document, ObjectRef, is_object, member, ref_of
from syncret.config.resources.base import GENERATORS_API, Resource
from syncret.config.resources.external_secret import GeneratorRef
from syncret.config.resources.generators import GeneratorState
from syncret.config.resources.kinds import CLUSTER_GENERATOR, generator_ref
from syncret.daemon.core import generator_states
from syncret.daemon.core.conditions import stamp
from syncret.daemon.engine.reconcilers.context import ReconcilerContext
from syncret.daemon.engine.sessions.calls import CallRequest
from syncret.daemon.engine.writes import Writes, delete_if_there
from syncret.daemon.homes.contract import Conflict, HomeError, NotFound
from syncret.providers.contract import Generated, Generator, OpenContext, SecretMap
from syncret.providers.errors import Malformed, Unavailable
from syncret.providers.registry import UnknownName


class GeneratedValues(NamedTuple):
    """What was drawn, and the generator it came from as it was then."""

    generated: Generated
    resource: Document


def generator_spec(
    context: ReconcilerContext, kind: str, name: str, namespace: str
) -> tuple[str, Document] | None:
    """The kind behind the name and its spec; None where there is no such object."""
    stored = context.inventory.get(generator_ref(kind, name, namespace))
    if stored is None:
        return None
    spec = member(stored.document, "spec")
    if kind != CLUSTER_GENERATOR.kind:
        return kind, spec
    inner = str(spec.get("kind", ""))
    chosen = member(spec, "generator").get(generator_key(inner))
    if not is_object(chosen):
        raise Malformed(
            f'ClusterGenerator "{name}" is of kind {inner} but carries another spec',
            hint=f"set spec.generator.{generator_key(inner)}",
        )
    return inner, chosen


async def generate(context: ReconcilerContext, reference: GeneratorRef, namespace: str) -> GeneratedValues:
    """New values. Raises SyncError where there is no such generator or it cannot draw."""
    kind, name = reference.kind, reference.name
    if reference.api_version != GENERATORS_API:
        raise Malformed(
            f"generatorRef names no generator: {kind} of {reference.api_version}",
            hint=f"write apiVersion: {GENERATORS_API}, or leave it out",
        )
    found = generator_spec(context, kind, name, namespace)
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
    except (
        msgspec.ValidationError
    ):  # the API server lets a whole spec be left out, and judges it where it is there
        raise Malformed(f'{kind} "{name}" has no spec', hint="write what it needs") from None
    given = _open_context(context, resource)
    work = generator.generate
    if generator.local:
        return GeneratedValues(await work(model, given), resource)
    calls = context.sessions.generator_calls(generator_ref(kind, name, namespace), actual)
    request = CallRequest("generate", None, namespace, once=True, no_answer=f'{kind} "{name}" did not answer')
    return GeneratedValues(await calls.call(request, lambda: work(model, given)), resource)


async def clean_up(context: ReconcilerContext, resource: Document, state: Document) -> None:
    """Remove what was made elsewhere by the generator as it was then. Raises SyncError."""
    kind = str(resource.get("kind", ""))
    generator = _generator(context, kind)
    cleanup = generator.cleanup
    if cleanup is None:
        return
    try:
        model = msgspec.convert(member(resource, "spec"), generator.spec.model)
    except msgspec.ValidationError:
        raise Malformed(f"the record of {kind} holds no spec of that kind") from None
    given = _open_context(context, resource)
    calls = context.sessions.generator_calls(_origin(context, given.store), kind)
    request = CallRequest(
        "cleanup", None, given.store.namespace, no_answer=f"the clean-up of {kind} was not answered"
    )
    await calls.call(request, lambda: cleanup(model, state, given))


def _generator(context: ReconcilerContext, kind: str) -> Generator[Any]:
    try:
        return context.generator(kind)
    except UnknownName as error:
        raise Malformed(error.message, hint=error.hint) from None


def _origin(context: ReconcilerContext, generator: ObjectRef) -> ObjectRef:
    """The object behind a generator of a record, which does not say whether that was a ClusterGenerator."""
    cluster_wide = generator_ref(CLUSTER_GENERATOR.kind, generator.name, "")
    found = context.inventory.get(cluster_wide)
    if found is None or context.inventory.get(generator) is not None:
        return generator
    return cluster_wide if member(found.document, "spec").get("kind") == generator.kind else generator


def _open_context(context: ReconcilerContext, resource: Document) -> OpenContext:
    ref = ref_of(resource)
    return context.sessions.context(ref, ref.namespace)


_ALPHABET: Final = "bcdfghjklmnpqrstvwxz2456789"
"""As an API server makes up names: no vowels, so that no word comes of it."""


class GeneratorTransaction:
    """The draws of one run of one resource. Leaving the block without `keep` gives all of them back.

    A record stands from the moment the generator has answered: after a crash the next run finds it, and once
    that has drawn anew it is cleaned up like any other.
    """

    def __init__(self, context: ReconcilerContext, writes: Writes, owner: Resource) -> None:
        self._context = context
        self._writes = writes
        self._owner = owner
        self._drawn: dict[str, ObjectRef] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        while self._drawn:
            _, ref = self._drawn.popitem()
            stored = await self._writes.get(ref)
            if stored is not None:  # the record's own run cleans up, as often as it takes
                await delete_if_there(self._writes, stored)

    async def generate(self, place: str, generator: GeneratorRef) -> SecretMap:
        """New values for an entry of the resource. Raises SyncError."""
        drawn = await generate(self._context, generator, self._owner.metadata.namespace)
        if drawn.generated.state is not None:
            await self._record(place, drawn, drawn.generated.state)
        return drawn.generated.values

    async def commit(self) -> None:
        """The values are in use: give up the former ones of each entry, after the grace period."""
        drawn = {place: ref.name for place, ref in self._drawn.items()}
        self._drawn.clear()
        known = self._context.inventory.list(generator_states.KIND, self._owner.metadata.namespace)
        states = [stored.as_type(GeneratorState) for stored in known]
        if not states:
            return
        deadline = stamp(self._context.clock.now() + self._context.options.generator_grace)
        for state in list(generator_states.superseded(states, self._owner, drawn)):
            with suppress(Conflict, NotFound):  # changed or gone since: the next refresh looks again
                await self._give_up(state.ref, deadline)

    async def _give_up(self, ref: ObjectRef, deadline: str) -> None:
        stored = await self._writes.get(ref)
        if stored is not None:
            document = stored.document
            document["spec"]["garbageCollectionDeadline"] = deadline
            await self._writes.update(document)

    async def _record(self, place: str, drawn: GeneratedValues, state: dict[str, object]) -> None:
        suffix = "".join(secrets.choice(_ALPHABET) for _ in range(5))
        document = generator_states.state_document(self._owner, place, drawn.resource, state, suffix=suffix)
        try:
            stored = await self._writes.create(document)
        except HomeError as error:
            await clean_up(self._context, drawn.resource, state)  # what nobody remembers must not be left
            raise Unavailable(f"cannot record what a generator made: {error.reason}") from error
        self._drawn[place] = stored.ref
