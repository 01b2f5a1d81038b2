"""All functions of templates except Go's predefined ones."""

from typing import Final

from syncret.daemon.core.templating.functions.contract import Function, FunctionTable
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
