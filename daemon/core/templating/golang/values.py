"""Go values in Python: which Python value represents which Go value, and its Go type.

    Go                      Python
    nil interface           None
    no value at all         NO_VALUE (a missing key; functions never see it, they get None)
    bool                    bool
    int                     int
    int64, uint8, ...       Int64, Uint8, ...: subclasses of int
    float64                 float
    complex128              complex
    string                  str; a byte that is not UTF-8 is a lone surrogate, as "surrogateescape" makes it
    []byte                  bytes
    []interface{}           list
    []string, []int, ...    TypedList
    map[string]interface{}  dict
    other maps              TypedMap
    everything else         GoObject: structs and pointers with fields, methods and a text of their own

Arithmetic on the integer classes returns a plain int: convert the result to its type again.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Final, Self, TypeAlias, cast, final

from syncret.daemon.core.templating.golang import types
from syncret.daemon.core.templating.golang.types import Kind, Type

Value: TypeAlias = object
"""Any row of the table above."""


@final
class NoValue:
    """The type of NO_VALUE."""

    def __repr__(self) -> str:
        return "NO_VALUE"


NO_VALUE: Final = NoValue()


def wrapped(number: int, kind: Kind = Kind.INT) -> int:
    """The number as Go's type stores it: it overflows by wrapping around."""
    bits = types.BITS[kind]
    number &= (1 << bits) - 1
    if kind in types.SIGNED and number >> (bits - 1):
        number -= 1 << bits
    return number


class Integer(int):
    """An integer of a type other than int. A number out of range wraps around, as in Go."""

    __slots__ = ()
    go_type: Type = types.INT64

    def __new__(cls, number: int = 0) -> Self:
        return super().__new__(cls, wrapped(number, cls.go_type.kind))


class Int32(Integer):
    __slots__ = ()
    go_type = types.INT32


class Int64(Integer):
    __slots__ = ()
    go_type = types.INT64


class Uint(Integer):
    __slots__ = ()
    go_type = types.UINT


class Uint8(Integer):
    __slots__ = ()
    go_type = types.UINT8


class Uint32(Integer):
    __slots__ = ()
    go_type = types.UINT32


class Uint64(Integer):
    __slots__ = ()
    go_type = types.UINT64


class NamedInteger(Integer, ABC):
    """An integer of a named type with a String method and others: a month, a duration."""

    __slots__ = ()

    @abstractmethod
    def text(self) -> str:
        """The result of Go's String()."""

    @abstractmethod
    def member(self, name: str) -> Value:
        """The method as a `functions.contract.Function`; NO_VALUE if none."""


class TypedList(list[Value]):
    """A slice that is not []interface{}. `is_nil`: the nil slice, which prints as the empty one."""

    __slots__ = ("go_type", "is_nil")

    def __init__(self, go_type: Type, items: Iterable[Value] = (), *, is_nil: bool = False) -> None:
        super().__init__(items)
        self.go_type = go_type
        self.is_nil = is_nil


class TypedMap(dict[Value, Value]):
    """A map that is not map[string]interface{}. `is_nil`: the nil map, which prints as the empty one."""

    __slots__ = ("go_type", "is_nil")

    def __init__(
        self, go_type: Type, items: Mapping[Value, Value] | None = None, *, is_nil: bool = False
    ) -> None:
        super().__init__(items or {})
        self.go_type = go_type
        self.is_nil = is_nil


def strings(items: Iterable[str]) -> TypedList:
    """A []string."""
    return TypedList(types.STRINGS, items)


def ints(items: Iterable[int]) -> TypedList:
    """A []int."""
    return TypedList(types.INTS, items)


def string_map(items: Mapping[str, str]) -> TypedMap:
    """A map[string]string."""
    return TypedMap(types.STRING_MAP, cast("Mapping[Value, Value]", items))


class GoObject(ABC):
    """A struct, or a pointer to one, that templates can hold: a time, a version, a certificate.

    Two objects are equal to `eq` if Python says so.
    """

    go_type: Type

    @abstractmethod
    def member(self, name: str) -> Value:
        """The exported field, or the method as a `functions.contract.Function`; NO_VALUE if none."""

    @abstractmethod
    def text(self) -> str:
        """How Go prints it: the result of String(), or the fields in braces."""

    def copied(self) -> "GoObject":
        """The copy that `deepCopy` makes, which lacks unexported fields."""
        return self


def text_of(data: bytes) -> str:
    """Bytes as a Go string."""
    return data.decode("utf-8", "surrogateescape")


def bytes_of(text: str) -> bytes:
    """The bytes of a Go string."""
    return text.encode("utf-8", "surrogateescape")


def canonical(text: str) -> str:
    """The string with the bytes of each character joined, so that equal Go strings are equal in Python."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text_of(bytes_of(text))
    return text


def size_of(value: Value) -> int:
    """The approximate size of a value in bytes, without that of its elements."""
    if isinstance(value, str | bytes):
        return len(value)
    return 16 * len(cast("list[Value]", value)) if isinstance(value, list | dict) else 0


def zero_of(go_type: Type) -> Value:
    """The zero value of a type, which a map returns for a missing key."""
    made = _ZEROS.get(go_type.kind)
    if made is not None:
        return made
    if go_type.kind in types.BITS:
        return _INTEGERS[go_type.kind]()
    if go_type.kind is Kind.SLICE:
        return TypedList(go_type, is_nil=True)
    return TypedMap(go_type, is_nil=True) if go_type.kind is Kind.MAP else None


_ZEROS: Final[dict[Kind, Value]] = {Kind.STRING: "", Kind.BOOL: False, Kind.FLOAT64: 0.0, Kind.COMPLEX128: 0j}
_INTEGERS: Final[dict[Kind, type[int]]] = {
    Kind.INT: int,
    Kind.INT32: Int32,
    Kind.INT64: Int64,
    Kind.UINT: Uint,
    Kind.UINT8: Uint8,
    Kind.UINT32: Uint32,
    Kind.UINT64: Uint64,
}


def integer_of(go_type: Type, number: int) -> int:
    """The number as an integer of that type."""
    return _INTEGERS[go_type.kind](number)


_TYPES: Final[dict[type, Type]] = {
    str: types.STRING,
    bool: types.BOOL,
    int: types.INT,
    float: types.FLOAT64,
    complex: types.COMPLEX128,
    bytes: types.BYTES,
    list: types.LIST,
    dict: types.MAP,
    type(None): types.ANY,
}


def type_of(value: Value) -> Type:
    """The Go type of a value other than NO_VALUE."""
    known = _TYPES.get(type(value))
    if known is None:
        known = cast("GoObject", value).go_type
    return known
