"""Finds the servers to which stores and generators would send an identity of the daemon itself."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from syncret.config.catalog import generator_key
from syncret.config.fields import Json
from syncret.config.meta import Document, GroupKind, member
from syncret.config.paths import join
from syncret.config.resources.base import GENERATORS_GROUP
from syncret.config.resources.kinds import CLUSTER_GENERATOR, role_of
from syncret.providers.contract import Generator, Provider
from syncret.providers.kit.ambient.rules import Rules, Verdict
from syncret.providers.registry import Registry


class _Embedded(NamedTuple):
    """The spec of a provider or generator in a document, and its place there."""

    path: str
    spec: Json
    owner: Provider[Any] | Generator[Any]


def verdicts_of(document: Document, registry: Registry, rules: Rules) -> Iterator[Verdict]:
    """The verdict of the rules on each receiver, with its path; none for a malformed document."""
    cluster = not member(document, "metadata").get("namespace")
    for path, spec, owner in _embedded(document, registry):
        try:
            typed = msgspec.convert(spec, owner.spec.model)
        except msgspec.ValidationError:
            continue
        for receiver in owner.receivers(typed):
            yield rules.verdict(receiver._replace(path=join(path, receiver.path)), cluster=cluster)


def _embedded(document: Document, registry: Registry) -> Iterator[_Embedded]:
    group, _, _ = str(document.get("apiVersion")).rpartition("/")
    kind, spec = str(document.get("kind")), member(document, "spec")
    if role_of(GroupKind(group, kind)) == "store":
        for name, value in member(spec, "provider").items():
            if name in registry.store_names():
                yield _Embedded(f"spec.provider.{name}", value, registry.provider(name))
    elif (group, kind) == CLUSTER_GENERATOR.group_kind:
        inner = str(spec.get("kind"))
        key = generator_key(inner)
        if inner in registry.generator_kinds() and key in member(spec, "generator"):
            yield _Embedded(f"spec.generator.{key}", spec["generator"][key], registry.generator_type(inner))
    elif group == GENERATORS_GROUP and kind in registry.generator_kinds():
        yield _Embedded("spec", document.get("spec"), registry.generator_type(kind))
