"""Converts models to OpenAPI v3 structural schemas, as a CustomResourceDefinition contains them."""

from collections.abc import Callable
from typing import Final, NamedTuple, Protocol, get_origin

from syncret.config.catalog import Catalog
from syncret.config.fields import Json, Model
from syncret.config.meta import Document
from syncret.config.resources.base import Resource
from syncret.config.schema.docstrings import ABSENT
from syncret.config.schema.field_docs import FieldDoc, allowed, fields_of, model_text
from syncret.config.schema.shape import Shape, shape_of

_INT32: Final = 2**31


class StatedRule(Protocol):
    """A rule as an API server states it: `field` is below the object that it holds for."""

    @property
    def message(self) -> str: ...
    @property
    def cel(self) -> str: ...
    @property
    def field(self) -> str: ...


def openapi(
    model: type[Model],
    catalog: Catalog,
    *,
    examples: bool = False,
    text: Callable[[str], str] = str,
    rules: bool = True,
) -> Document:
    """The schema of a model; for a whole resource, that of its CRD. Every spec of the catalog is imported.

    Args:
        model: any model.
        catalog: what stores and ClusterGenerators may name.
        examples: whether fields have examples, which a CRD cannot contain: a JSON schema for editors can.
        text: what becomes of each description; an empty one is left out.
        rules: whether rules between fields are included.
    """
    writer = _Writer(catalog, examples, text, rules)
    shape = shape_of(model)
    schema = writer.described(shape, model_text(shape))
    if issubclass(get_origin(model) or model, Resource):
        schema["properties"]["metadata"] = {"type": "object"}
    return schema


class _Writer(NamedTuple):
    catalog: Catalog
    examples: bool
    text: Callable[[str], str]
    rules: bool

    def described(self, shape: Shape, text: str) -> Document:
        """The schema of a value, after its description."""
        return _set(description=self.text(text) or None) | self._schema(shape)

    def _schema(self, shape: Shape) -> Document:
        schema: Document
        if shape.catalog == "kinds":
            schema = {"type": "string", "enum": allowed(shape, self.catalog)}
        elif shape.catalog or shape.kind == "object":
            schema = self._object(shape)
        elif shape.kind == "array" and shape.items is not None:
            schema = {"type": "array", "items": self._schema(shape.items)}
            schema |= _set(minItems=shape.min_length, maxItems=shape.max_length)
            schema |= _list_type(shape)
        elif shape.kind == "map" and shape.items is not None:
            schema = {"type": "object", "additionalProperties": self._schema(shape.items)}
            schema |= _set(minProperties=shape.min_length, maxProperties=shape.max_length)
            schema |= _set(**{"x-kubernetes-map-type": "atomic" if shape.atomic else None})
        else:
            schema = _scalar(shape)
        if shape.nullable:
            schema["nullable"] = True
        return schema

    def _object(self, shape: Shape) -> Document:
        fields = list(fields_of(shape, self.catalog))
        low, high = (1, 1) if shape.catalog else (shape.min_length, shape.max_length)
        schema: Document = {"type": "object", "properties": {each.name: self._field(each) for each in fields}}
        stated: tuple[StatedRule, ...] = (*shape.rules, *shape.transitions)
        rules = [validation(rule) for rule in stated] if self.rules else []
        return schema | _set(
            required=sorted(each.name for each in fields if each.required) or None,
            minProperties=low,
            maxProperties=high,
            **{
                "x-kubernetes-map-type": "atomic" if shape.atomic else None,
                "x-kubernetes-validations": rules or None,
            },
        )

    def _field(self, field: FieldDoc) -> Document:
        schema = self.described(field.shape, field.text)
        if field.default is not ABSENT:
            schema["default"] = field.default
        if self.examples and field.example is not ABSENT:
            schema["examples"] = [field.example]
        return schema


def _list_type(shape: Shape) -> Document:
    """What a server-side apply replaces of a list: the whole, or the objects whose keys are equal."""
    if shape.list_keys:
        return {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": [*shape.list_keys]}
    return {"x-kubernetes-list-type": "atomic"} if shape.atomic else {}


def validation(rule: StatedRule) -> Document:
    """A rule, as a schema states it."""
    stated: Document = {"message": rule.message, "rule": rule.cel}
    return stated | _set(fieldPath=f".{rule.field}" if rule.field else None)


def _scalar(shape: Shape) -> Document:
    if shape.kind == "any":
        return {"x-kubernetes-preserve-unknown-fields": True}
    if shape.kind == "int-or-string":
        either: Document = {"anyOf": [{"type": "integer"}, {"type": "string"}]}
        return either | {"x-kubernetes-int-or-string": True} | _set(pattern=shape.pattern)
    schema: Document = {"type": shape.kind}
    schema |= _set(
        format=shape.format or None,
        enum=list(shape.enum) or None,
        pattern=shape.pattern,
        minLength=shape.min_length,
        maxLength=shape.max_length,
    )
    if shape.minimum is not None and shape.minimum != -_INT32:
        schema["minimum"] = shape.minimum
    if shape.maximum is not None and shape.maximum != _INT32 - 1:
        schema["maximum"] = shape.maximum
    return schema


def _set(**members: Json) -> Document:
    """A JSON object of the members that have a value."""
    return {name: value for name, value in members.items() if value is not None}
