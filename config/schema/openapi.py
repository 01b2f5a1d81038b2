"""Converts models to OpenAPI v3 structural schemas, as a CustomResourceDefinition contains them."""

from typing import Final, get_origin

from syncret.config.catalog import Catalog, generator_key
from syncret.config.fields import Json, Model
from syncret.config.meta import Document
from syncret.config.resources.base import Resource
from syncret.config.schema.shape import Shape, shape_of

_INT32: Final = 2**31


def openapi(model: type[Model], catalog: Catalog) -> Document:
    """The schema of a model; for a whole resource, that of its CRD. Every spec of the catalog is imported."""
    schema = _schema(shape_of(model), catalog)
    if issubclass(get_origin(model) or model, Resource):
        schema["properties"]["metadata"] = {"type": "object"}
    return schema


def _schema(shape: Shape, catalog: Catalog) -> Document:
    schema: Document
    if shape.catalog == "kinds":
        schema = {"type": "string", "enum": [*catalog.generator_kinds(), *shape.enum]}
    elif shape.catalog:
        schema = _choice(shape.catalog, catalog)
    elif shape.kind == "object":
        schema = _object(shape, catalog)
    elif shape.kind == "array" and shape.items is not None:
        schema = {"type": "array", "items": _schema(shape.items, catalog)}
        schema |= _set(minItems=shape.min_length, maxItems=shape.max_length)
    elif shape.kind == "map" and shape.items is not None:
        schema = {"type": "object", "additionalProperties": _schema(shape.items, catalog)}
        schema |= _set(minProperties=shape.min_length, maxProperties=shape.max_length)
    else:
        schema = _scalar(shape)
    if shape.nullable:
        schema["nullable"] = True
    return schema


def _scalar(shape: Shape) -> Document:
    if shape.kind == "any":
        return {"x-kubernetes-preserve-unknown-fields": True}
    if shape.kind == "int-or-string":
        return {"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": True}
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


def _object(shape: Shape, catalog: Catalog) -> Document:
    properties: dict[str, Document] = {}
    for field in shape.fields:
        properties[field.name] = _schema(field.shape, catalog)
        if field.default is not None:
            properties[field.name]["default"] = field.default()
    schema: Document = {"type": "object", "properties": properties}
    return schema | _set(
        required=sorted(field.name for field in shape.fields if field.required) or None,
        minProperties=shape.min_length,
        maxProperties=shape.max_length,
        **{"x-kubernetes-validations": [{"message": r.message, "rule": r.cel} for r in shape.rules] or None},
    )


def _choice(table: str, catalog: Catalog) -> Document:
    if table == "stores":
        models = {name: catalog.store(name).model for name in catalog.store_names()}
    else:
        models = {generator_key(kind): catalog.generator(kind).model for kind in catalog.generator_kinds()}
    properties = {name: openapi(models[name], catalog) for name in sorted(models)}
    return {"type": "object", "properties": properties, "minProperties": 1, "maxProperties": 1}


def _set(**members: Json) -> Document:
    """A JSON object of the members that have a value."""
    return {name: value for name, value in members.items() if value is not None}
