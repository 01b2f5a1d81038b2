"""Templates of an ExternalSecret: Go's language with all functions of the External Secrets Operator."""

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
    """The template, from the cache if it was parsed before. Raises TemplateError."""
    return Template.parse(name, text, FUNCTIONS)


def render(name: str, text: str, data: Mapping[str, bytes], context: Context) -> bytes:
    """What the template of one key writes; a key that the data lacks is an error. Raises Malformed."""
    try:
        parsed = parse(name, text)
    except TemplateError as error:
        raise Malformed(f"unable to parse template at key {name}: {error}") from None
    try:
        return parsed.render(string_data(data), context, missing_key="error")
    except TemplateError as error:
        raise Malformed(f"unable to execute template at key {name}: {error}") from None


def request(text: str, data: Mapping[str, Mapping[str, str]], context: Context) -> str:
    """What a template of a request writes; a key that the data lacks prints as Go does. Raises Malformed."""
    dot = TypedMap(map_of(STRING, STRING_MAP), {name: string_map(values) for name, values in data.items()})
    try:
        return parse("request", text).render(dot, context).decode("utf-8", "surrogateescape")
    except TemplateError as error:
        raise Malformed(f"the template of a request cannot be rendered: {error}") from None


def string_data(data: Mapping[str, bytes]) -> TypedMap:
    """The data as templates see it, a map[string]string; bytes that are not text pass through unchanged."""
    return string_map({key: value.decode("utf-8", "surrogateescape") for key, value in data.items()})
