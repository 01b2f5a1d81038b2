"""Warns about regular expressions for namespaces that match more than their author seems to expect."""

import re
from collections.abc import Iterator
from typing import Final

from syncret.config.errors import Problem, Severity

_TOKEN: Final = re.compile(r"\\Q.*?(?:\\E|\Z)|\\.|\[\^?\]?(?:\\.|[^]])*\]|.", re.DOTALL)
"""One part of a regular expression: quoted text, an escape, a class, or a character."""
_FLAGS: Final = re.compile(r"\(\?[a-zA-Z-]+\)")
_GROUP: Final = re.compile(r"\((?:\?(?:P?<\w+>|[a-zA-Z-]*:))?")
_BEGINS: Final = re.compile(r"\^|\\A|\.[*+]")
_ENDS: Final = re.compile(r".*(?:(?<!\\)(?:\\\\)*\$|\\z|(?<!\\)(?:\\\\)*\.[*+])\??", re.DOTALL)


def unanchored(pattern: str, path: str) -> Iterator[Problem]:
    """A warning about a regular expression that also matches names which only contain a match."""
    if _is_anchored(pattern):
        return
    inner = [_bare(each) for each in _alternatives(pattern)]
    whole = inner[0] if len(inner) == 1 else f"(?:{'|'.join(inner)})"
    yield Problem(
        path=path,
        message="the pattern is not anchored: it also matches namespaces that only contain a match",
        hint=f"write ^{whole}$, with .* where anything may stand",
        severity=Severity.WARNING,
    )


def _bare(pattern: str) -> str:
    """The pattern without the anchors that it has."""
    tokens = _TOKEN.findall(pattern)
    return "".join(tokens[tokens[:1] == ["^"] : len(tokens) - (tokens[-1:] == ["$"])])


def _is_anchored(pattern: str) -> bool:
    """Whether every alternative begins and ends with an anchor, or with what matches anything."""
    pattern = _without_group(_FLAGS.sub("", pattern, count=1) if _FLAGS.match(pattern) else pattern)
    found = _alternatives(pattern)
    if len(found) > 1:
        return all(map(_is_anchored, found))
    return bool(_BEGINS.match(pattern) and _ENDS.fullmatch(pattern))


def _without_group(pattern: str) -> str:
    """The content of the group, if the whole pattern is one."""
    opening = _GROUP.match(pattern)
    if opening is None or not pattern.endswith(")"):
        return pattern
    depth = 0
    for token in _TOKEN.finditer(pattern):
        depth += {"(": 1, ")": -1}.get(token[0], 0)
        if depth == 0 and token.end() < len(pattern):
            return pattern
    return pattern[opening.end() : -1] if depth == 0 else pattern


def _alternatives(pattern: str) -> list[str]:
    """The parts between the bars that are in no group."""
    parts, depth = [""], 0
    for token in _TOKEN.findall(pattern):
        depth += {"(": 1, ")": -1}.get(token, 0)
        if token == "|" and depth == 0:
            parts.append("")
        else:
            parts[-1] += token
    return parts
