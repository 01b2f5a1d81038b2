"""Templates of an ExternalSecret: Go templates with all functions of the External Secrets Operator."""

from collections.abc import Mapping
from typing import Final

from syncret.daemon.core.templating.functions.contract import Context
from syncret.daemon.core.templating.functions.table import ALL
from syncret.daemon.core.templating.golang.errors import TemplateError
from syncret.daemon.core.templating.golang.template import Functions, Template
from syncret.daemon.core.templating.golang.types import STRING, STRING_MAP, map_of
from syncret.daemon.core.templating.golang.values import TypedMap, string_map
from syncret.providers.errors import Malformed

__all__ = ["FUNCTIONS", "Context", "TemplateError", "parse", "render", "request", "string_data"]

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
