"""All functions that a template can call, except Go's own."""

from typing import Final

from syncret.daemon.core.templating.functions import (
    casing,
    certificates,
    chains,
    ciphers,
    dates,
    defaults,
    dicts,
    encoding,
    hashing,
    json_text,
    json_yaml,
    jwk,
    keys,
    lists,
    merging,
    naming,
    numbers,
    passwords,
    paths,
    pem,
    pkcs12,
    random,
    regex,
    rsa,
    semver,
    sequences,
    splitting,
    strings,
    text_layout,
    text_of_values,
    types,
    urls,
)
from syncret.daemon.core.templating.functions.contract import Function, FunctionTable

_FAMILIES: Final = (
    casing,
    certificates,
    chains,
    ciphers,
    dates,
    defaults,
    dicts,
    encoding,
    hashing,
    json_text,
    json_yaml,
    jwk,
    keys,
    lists,
    merging,
    naming,
    numbers,
    passwords,
    paths,
    pem,
    pkcs12,
    random,
    regex,
    rsa,
    semver,
    sequences,
    splitting,
    strings,
    text_layout,
    text_of_values,
    types,
    urls,
)


def _all() -> dict[str, Function]:
    functions: dict[str, Function] = {}
    for family in _FAMILIES:
        functions |= family.FUNCTIONS
    return functions


ALL: Final[FunctionTable] = _all()
"""What ESO adds to Go's functions: sprig's, without those that read the machine it runs on, and its own."""
