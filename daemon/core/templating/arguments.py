"""Checks arguments by Go's rules: a value must have the parameter's type, a constant must fit it."""

from typing import Final

from syncret.daemon.core.templating import gotypes, nodes
from syncret.daemon.core.templating.errors import FunctionError
from syncret.daemon.core.templating.gotypes import ANY, SIGNED, UNSIGNED, VALUE, Kind, Type
from syncret.daemon.core.templating.values import NO_VALUE, Value, integer_of, type_of

Constant = nodes.Bool | nodes.Number | nodes.String


def passed(value: Value, wanted: Type) -> Value:
    """The value, as a parameter of this type receives it."""
    if wanted is ANY:
        return None if value is NO_VALUE else value
    if wanted is VALUE:
        return value
    if value is NO_VALUE:
        if wanted.nillable:
            return None
        raise FunctionError(f"invalid value; expected {wanted}")
    if value is None or type_of(value) != wanted:
        raise FunctionError(f"wrong type for value; expected {wanted}; got {type_of(value)}")
    return value


def nil(wanted: Type) -> Value:
    """The word `nil` as an argument."""
    if not wanted.nillable:
        raise FunctionError(f"cannot assign nil to {wanted}")
    return NO_VALUE if wanted is VALUE else None


def ideal(constant: Constant) -> Value:
    """A constant where no type is wanted: its spelling decides."""
    if not isinstance(constant, nodes.Number):
        return constant.value
    if constant.imaginary is not None:
        return constant.imaginary
    text = constant.text
    spelt_as_float = text[0] != "'" and not _is_hexadecimal(text) and not set(".eEpP").isdisjoint(text)
    if constant.floating is not None and spelt_as_float:
        return constant.floating
    if constant.signed is None:
        raise FunctionError("a constant overflows int")
    return constant.signed


def _is_hexadecimal(text: str) -> bool:
    return text[:2].lower() == "0x" and set("pP").isdisjoint(text)


def constant(node: Constant, wanted: Type) -> Value:
    """A constant as an argument."""
    if wanted in {ANY, VALUE}:
        return ideal(node)
    if isinstance(node, nodes.Number):
        value = _number(node, wanted.kind)
        if value is not None:
            return integer_of(wanted, value) if isinstance(value, int) else value
    elif wanted.kind is (Kind.STRING if isinstance(node, nodes.String) else Kind.BOOL):
        return node.value
    raise FunctionError(f"expected {_EXPECTED.get(wanted.kind, str(wanted))}")


def _number(node: nodes.Number, kind: Kind) -> int | float | complex | None:
    if kind in SIGNED:
        return node.signed
    if kind in UNSIGNED:
        return node.unsigned
    if kind in {gotypes.FLOAT64.kind, gotypes.FLOAT32.kind}:
        return node.floating
    return node.imaginary if kind is Kind.COMPLEX128 else None


_EXPECTED: Final = {
    **dict.fromkeys(SIGNED, "integer"),
    **dict.fromkeys(UNSIGNED, "unsigned integer"),
    Kind.FLOAT64: "float",
    Kind.COMPLEX128: "complex",
}
