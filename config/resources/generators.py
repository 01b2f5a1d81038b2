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
    """A generator of any kind; its spec is read by the model of that kind."""

    spec: M | None = None


class ClusterGeneratorSpec(Model):
    """A generator for every namespace: its kind, and under `<kind>Spec` its spec."""

    kind: NamespacedGenerator
    generator: GeneratorChoice


class ClusterGenerator(Resource):
    """A generator for every namespace."""

    spec: ClusterGeneratorSpec | None = None


class GeneratorStateSpec(Model):
    """What a generator created, so that it can be removed again after the deadline."""

    resource: Json
    state: Json
    garbage_collection_deadline: Timestamp = ""


class GeneratorStateStatus(Model):
    """Whether it was cleaned up."""

    conditions: tuple[ConditionStatus, ...] = ()


class GeneratorState(Resource):
    """The record of what one generator created in another system."""

    spec: GeneratorStateSpec | None = None
    status: GeneratorStateStatus = GeneratorStateStatus()


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
