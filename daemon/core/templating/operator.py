"""Templates of an ExternalSecret: Go templates with all functions of the External Secrets Operator."""

from collections.abc import Mapping
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
from syncret.daemon.core.templating.golang.template import Functions, Template
from syncret.daemon.core.templating.golang.types import STRING, STRING_MAP, map_of
from syncret.daemon.core.templating.golang.values import TypedMap, string_map
from syncret.providers.errors import Malformed

__all__ = ["ALL", "FUNCTIONS", "Context", "TemplateError", "parse", "render", "request", "string_data"]

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


def parse(name: str, text: str) -> Template:
    """Parse a template, or take it from the cache. Raises TemplateError."""
    return Template.parse(name, text, FUNCTIONS)


def render(name: str, text: str, data: Mapping[str, bytes], context: Context) -> bytes:
    """Render the template of one key; a missing key of the data is an error. Raises Malformed."""
    try:
        parsed = parse(name, text)
    except TemplateError as error:
        raise Malformed(f"unable to parse template at key {name}: {error}") from None
    try:
        return parsed.render(string_data(data), context, missing_key="error")
    except TemplateError as error:
        raise Malformed(f"unable to execute template at key {name}: {error}") from None


def request(text: str, data: Mapping[str, Mapping[str, str]], context: Context) -> str:
    """Render a template of a request; a missing key of the data prints as in Go. Raises Malformed."""
    dot = TypedMap(map_of(STRING, STRING_MAP), {name: string_map(values) for name, values in data.items()})
    try:
        return parse("request", text).render(dot, context).decode("utf-8", "surrogateescape")
    except TemplateError as error:
        raise Malformed(f"the template of a request cannot be rendered: {error}") from None


def string_data(data: Mapping[str, bytes]) -> TypedMap:
    """The data as a map[string]string; bytes that are not UTF-8 are kept."""
    return string_map({key: value.decode("utf-8", "surrogateescape") for key, value in data.items()})
