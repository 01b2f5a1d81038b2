"""Draws values from a generator, named directly or through a ClusterGenerator."""

import msgspec

from syncret.config.catalog import Scope, generator_key
from syncret.config.meta import Document, ObjectRef, is_object, member
from syncret.daemon.engine.credentials import HomeCredentials
from syncret.daemon.engine.reconcilers.world import World
from syncret.providers.contract import OpenContext, SecretMap
from syncret.providers.errors import Malformed

GROUP = "generators.external-secrets.io"
CLUSTER_GENERATOR = "ClusterGenerator"


def generator_ref(kind: str, name: str, namespace: str) -> ObjectRef:
    """The reference of a generator as a resource of that namespace means it."""
    return ObjectRef(GROUP, kind, "" if kind == CLUSTER_GENERATOR else namespace, name)


def generator_spec(world: World, kind: str, name: str, namespace: str) -> tuple[str, Document] | None:
    """The kind behind the name and its spec; None where there is no such object."""
    stored = world.inventory.get(generator_ref(kind, name, namespace))
    if stored is None:
        return None
    spec = member(stored.document, "spec")
    if kind != CLUSTER_GENERATOR:
        return kind, spec
    inner = str(spec.get("kind", ""))
    chosen = member(spec, "generator").get(generator_key(inner))
    if not is_object(chosen):
        raise Malformed(
            f'ClusterGenerator "{name}" is of kind {inner} but carries another spec',
            hint=f"set spec.generator.{generator_key(inner)}",
        )
    return inner, chosen


async def draw(world: World, kind: str, name: str, namespace: str) -> SecretMap:
    """New values. Raises SyncError where there is no such generator or it cannot draw."""
    found = generator_spec(world, kind, name, namespace)
    if found is None:
        raise Malformed(
            f'unable to get generator: {kind} "{name}" does not exist', hint=f"create it in {namespace}"
        )
    actual, document = found
    generator = world.registry.generator_type(actual)
    if generator.generate is None:
        raise Malformed(f"generators of kind {actual} cannot be reached by this version of syncret")
    spec = msgspec.convert(document, generator.spec.model)
    scope = Scope(cluster=False, namespace=namespace)
    context = OpenContext(
        store=generator_ref(kind, name, namespace),
        scope=scope,
        credentials=HomeCredentials(world.target, scope),
        now=world.clock.now,
        keep={},
    )
    generated = await generator.generate(spec, context)
    return generated.values
