"""Every field with its documentation: type, default, description and example.

The reference, `syncret explain --field`, the JSON schemas and the CRDs read them from here.
"""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from syncret.config.catalog import Catalog, SpecType, generator_key
from syncret.config.fields import Json, LabelSelector
from syncret.config.schema.docstrings import ABSENT, Description, described
from syncret.config.schema.shape import Field, Shape, shape_of

_WIDEST: Final = 6
"""The longest list of choices that is shown; longer ones are cut."""

_CATALOGS: Final = {"stores": "one provider", "generators": "one generator", "kinds": "kind of a generator"}
_SELECTOR: Final = shape_of(LabelSelector)
_FORMS: Final = {"any": "anything", "int-or-string": "number or duration"}
_FORMATS: Final = {"date-time": "time", "byte": "base64", "go-bytes": "base64"}


class FieldDoc(NamedTuple):
    """One field of an object, or one choice of a catalog."""

    name: str
    shape: Shape
    required: bool
    default: Json
    text: str
    example: Json


def fields_of(shape: Shape, catalog: Catalog) -> Iterator[FieldDoc]:
    """The fields below a value, whatever lists and maps lie between; imports every spec of a catalog."""
    for name in names_below(shape, catalog):
        yield field_named(shape, name, catalog)


def names_below(shape: Shape, catalog: Catalog) -> list[str]:
    """The names of these fields; imports no spec."""
    inner = innermost(shape)
    if inner.catalog == "stores":
        return sorted(catalog.store_names())
    if inner.catalog == "generators":
        return sorted(map(generator_key, catalog.generator_kinds()))
    return [field.name for field in inner.fields]


def field_named(shape: Shape, name: str, catalog: Catalog) -> FieldDoc:
    """One of these fields. Of a catalog, only this spec is imported."""
    inner = innermost(shape)
    if inner.catalog:
        return whole(name, shape_of(_spec(inner.catalog, name, catalog).model))
    return field_doc(inner, next(field for field in inner.fields if field.name == name))


def whole(name: str, shape: Shape) -> FieldDoc:
    """An object that is described by its class alone."""
    return FieldDoc(name, shape, False, ABSENT, model_text(shape), example_of(shape))  # noqa: FBT003


def _spec(table: str, name: str, catalog: Catalog) -> SpecType[Any]:
    if table == "stores":
        return catalog.store(name)
    return catalog.generator(next(kind for kind in catalog.generator_kinds() if generator_key(kind) == name))


def field_doc(owner: Shape, field: Field) -> FieldDoc:
    """One field. Where no docstring stands below it, the class of its value describes it."""
    own = described(owner.model).fields.get(field.name, Description()) if owner.model else Description()
    default = ABSENT if field.default is None else field.default()
    return FieldDoc(
        field.name,
        field.shape,
        field.required,
        default,
        own.text or model_text(innermost(field.shape)),
        own.example if own.example is not ABSENT else example_of(field.shape, default),
    )


def model_text(shape: Shape) -> str:
    """The docstring of the class of an object."""
    return described(shape.model).model.text if shape.model else ""


def example_of(shape: Shape, default: Json = ABSENT) -> Json:
    """An example that follows from the type: another value than the default; an object's required fields.

    If no field is required, the first one stands for all.
    """
    if shape.enum:
        return next((value for value in shape.enum if value != default), default)
    if shape.kind == "boolean":
        return default is not True
    if shape.kind == "array" and shape.items is not None:
        item = example_of(shape.items)
        return item if item is ABSENT else [item]
    return _object_example(shape) if shape.kind == "object" else ABSENT


def _object_example(shape: Shape) -> Json:
    of_class = described(shape.model).model.example if shape.model else ABSENT
    if of_class is not ABSENT:
        return of_class
    chosen = [field for field in shape.fields if field.required] or shape.fields[:1]
    members = {field.name: field_doc(shape, field).example for field in chosen}
    return ABSENT if ABSENT in members.values() else members


def innermost(shape: Shape) -> Shape:
    """What a list or map contains in the end."""
    while shape.items is not None and not shape.catalog:
        shape = shape.items
    return shape


def allowed(shape: Shape, catalog: Catalog) -> list[Json]:
    """The values that a string may have; empty if it is not restricted to a list."""
    return [*(catalog.generator_kinds() if shape.catalog == "kinds" else ()), *shape.enum]


def form_of(shape: Shape) -> str:
    """The type of a value in a few words."""
    if shape.catalog:
        return _CATALOGS[shape.catalog]
    if is_label_selector(shape):
        return "label selector"
    if shape.enum:
        return ", ".join(map(str, shape.enum[:_WIDEST])) + (", ..." if len(shape.enum) > _WIDEST else "")
    if shape.duration:
        return "duration"
    if shape.items is not None:
        return f"{'list' if shape.kind == 'array' else 'map'} of {_plural(shape.items)}"
    return _FORMATS.get(shape.format) or _FORMS.get(shape.kind, shape.kind)


def is_label_selector(shape: Shape) -> bool:
    """Whether it is Kubernetes' label selector, which is described once."""
    return shape == _SELECTOR


def _plural(shape: Shape) -> str:
    form = form_of(shape)
    return f"{form}s" if form in {"string", "integer", "object", "label selector"} else form
