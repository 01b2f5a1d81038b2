"""How a function of templates is declared: its Python signature is its Go signature.

    def trim_suffix(suffix: str, text: str) -> str: ...
    def add(*numbers: Value) -> Int64: ...
    def rand_alpha(context: Context, count: int) -> str: ...

    FUNCTIONS = table({"trimSuffix": trim_suffix, "add": add, "randAlpha": rand_alpha})

Each parameter's annotation names the Go type, and the caller gives what Go's reflect would: an argument of
any other type is refused before the function runs ("wrong type for value; expected int; got int64": nothing
is converted, not even int64 to int), and a constant such as `3` takes the type that is wanted.

    annotation              Go                       receives
    Value (object)          interface{}              anything; None for nil and for what is missing
    str, bool, int, float   string, bool, int, float64
    bytes                   []byte                   None where nil is passed: annotate `bytes | None`
    Int64, Uint32, ...      int64, uint32, ...
    dict[str, Value]        map[string]interface{}   None likewise: annotate `dict[str, Value] | None`
    list[Value]             []interface{}            None likewise
    Annotated[str, TYPE]    any other Go type (a `gotypes.Type`), a named string for example
    *rest: T                ...T
    Context, first only     nothing: the rendering's own clock, chance and budget

It returns a Go value as `values` lists them; a plain int result must fit int64 (`wrapped` makes it so). A
string made of parts may hold the surrogates of one character apart: the engine joins them. Where Go returns
an error or panics, raise FunctionError with Go's message in substance and no argument in it; anything else
that escapes is a fault of the function. Arguments are never changed, except the map of `set`, `unset`,
`merge` and their like.

The engine pays for each call and for the size of its result. A function whose result, or whose work, can be
much larger than its arguments pays first: `context.budget.allocate(bytes)`, `context.budget.charge(units)`.
Mind that lists and maps may hold one another many times over: what walks through them pays per element.

What fmt writes for a value (`%v`) is `printf.sprint(value, context.budget)`.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import NoneType
from typing import Annotated, Any, Final, TypeAlias, cast, get_args, get_origin, get_type_hints

from syncret.daemon.core.templating import gotypes, values
from syncret.daemon.core.templating.budget import Budget
from syncret.daemon.core.templating.gotypes import Type
from syncret.daemon.core.templating.values import Value


@dataclass(frozen=True, slots=True)
class Context:
    """What a rendering has of the world.

    `now` is aware; its zone is the process's local zone. `random` gives that many unpredictable bytes.
    """

    now: datetime
    random: Callable[[int], bytes]
    budget: Budget = field(default_factory=Budget)


@dataclass(frozen=True, slots=True)
class Function:
    """A function as the evaluator calls it."""

    name: str
    call: Callable[..., Value]
    parameters: tuple[Type, ...] = ()
    variadic: Type | None = None
    wants_context: bool = False
    go_type: Type = gotypes.FUNC


FunctionTable: TypeAlias = Mapping[str, Function]

_TYPES: Final[dict[object, Type]] = {
    object: gotypes.ANY,
    str: gotypes.STRING,
    bool: gotypes.BOOL,
    int: gotypes.INT,
    float: gotypes.FLOAT64,
    bytes: gotypes.BYTES,
    values.Int32: gotypes.INT32,
    values.Int64: gotypes.INT64,
    values.Uint: gotypes.UINT,
    values.Uint8: gotypes.UINT8,
    values.Uint32: gotypes.UINT32,
    values.Uint64: gotypes.UINT64,
    dict[str, object]: gotypes.MAP,
    list[object]: gotypes.LIST,
}


def table(functions: Mapping[str, Callable[..., Value]]) -> dict[str, Function]:
    """The declarations of some functions, by the name that templates call them."""
    return {name: declare(name, call) for name, call in functions.items()}


def declare(name: str, call: Callable[..., Value]) -> Function:
    """One function's declaration, read from its annotations."""
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
