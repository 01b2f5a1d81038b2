"""The types of values: typeOf, kindOf and their kin; deepEqual."""

from typing import Final

from syncret.daemon.core.templating.functions.contract import FunctionTable, table
from syncret.daemon.core.templating.functions.equality import deep_equal
from syncret.daemon.core.templating.values import Value, type_of


def type_name(value: Value) -> str:
    return "<nil>" if value is None else type_of(value).name


def type_is(target: str, value: Value) -> bool:
    return target == type_name(value)


def type_is_like(target: str, value: Value) -> bool:
    return type_name(value) in {target, f"*{target}"}


def kind_name(value: Value) -> str:
    return "invalid" if value is None else type_of(value).kind.value


def kind_is(target: str, value: Value) -> bool:
    return target == kind_name(value)


FUNCTIONS: Final[FunctionTable] = table(
    {
        "deepEqual": deep_equal,
        "kindIs": kind_is,
        "kindOf": kind_name,
        "typeIs": type_is,
        "typeIsLike": type_is_like,
        "typeOf": type_name,
    }
)
