"""Reads tags: `@env(NAME)`, `@file(PATH, trim=true)`, `@secret(source=eso, path="...", key=...)`.

Arguments are those of CUE's attributes: separated by commas, bare or in double quotes, positional or named.
"""

import json
import re
from collections.abc import Mapping
from typing import Final, cast

from syncret.config.spelling import allowed_values_hint, did_you_mean
from syncret.daemon.release.model import Tag, TagKind

_TAG: Final = re.compile(r"@([A-Za-z_][A-Za-z0-9_]*)\((.*)\)", re.DOTALL)
_ARGUMENT: Final = re.compile(
    r'\s*+(?:([A-Za-z_][A-Za-z0-9_-]*+)\s*+=\s*+)?+("(?:[^"\\]|\\.)*+"|[^",()=]*+)\s*+(?:,|\Z)', re.DOTALL
)
_NAMED: Final[Mapping[TagKind, tuple[str, ...]]] = {
    "env": (),
    "file": ("trim",),
    "secret": ("source", "store", "path", "key"),
}
_POSITIONAL: Final[Mapping[TagKind, str]] = {"env": "the name of a variable", "file": "the path of a file"}
_SECRET: Final = 'write @secret(source=eso, path="...", key=...)'
_SOURCES: Final = ("eso", "k8s")


class TagError(Exception):
    """The text is a tag that cannot be used. The message does not quote it."""

    def __init__(self, message: str, hint: str) -> None:
        self.message = message
        self.hint = hint
        super().__init__(message)


def read_tag(text: str) -> Tag | None:
    """The tag that a whole string is; None if it is none. Raises TagError."""
    found = _TAG.fullmatch(text)
    if found is None:
        return None
    if found[1] not in _NAMED:
        raise TagError(f"there is no tag @{found[1]}", allowed_values_hint(found[1], list(_NAMED)))
    kind = cast("TagKind", found[1])
    positional, named = _arguments(kind, found[2])
    if kind == "secret":
        return _secret(positional, named)
    if len(positional) != 1 or not positional[0]:
        raise TagError(f"@{kind} takes {_POSITIONAL[kind]}", f'write @{kind}("...")')
    trim = named.get("trim", "false")
    if trim not in {"true", "false"}:
        raise TagError("trim is true or false", "write trim=true")
    if "\0" in positional[0]:
        raise TagError("the argument has a NUL", "remove it")
    return Tag(kind, positional[0], trim=trim == "true")


def _arguments(kind: TagKind, text: str) -> tuple[list[str], dict[str, str]]:
    positional: list[str] = []
    named: dict[str, str] = {}
    place = 0
    while place < len(text) and text[place:].strip():
        found = _ARGUMENT.match(text, place)
        if found is None:
            hint = "separate them with commas, and put into double quotes what holds , = ( or )"
            raise TagError(f"the arguments of @{kind} cannot be read", hint)
        name, value = found[1], _unquoted(found[2])
        if name is None:
            positional.append(value)
        elif name not in _NAMED[kind]:
            hint = did_you_mean(name, _NAMED[kind]) or "remove it"
            raise TagError(f"@{kind} has no argument {name}", hint)
        elif name in named:
            raise TagError(f"@{kind} has {name} twice", "write it once")
        else:
            named[name] = value
        place = found.end()
    return positional, named


def _unquoted(text: str) -> str:
    if not text.startswith('"'):
        return text.strip()
    try:
        value = json.loads(text, strict=False)
    except ValueError:
        raise TagError("an escape in double quotes cannot be read", 'write \\" or \\\\') from None
    return str(value)


def _secret(positional: list[str], named: Mapping[str, str]) -> Tag:
    if positional:
        raise TagError("@secret takes named arguments alone", _SECRET)
    source = named.get("source", "eso" if "store" in named else "")
    if source not in _SOURCES:
        raise TagError(f"source is {' or '.join(_SOURCES)}", _SECRET)
    if source == "k8s" and "store" in named:
        raise TagError("a store is not asked for source=k8s", "remove store, or write source=eso")
    for name in ("path", "key"):
        if not named.get(name):
            raise TagError(f"@secret lacks {name}=", _SECRET)
    if named.get("store") == "":
        raise TagError("store is empty", "name a store, or leave it out for the platform's")
    return Tag("secret", source=source, store=named.get("store", ""), path=named["path"], key=named["key"])
