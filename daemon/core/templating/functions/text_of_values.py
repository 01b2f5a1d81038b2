"""Values as text: toString, quote, squote, cat; and `strval`, which the other families use."""

from typing import Final

from syncret.daemon.core.templating import printf
from syncret.daemon.core.templating.functions.contract import Context, FunctionTable, table
from syncret.daemon.core.templating.functions.text import normal
from syncret.daemon.core.templating.quoting import quote as go_quote
from syncret.daemon.core.templating.values import GoObject, NamedInteger, Value, text_of


def strval(context: Context, value: Value) -> str:
    """A string as it is, bytes as a string, anything else as Go prints it."""
    match value:
        case str():
            return value
        case bytes():
            return text_of(value)
        case GoObject() | NamedInteger():
            return value.text()
        case _:
            return printf.sprint(value, context.budget)


def quote(context: Context, *values: Value) -> str:
    """Each in double quotes and escaped; nil is left out."""
    return " ".join(go_quote(normal(strval(context, value))) for value in values if value is not None)


def squote(context: Context, *values: Value) -> str:
    """Each in single quotes, nothing escaped; nil is left out."""
    return " ".join(f"'{printf.sprint(value, context.budget)}'" for value in values if value is not None)


def cat(context: Context, *values: Value) -> str:
    return " ".join(printf.sprint(value, context.budget) for value in values if value is not None)


FUNCTIONS: Final[FunctionTable] = table(
    {
        "cat": cat,
        "quote": quote,
        "squote": squote,
        "toString": strval,
    }
)
