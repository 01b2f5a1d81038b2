"""Declares the functions and methods of templates: the Python signature says what the Go signature is.

    def trim_suffix(suffix: str, text: str) -> str: ...
    def add(*numbers: Value) -> Int64: ...
    def rand_alpha(context: Context, count: int) -> str: ...

    FUNCTIONS = table({"trimSuffix": trim_suffix, "add": add, "randAlpha": rand_alpha})

The annotation of a parameter names its Go type. The caller checks arguments as Go's reflect does: an argument
of another type is an error before the function runs ("wrong type for value; expected int; got int64": nothing
is converted, not even int64 to int), and a constant such as `3` takes the parameter's type.

    annotation              Go                       receives
    Value (object)          interface{}              anything; None for nil and for a missing value
    str, bool, int, float   string, bool, int, float64
    bytes                   []byte                   None where nil is passed: annotate `bytes | None`
    Int64, Uint32, ...      int64, uint32, ...
    dict[str, Value]        map[string]interface{}   None likewise: annotate `dict[str, Value] | None`
    list[Value]             []interface{}            None likewise
    Annotated[str, TYPE]    any other Go type (a `gotypes.Type`), a named string for example
    *rest: T                ...T
    Context, first only     nothing: the clock, the randomness and the budget of the rendering

The result is a Go value, as `values` lists them; a plain int must fit int64 (`wrapped` ensures it). A result
that is joined from parts may contain the surrogates of one character separately: the caller joins them. Where
Go returns an error or panics, raise FunctionError with Go's message, without any argument in it; any other
exception is a bug. Arguments are never changed, except the map of `set`, `unset`, `merge` and similar
functions.

The caller charges the budget for each call and for the size of its result. A function whose result or work
can be much larger than its arguments charges before it starts: `context.budget.make(bytes)`,
`context.budget.step(units)`. Lists and maps can contain one another many times: charge for each element
visited.

`printf.sprint(value, context.budget)` is what fmt writes for a value (`%v`).

A method is a function whose first parameter (after the Context) is its receiver.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from types import NoneType
from typing import Annotated, Any, Final, TypeAlias, cast, get_args, get_origin, get_type_hints

from syncret.daemon.core.templating.golang import types, values
from syncret.daemon.core.templating.golang.budget import Budget
from syncret.daemon.core.templating.golang.types import Type
from syncret.daemon.core.templating.golang.values import NO_VALUE, Value


@dataclass(frozen=True, slots=True)
class Context:
    """The inputs of a rendering besides its data.

    `now` is aware; its zone is the process's local zone. `random` returns that many unpredictable bytes.
    """

    now: datetime
    random: Callable[[int], bytes]
    budget: Budget = field(default_factory=Budget)


@dataclass(frozen=True, slots=True)
class Function:
    """A function or a bound method with its Go signature."""

    name: str
    call: Callable[..., Value]
    parameters: tuple[Type, ...] = ()
    variadic: Type | None = None
    wants_context: bool = False
    go_type: Type = types.FUNC


FunctionTable: TypeAlias = Mapping[str, Function]

_TYPES: Final[dict[object, Type]] = {
    object: types.ANY,
    str: types.STRING,
    bool: types.BOOL,
    int: types.INT,
    float: types.FLOAT64,
    bytes: types.BYTES,
    values.Int32: types.INT32,
    values.Int64: types.INT64,
    values.Uint: types.UINT,
    values.Uint8: types.UINT8,
    values.Uint32: types.UINT32,
    values.Uint64: types.UINT64,
    dict[str, object]: types.MAP,
    list[object]: types.LIST,
}


def table(functions: Mapping[str, Callable[..., Value]]) -> dict[str, Function]:
    """Declare functions, by the names that templates use."""
    return {name: declare(name, call) for name, call in functions.items()}


def declare(name: str, call: Callable[..., Value]) -> Function:
    """Declare one function from its annotations."""
    hints = get_type_hints(call, include_extras=True)
    parameters = list(inspect.signature(call).parameters.values())
    wants_context = bool(parameters) and hints.get(parameters[0].name) is Context
    fixed: list[Type] = []
    variadic: Type | None = None
    for parameter in parameters[wants_context:]:
        go_type = _go_type(hints[parameter.name])
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            variadic = go_type
        else:
            fixed.append(go_type)
    return Function(name, call, tuple(fixed), variadic, wants_context)


def _go_type(annotation: Any) -> Type:  # noqa: ANN401 (an annotation can be any object)
    if get_origin(annotation) is Annotated:
        named = [extra for extra in get_args(annotation)[1:] if isinstance(extra, Type)]
        return named[0]
    arguments = get_args(annotation)
    if NoneType in arguments:
        (annotation,) = (each for each in arguments if each is not NoneType)
    return _TYPES[cast("object", annotation)]


def methods(functions: Mapping[str, Callable[..., Value]]) -> FunctionTable:
    """Declare methods. The receiver is their first parameter after the Context, if they take one."""
    return table(functions)


def bound(declared: FunctionTable, name: str, receiver: Value) -> Value:
    """The method of that name, bound to its receiver; NO_VALUE if there is none."""
    method = declared.get(name)
    if method is None:
        return NO_VALUE
    return replace(method, parameters=method.parameters[1:], call=_bound_call(method, receiver))


def _bound_call(method: Function, receiver: Value) -> Callable[..., Value]:
    if not method.wants_context:
        return partial(method.call, receiver)

    def call(context: Context, *arguments: Any) -> Value:  # noqa: ANN401 (of whatever types the method takes)
        return method.call(context, receiver, *arguments)

    return call
