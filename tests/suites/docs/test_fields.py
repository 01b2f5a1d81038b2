"""Every field has a description, an example that its schema accepts, and the default that it fills in.

Settings are tested where they are defined; here are the fields of objects that stand in one. Specs of
providers and generators are held to it once they work; until then their authors owe nothing.
"""

from collections.abc import Iterator

import pytest
from msgspec import Struct

from syncret.config.resources.kinds import HOST_KINDS, KINDS, OPERATOR_KINDS
from syncret.config.schema.docstrings import ABSENT
from syncret.config.schema.field_docs import FieldDoc, fields_of, innermost, model_text
from syncret.config.schema.shape import Shape, shape_of
from syncret.config.schema.structural import Schema
from syncret.config.settings_table import describe
from syncret.providers.registry import Registry

REGISTRY = Registry()
LONGEST = 250
"""Characters of a description: two sentences."""


def _models() -> Iterator[tuple[str, type[Struct]]]:
    for setting in describe():
        for model in setting.objects:
            yield f"setting-{setting.name}", model
    for kind in (*KINDS, *OPERATOR_KINDS, *HOST_KINDS):
        yield kind.kind, kind.model
    for name in REGISTRY.store_names():
        if REGISTRY.provider(name).open is not None:
            yield f"provider-{name}", REGISTRY.store(name).model
    for name in REGISTRY.generator_kinds():
        if REGISTRY.generator_type(name).generate is not None:
            yield f"generator-{name}", REGISTRY.generator(name).model


MODELS = dict(_models())


def _objects(shape: Shape, seen: set[type]) -> Iterator[Shape]:
    """Every object at and below a shape, each model once; a catalog's specs are models of their own."""
    inner = innermost(shape)
    if inner.catalog or inner.model is None or inner.model in seen:
        return
    seen.add(inner.model)
    yield inner
    for field in inner.fields:
        yield from _objects(field.shape, seen)


def _faults(field: FieldDoc) -> Iterator[str]:
    if not field.text:
        yield "no docstring stands below it"
    elif not field.text.endswith(".") or len(field.text) > LONGEST:
        yield f"one or two sentences, please: {field.text}"
    if field.example is ABSENT:
        yield "it has no example that is YAML"
    else:
        problems = Schema.of_shape(field.shape, REGISTRY).admit(field.example).problems
        yield from (f"its example is wrong: {problem}" for problem in problems)


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_every_field_is_described(model: type[Struct]) -> None:
    faults = [
        f"{shape.model.__name__ if shape.model else ''}.{field.name}: {fault}"
        for shape in _objects(shape_of(model), set())
        for field in fields_of(shape, REGISTRY)
        for fault in _faults(field)
    ]
    assert faults == []


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_a_documented_default_is_what_the_schema_fills_in(model: type[Struct]) -> None:
    for shape in _objects(shape_of(model), set()):
        filled = Schema.of_shape(shape, REGISTRY).admit({}).document
        documented = {field.name: field.default for field in fields_of(shape, REGISTRY)}
        assert {name: value for name, value in documented.items() if value is not ABSENT} == filled


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_a_kind_says_what_it_is_for(model: type[Struct]) -> None:
    assert model_text(shape_of(model)).endswith(".")
