"""Generators: one base class for the kinds of the catalog, ClusterGenerator, and GeneratorState."""

from collections.abc import Iterator
from typing import Any, Generic, TypeVar

import msgspec

from syncret.config.catalog import Catalog, Scope, SpecType, generator_key
from syncret.config.errors import Problem
from syncret.config.fields import GeneratorChoice, Json, Model, Timestamp
from syncret.config.paths import join
from syncret.config.resources.base import ConditionStatus, Resource
from syncret.config.resources.kinds import NamespacedGenerator

M = TypeVar("M", bound=Model)


class GeneratorObject(Resource, Generic[M]):
    """A generator: it makes values, instead of reading them from a store."""

    spec: M | None = None


class ClusterGeneratorSpec(Model):
    """A generator for every namespace: its kind, and under `<kind>Spec` its spec.

    Example: {kind: Password, generator: {passwordSpec: {length: 32}}}
    """

    kind: NamespacedGenerator
    """Kind of the generator; it should be the one whose spec stands in `generator`. Example: Password"""
    generator: GeneratorChoice
    """The spec of the generator: exactly one field, named after its kind.
    Example: {passwordSpec: {length: 32}}"""


class ClusterGenerator(Resource):
    """A generator for every namespace."""

    spec: ClusterGeneratorSpec | None = None
    """The generator, for every namespace."""


class GeneratorStateSpec(Model):
    """What a generator created elsewhere, so that it can be removed again after the deadline."""

    resource: Json
    """The generator as it was when it created this: a later change of it does not prevent the clean-up.
    Example: {apiVersion: generators.external-secrets.io/v1alpha1, kind: VaultDynamicSecret, metadata: {name:
    database}}"""
    state: Json
    """What the generator needs to know to remove it. Example: {leaseId: database/creds/app/x}"""
    garbage_collection_deadline: Timestamp = ""
    """When it is removed; absent: it is still in use. Example: '2026-01-01T00:00:00Z'"""


class GeneratorStateStatus(Model):
    """Whether it was cleaned up; ignored in a manifest.

    Example: {}
    """

    conditions: tuple[ConditionStatus, ...] = ()
    """Whether the last attempt to clean up failed."""


class GeneratorState(Resource):
    """The record of what one generator created in another system."""

    spec: GeneratorStateSpec | None = None
    """What was created, and until when it stays."""
    status: GeneratorStateStatus = GeneratorStateStatus()
    """Whether it was cleaned up; ignored in a manifest."""


def check(resource: GeneratorObject[Any], catalog: Catalog) -> Iterator[Problem]:
    """The generator's own rules beyond the schema."""
    if resource.spec is not None:
        scope = Scope(cluster=False, namespace=resource.metadata.namespace)
        yield from _checked(catalog.generator(resource.kind), resource.spec, scope, "spec")


def check_cluster(resource: ClusterGenerator, catalog: Catalog) -> Iterator[Problem]:
    """The generator's own rules beyond the schema."""
    if resource.spec is None:
        return
    for kind in catalog.generator_kinds():
        key = generator_key(kind)
        if key in resource.spec.generator:
            spec_type = catalog.generator(kind)
            spec = msgspec.convert(resource.spec.generator[key], spec_type.model)
            yield from _checked(spec_type, spec, Scope(cluster=True), f"spec.generator.{key}")


def _checked(spec_type: SpecType[Any], spec: Json, scope: Scope, path: str) -> Iterator[Problem]:
    if spec_type.check is not None:
        for problem in spec_type.check(spec, scope):
            yield msgspec.structs.replace(problem, path=join(path, problem.path))
