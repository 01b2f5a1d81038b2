"""Methods of Go's types: functions whose first parameter is what they are called on."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from syncret.daemon.core.templating.functions.contract import Context, Function, FunctionTable, table
from syncret.daemon.core.templating.values import NO_VALUE, Value


def methods(functions: Mapping[str, Callable[..., Value]]) -> FunctionTable:
    """The declarations of methods. Behind a Context, if they take one, stands the receiver."""
    return table(functions)


def bound(declared: FunctionTable, name: str, receiver: Value) -> Value:
    """The method of this receiver as templates call it; NO_VALUE if there is none of that name."""
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
