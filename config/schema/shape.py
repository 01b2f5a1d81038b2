"""Shapes: the schema of each value of a model, read once from its types, for validation and for export.

`msgspec.inspect` describes Python types; a `Shape` describes what a structural schema can say. `None` in a
Python type means that a field may be absent, which a schema says by not requiring it.
"""

from collections.abc import Callable, Mapping
from typing import Final, Literal, NamedTuple, TypeAlias

import msgspec
from msgspec import inspect

from syncret.config.fields import Json, Model, Rule, Transition

Kind: TypeAlias = Literal[
    "any", "string", "integer", "number", "boolean", "int-or-string", "array", "map", "object"
]


_NOTED: Final = (
    *("nullable", "duration", "catalog", "enum", "format", "null_is_empty", "pattern"),
    *("list_keys", "atomic"),
)


class Field(NamedTuple):
    """One field of an object. `default` makes a fresh copy of the CRD's default."""

    name: str
    shape: "Shape"
    required: bool
    default: Callable[[], Json] | None


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """The schema of one value; bounds that do not apply are None."""

    kind: Kind
    nullable: bool = False
    enum: tuple[Json, ...] = ()
    pattern: str | None = None
    minimum: float | None = None
    maximum: float | None = None
    min_length: int | None = None
    max_length: int | None = None
    format: str = ""
    duration: bool = False
    catalog: Literal["", "stores", "generators", "kinds"] = ""
    """The table that an object takes one member from; `kinds`: what a string may name beside its `enum`."""
    null_is_empty: bool = False
    items: "Shape | None" = None
    keys: "Shape | None" = None
    list_keys: tuple[str, ...] = ()
    """The fields that identify the objects of a list: no two objects have all of them equal."""
    fields: tuple[Field, ...] = ()
    rules: tuple[Rule, ...] = ()
    transitions: tuple[Transition, ...] = ()
    atomic: bool = False
    """Whether a server-side apply replaces the value as a whole."""
    model: type[msgspec.Struct] | None = None
    """The class of an object, whose source describes the fields."""


class UnsupportedType(TypeError):
    """A model uses a type that no structural schema can express: a bug in the model."""


def shape_of(model: type[msgspec.Struct]) -> Shape:
    """The shape of a model and of everything below it."""
    return _shape(inspect.type_info(model))


def _shape(info: inspect.Type) -> Shape:
    match info:
        case inspect.Metadata():
            shape = _annotated(info)
        case inspect.UnionType():
            shape = _union(info)
        case inspect.StructType():
            shape = _object(info)
        case inspect.ListType() | inspect.VarTupleType() | inspect.DictType():
            shape = _collection(info)
        case _:
            shape = _scalar(info)
    return shape


def _scalar(info: inspect.Type) -> Shape:
    match info:
        case inspect.StrType(low, high, pattern):
            return Shape(kind="string", pattern=pattern, min_length=low, max_length=high)
        case inspect.IntType():
            return Shape(kind="integer", minimum=info.ge, maximum=info.le)
        case inspect.FloatType():
            return Shape(kind="number", minimum=info.ge, maximum=info.le)
        case inspect.BoolType():
            return Shape(kind="boolean")
        case inspect.LiteralType():
            return Shape(kind="string", enum=info.values)
        case inspect.AnyType():
            return Shape(kind="any")
        case _:
            raise UnsupportedType(f"{info} has no structural schema")


def _collection(info: inspect.ListType | inspect.VarTupleType | inspect.DictType) -> Shape:
    low, high = info.min_length, info.max_length
    if not isinstance(info, inspect.DictType):
        return Shape(kind="array", items=_shape(info.item_type), min_length=low, max_length=high)
    keys = _shape(info.key_type)
    named = keys if keys.pattern is not None else None
    return Shape(kind="map", items=_shape(info.value_type), keys=named, min_length=low, max_length=high)


def _annotated(info: inspect.Metadata) -> Shape:
    shape = _shape(info.type)
    extra = _annotations(info)
    changes = {key: extra[key] for key in _NOTED if key in extra}
    return msgspec.structs.replace(shape, **changes) if changes else shape


def _union(info: inspect.UnionType) -> Shape:
    shapes = [_shape(one) for one in info.types if not isinstance(one, inspect.NoneType)]
    kinds = {shape.kind for shape in shapes}
    if len(shapes) == 1:
        return shapes[0]
    if kinds == {"integer", "string"}:
        return Shape(kind="int-or-string")
    if kinds == {"integer", "number"}:
        return Shape(kind="number")
    raise UnsupportedType(f"{info} has no structural schema")


def _object(info: inspect.StructType) -> Shape:
    model = info.cls
    low, high = getattr(model, "PROPERTIES", (0, None))
    return Shape(
        kind="object",
        fields=tuple(
            Field(field.encode_name, _shape(field.type), field.required, _default(field))
            for field in info.fields
        ),
        min_length=low or None,
        max_length=high,
        rules=getattr(model, "RULES", ()),
        transitions=getattr(model, "TRANSITIONS", ()),
        atomic=getattr(model, "ATOMIC", False),
        model=model,
    )


def _default(field: inspect.Field) -> Callable[[], Json] | None:
    """The CRD's default; see `Model` for how a model declares it."""
    marked = _default_mark(field.type)
    if marked is False:
        return None
    factory = field.default_factory
    if isinstance(factory, type) and issubclass(factory, Model):
        inner = [(one.name, one.default) for one in shape_of(factory).fields if one.default is not None]
        return lambda: {name: default() for name, default in inner}
    value = field.default
    if value is msgspec.NODEFAULT or isinstance(value, Model) or not (value or marked):
        return None
    return lambda: value


def _default_mark(info: inspect.Type) -> bool | None:
    """True for `Defaulted`, False for `Assumed`, None for neither."""
    while isinstance(info, inspect.Metadata):
        notes = _annotations(info)
        if "defaulted" in notes:
            return bool(notes["defaulted"])
        info = info.type
    return None


def _annotations(info: Json) -> Mapping[str, Json]:
    """The `extra` of the Metas of an annotation, which msgspec itself does not interpret."""
    return {**(info.extra or {}), **(info.extra_json_schema or {})}
