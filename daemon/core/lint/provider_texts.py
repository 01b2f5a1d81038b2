"""The templates and paths in the specs of stores and generators, as their providers declare them."""

from collections.abc import Iterator
from typing import Any

import msgspec

from syncret.config.catalog import SpecText, SpecType, generator_key
from syncret.config.errors import Problem
from syncret.config.fields import Json
from syncret.config.paths import join
from syncret.config.resources.base import Resource
from syncret.config.resources.generators import ClusterGenerator, GeneratorObject
from syncret.config.resources.secret_store import SecretStore
from syncret.daemon.core.lint import texts
from syncret.daemon.core.lint.given import Given
from syncret.daemon.core.lint.texts import Keys


def of_spec(resource: Resource, given: Given) -> Iterator[Problem]:
    """The mistakes in the texts of a store's or generator's spec."""
    match resource:
        case SecretStore(spec=spec):
            for name, value in spec.provider.items():
                yield from _of(given.catalog.store(name), value, f"spec.provider.{name}")
        case ClusterGenerator(spec=spec) if spec is not None:
            key = generator_key(spec.kind)
            if key in spec.generator:
                owner = given.catalog.generator(spec.kind)
                yield from _of(owner, spec.generator[key], f"spec.generator.{key}")
        case GeneratorObject(spec=spec) if spec is not None:
            yield from _of(given.catalog.generator(resource.kind), spec, "spec")
        case _:
            pass


def _of(owner: SpecType[Any], spec: Json, path: str) -> Iterator[Problem]:
    if owner.texts is None:
        return
    typed = spec if isinstance(spec, owner.model) else msgspec.convert(spec, owner.model)
    for text in owner.texts(typed):
        yield from _text(text, join(path, text.path))


def _text(text: SpecText, path: str) -> Iterator[Problem]:
    if text.language == "template" or "{{" in text.text:
        yield from texts.template(path, text.text, Keys(text.names, "there is none of this name"))
    elif text.text:
        yield from texts.jsonpath(path, text.text)
