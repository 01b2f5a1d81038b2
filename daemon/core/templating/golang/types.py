"""The Go types of template values."""

from dataclasses import dataclass
from enum import Enum
from typing import Final


class Kind(Enum):
    """The kinds of Go's reflect package that template values can have; the value is Go's name."""

    BOOL = "bool"
    INT = "int"
    INT8 = "int8"
    INT16 = "int16"
    INT32 = "int32"
    INT64 = "int64"
    UINT = "uint"
    UINT8 = "uint8"
    UINT16 = "uint16"
    UINT32 = "uint32"
    UINT64 = "uint64"
    FLOAT32 = "float32"
    FLOAT64 = "float64"
    COMPLEX128 = "complex128"
    STRING = "string"
    INTERFACE = "interface"
    SLICE = "slice"
    MAP = "map"
    STRUCT = "struct"
    POINTER = "ptr"
    FUNC = "func"


@dataclass(frozen=True, slots=True)
class Type:
    """One Go type. `%T` and `typeOf` print its name; slices and maps have an `element`, maps a `key`."""

    name: str
    kind: Kind
    element: "Type | None" = None
    key: "Type | None" = None

    def __str__(self) -> str:
        return self.name

    @property
    def nillable(self) -> bool:
        """Whether nil is a valid argument for a parameter of this type."""
        return self.kind in _NILLABLE or self is VALUE


_NILLABLE: Final = frozenset({Kind.FUNC, Kind.INTERFACE, Kind.MAP, Kind.POINTER, Kind.SLICE})

SIGNED: Final = frozenset({Kind.INT, Kind.INT8, Kind.INT16, Kind.INT32, Kind.INT64})
UNSIGNED: Final = frozenset({Kind.UINT, Kind.UINT8, Kind.UINT16, Kind.UINT32, Kind.UINT64})
BITS: Final = {
    **{kind: int(kind.value[3:] or "64") for kind in SIGNED},
    **{kind: int(kind.value[4:] or "64") for kind in UNSIGNED},
}


def slice_of(element: Type) -> Type:
    return Type(f"[]{element.name}", Kind.SLICE, element)


def map_of(key: Type, element: Type) -> Type:
    return Type(f"map[{key.name}]{element.name}", Kind.MAP, element, key)


ANY: Final = Type("interface {}", Kind.INTERFACE)
VALUE: Final = Type("reflect.Value", Kind.STRUCT)
"""Only for Go's own functions: any value, or none at all."""

BOOL: Final = Type("bool", Kind.BOOL)
INT: Final = Type("int", Kind.INT)
INT32: Final = Type("int32", Kind.INT32)
INT64: Final = Type("int64", Kind.INT64)
UINT: Final = Type("uint", Kind.UINT)
UINT8: Final = Type("uint8", Kind.UINT8)
UINT32: Final = Type("uint32", Kind.UINT32)
UINT64: Final = Type("uint64", Kind.UINT64)
FLOAT32: Final = Type("float32", Kind.FLOAT32)
FLOAT64: Final = Type("float64", Kind.FLOAT64)
COMPLEX128: Final = Type("complex128", Kind.COMPLEX128)
STRING: Final = Type("string", Kind.STRING)
BYTES: Final = slice_of(UINT8)
LIST: Final = slice_of(ANY)
STRINGS: Final = slice_of(STRING)
INTS: Final = slice_of(INT)
MAP: Final = map_of(STRING, ANY)
STRING_MAP: Final = map_of(STRING, STRING)
FUNC: Final = Type("func", Kind.FUNC)
