"""Compiles calls of functions and methods: checks the arguments by Go's rules, and charges the budget.

A value must have the parameter's type; a constant must be representable in it.
"""

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from syncret.daemon.core.templating.functions.contract import Function
from syncret.daemon.core.templating.golang import comparison, nodes, types
from syncret.daemon.core.templating.golang.builtins import BUILTINS
from syncret.daemon.core.templating.golang.errors import FunctionError
from syncret.daemon.core.templating.golang.execution import Expression, Run
from syncret.daemon.core.templating.golang.types import ANY, SIGNED, UNSIGNED, VALUE, Kind, Type
from syncret.daemon.core.templating.golang.values import (
    NO_VALUE,
    Value,
    canonical,
    integer_of,
    size_of,
    type_of,
)

Constant = nodes.Bool | nodes.Number | nodes.String

ABSENT: Final = object()
"""Passed instead of the result of the previous command of a pipeline, if there is none."""

Compile: TypeAlias = Callable[[nodes.Operand], Expression]
Call: TypeAlias = Callable[[Run, Value, object], Value]
"""Takes the dot and the result of the previous command, or ABSENT."""

_COST: Final = 5
_CHARACTERS_SHIFT: Final = 8
"""A function costs a unit for each 256 characters (2 to the 8th) of its arguments."""

_EXPECTED: Final = {
    **dict.fromkeys(SIGNED, "integer"),
    **dict.fromkeys(UNSIGNED, "unsigned integer"),
    Kind.FLOAT64: "float",
    Kind.COMPLEX128: "complex",
}


def compile_call(function: Function, given: Sequence[nodes.Operand], compile_operand: Compile) -> Call:
    """Compile a call. The result of the previous command of the pipeline is its last argument."""
    if function.name in {"and", "or"}:
        expressions = [compile_argument(node, VALUE, compile_operand) for node in given]
        return _compile_and_or(function.name == "or", expressions)
    fixed = function.parameters
    types = [fixed[i] if i < len(fixed) else function.variadic or VALUE for i in range(len(given) + 1)]
    expressions = [
        compile_argument(node, wanted, compile_operand) for node, wanted in zip(given, types, strict=False)
    ]
    if function is BUILTINS["slice"]:
        expressions[1:] = map(_compile_slice_index, given[1:], expressions[1:])
    invoke, last, with_context = function.call, types[-1], function.wants_context

    def run_call(run: Run, dot: Value, final: object) -> Value:
        count = len(expressions) + (final is not ABSENT)
        if count < len(fixed) or (function.variadic is None and count > len(fixed)):
            least = "at least " if function.variadic is not None else ""
            raise FunctionError(f"wrong number of args: want {least}{len(fixed)} got {count}")
        values = [expression(run, dot) for expression in expressions]
        if final is not ABSENT:
            values.append(validate_type(final, last))
        run.budget.step(_COST + sum(len(each) >> _CHARACTERS_SHIFT for each in values if type(each) is str))
        result = invoke(run.context, *values) if with_context else invoke(*values)
        if type(result) is str:
            result = canonical(result)
        size = size_of(result)
        if size:
            run.budget.make(size)
        return result

    return run_call


def _compile_slice_index(node: nodes.Operand, expression: Expression) -> Expression:
    """An index of Go's `slice`, which does not unwrap the interface{} that a field of an untyped map is."""
    if not isinstance(node, nodes.Field | nodes.Chain) and not (
        isinstance(node, nodes.Variable) and node.fields
    ):
        return expression

    def run_bound(run: Run, dot: Value) -> Value:
        if expression(run, dot) is NO_VALUE:
            return NO_VALUE
        raise FunctionError(f"cannot index slice/array with type {ANY}")

    return run_bound


def _compile_and_or(stops_at: bool, expressions: list[Expression]) -> Call:  # noqa: FBT001 (`or` stops at true)
    def run_call(run: Run, dot: Value, final: object) -> Value:
        if not expressions and final is ABSENT:
            raise FunctionError("wrong number of args: want at least 1 got 0")
        value: Value = None
        for expression in expressions:
            value = expression(run, dot)
            if comparison.truth(value) == stops_at:
                return value
        return value if final is ABSENT else final

    return run_call


def compile_argument(node: nodes.Operand, wanted: Type, compile_operand: Compile) -> Expression:
    """Compile an argument. A constant of a wrong type is an error of the call, as in Go."""
    if isinstance(node, nodes.Bool | nodes.Number | nodes.String):
        try:
            value = constant_argument(node, wanted)
        except FunctionError as error:
            return _failing(error.message)
        return lambda _run, _dot: value
    if isinstance(node, nodes.Nil):
        return lambda _run, _dot: nil_argument(wanted)
    expression = compile_operand(node)
    if wanted is VALUE:
        return expression
    return lambda run, dot: validate_type(expression(run, dot), wanted)


def _failing(message: str) -> Expression:
    def fail(_run: Run, _dot: Value) -> Value:
        raise FunctionError(message)

    return fail


def validate_type(value: Value, wanted: Type) -> Value:
    """The value as an argument for a parameter of this type. Raises FunctionError for another type."""
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


def nil_argument(wanted: Type) -> Value:
    """The literal `nil` as an argument."""
    if not wanted.nillable:
        raise FunctionError(f"cannot assign nil to {wanted}")
    return NO_VALUE if wanted is VALUE else None


def constant_argument(node: Constant, wanted: Type) -> Value:
    """A constant as an argument for a parameter of this type."""
    if wanted in {ANY, VALUE}:
        return ideal_constant(node)
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
    if kind in {types.FLOAT64.kind, types.FLOAT32.kind}:
        return node.floating
    return node.imaginary if kind is Kind.COMPLEX128 else None


def ideal_constant(constant: Constant) -> Value:
    """A constant without a type that is required: its spelling decides, as in Go's idealConstant."""
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
