"""Templates of an ExternalSecret: Go templates with all functions of the External Secrets Operator."""

from collections.abc import Callable, Mapping
from typing import Final

from syncret.daemon.core.templating.functions.contract import Context, Function, FunctionTable
from syncret.daemon.core.templating.functions.crypto import (
    certificates,
    chains,
    keys,
    passwords,
    pem,
    pkcs12,
    random,
)
from syncret.daemon.core.templating.functions.data import (
    comparison,
    dicts,
    json_text,
    lists,
    numbers,
    semver,
    urls,
    yaml_write,
)
from syncret.daemon.core.templating.functions.text import casing, encoding, layout, naming, regex, strings
from syncret.daemon.core.templating.functions.time import dates
from syncret.daemon.core.templating.golang.errors import TemplateError
from syncret.daemon.core.templating.golang.template import DELIMITERS, Functions, Template
from syncret.daemon.core.templating.golang.types import STRING, STRING_MAP, map_of
from syncret.daemon.core.templating.golang.values import TypedMap, string_map
from syncret.providers.errors import Malformed, OverBudget
from syncret.providers.work import Work

__all__ = [
    "ALL",
    "FUNCTIONS",
    "Context",
    "TemplateError",
    "parse",
    "render",
    "request",
    "string_data",
    "transform",
]

_FAMILIES: Final = (
    casing,
    certificates,
    chains,
    dates,
    comparison,
    dicts,
    encoding,
    json_text,
    yaml_write,
    keys,
    lists,
    naming,
    numbers,
    passwords,
    pem,
    pkcs12,
    random,
    regex,
    semver,
    strings,
    layout,
    urls,
)


def _all() -> dict[str, Function]:
    functions: dict[str, Function] = {}
    for family in _FAMILIES:
        functions |= family.FUNCTIONS
    return functions


ALL: Final[FunctionTable] = _all()
"""ESO's additions to Go's functions: sprig's, except those that read the environment, and its own."""

FUNCTIONS: Final = Functions(ALL)


def parse(name: str, text: str, work: Work, delims: tuple[str, str] = DELIMITERS) -> Template:
    """Parse a template, or take it from the cache. Raises TemplateError, and OverBudget."""
    return Template.parse(name, text, work, FUNCTIONS, delims)


def render(
    name: str,
    text: str,
    data: Mapping[str, bytes],
    context: Context,
    work: Work,
    delims: tuple[str, str] = DELIMITERS,
) -> bytes:
    """Render the template of one key; a missing key of the data is an error. Raises Malformed.

    What it takes is paid from the work, and as much of it as belongs to templates from their budget.
    """
    problem = f"unable to execute template at key {name}"
    try:
        parsed = parse(name, text, work, delims)
    except TemplateError as error:
        raise _failed(f"unable to parse template at key {name}", error) from None
    except OverBudget as error:
        raise error.within(problem) from None
    try:
        with context.budget.out_of(work):
            return parsed.render(string_data(data), context, missing_key="error")
    except TemplateError as error:
        raise _failed(problem, error) from None
    except OverBudget as error:
        raise error.within(problem) from None


def request(text: str, data: Mapping[str, Mapping[str, str]], context: Context, work: Work) -> str:
    """Render a template of a request; a missing key of the data prints as in Go. Raises Malformed."""
    problem = "the template of a request cannot be rendered"
    dot = TypedMap(map_of(STRING, STRING_MAP), {name: string_map(values) for name, values in data.items()})
    try:
        parsed = parse("request", text, work)
        with context.budget.out_of(work):
            return parsed.render(dot, context).decode("utf-8", "surrogateescape")
    except TemplateError as error:
        raise _failed(problem, error) from None
    except OverBudget as error:
        raise error.within(problem) from None


def transform(text: str, context: Context, work: Work) -> Callable[[str], str]:
    """A template over the name of a key, `.value`. Raises Malformed if it does not parse."""
    try:
        parsed = parse("transform", text, work)
    except TemplateError as error:
        raise _failed("failed to parse template", error) from None

    def rename(key: str) -> str:
        try:
            with context.budget.out_of(work):
                return parsed.render(string_data({"value": key.encode()}), context).decode()
        except TemplateError as error:
            raise _failed("failed to execute template", error) from None
        except OverBudget as error:
            raise error.within("failed to execute template") from None
        except UnicodeDecodeError:
            raise Malformed("the template makes a key that is not text") from None

    return rename


def _failed(problem: str, error: TemplateError) -> Malformed:
    failed = Malformed(f"{problem}: {error}", hint=error.hint)
    failed.text_line = error.line
    return failed


def string_data(data: Mapping[str, bytes]) -> TypedMap:
    """The data as a map[string]string; bytes that are not UTF-8 are kept."""
    return string_map({key: value.decode("utf-8", "surrogateescape") for key, value in data.items()})
