"""Writes an outline as a Helm template that gives the same document.

Lists and maps are written as YAML in which actions choose the lines; what depends on values within a line is
one expression, written as JSON, which is YAML on one line and needs no quoting.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from syncret.daemon.install.outline.nodes import (
    SPLICE,
    Absent,
    Call,
    Each,
    File,
    Function,
    Node,
    Outline,
    Refused,
    Root,
    Spliced,
    Value,
    When,
)

Names = Mapping[Root, str]
"""How each root is written."""

HELPERS: Final = """\
{{- /* One map of several; of a key that several have, the last counts. */}}
{{- define "syncret.merged" -}}
{{- $all := dict }}
{{- range $map := . }}{{- range $key, $value := $map }}{{- $_ := set $all $key $value }}{{- end }}{{- end }}
{{- toJson $all }}
{{- end }}

{{- /* A text as it is, anything else as JSON. */}}
{{- define "syncret.text" -}}
{{- if kindIs "string" . }}{{ . }}{{ else }}{{ toJson . }}{{ end -}}
{{- end }}
"""
"""What the expressions call."""

_IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PLAIN: Final = re.compile(r"[A-Za-z/][A-Za-z0-9_./-]*")
_WORDS: Final = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}
"""Texts that YAML might not read as texts."""
_STEP: Final = 2


def template(outlines: Sequence[Outline], names: Names) -> str:
    """Documents, each of which may be left out."""
    return "".join(f"{line}\n" for each in outlines for line in _documents(each, names))


def object_(outline: Mapping[str, Outline], names: Names) -> str:
    """The members of one map."""
    return "".join(f"{line}\n" for line in _members(outline, 0, names))


def _documents(outline: Outline, names: Names) -> Iterator[str]:
    match outline:
        case When():
            yield from _chosen(outline, lambda each: _documents(each, names), names)
        case Each():
            yield from _repeated(outline, lambda within: _documents(outline.body, within), names)
        case Mapping():
            yield "---"
            yield from _members(outline, 0, names)
        case _:
            yield "---"
            yield f"{{{{ toYaml {expression(outline, names)} }}}}"


def _chosen(when: When, write: Callable[[Outline], Iterator[str]], names: Names) -> Iterator[str]:
    test, then, otherwise = when.test, when.then, when.otherwise
    if isinstance(then, Absent):
        test, then, otherwise = Call("not", (test,)), otherwise, then
    yield f"{{{{- if {_bare(test, names)} }}}}"
    yield from write(then)
    if not isinstance(otherwise, Absent):
        yield "{{- else }}"
        yield from write(otherwise)
    yield "{{- end }}"


def _repeated(each: Each, write: Callable[[Names], Iterator[str]], names: Names) -> Iterator[str]:
    depth = sum(name.startswith("$value") for name in names.values())
    within = {**names, each.key: f"$key{depth}", each.value: f"$value{depth}"}
    yield f"{{{{- range {within[each.key]}, {within[each.value]} := {_bare(each.over, names)} }}}}"
    yield from write(within)
    yield "{{- end }}"


def _members(outline: Mapping[str, Outline], indent: int, names: Names) -> Iterator[str]:
    for name, entry in outline.items():
        if name == SPLICE:
            yield from _spliced(entry, indent, names)
        else:
            yield from _member(name, entry, indent, names)


def _spliced(entry: Outline, indent: int, names: Names) -> Iterator[str]:
    if isinstance(entry, When):
        yield from _chosen(entry, lambda each: _spliced(each, indent, names), names)
    elif isinstance(entry, Mapping):
        yield from _members(entry, indent, names)
    elif isinstance(entry, list | tuple):
        for each in entry:
            yield from _entry(each, indent, names)
    else:
        yield f"{{{{- with {_bare(entry, names)} }}}}"
        yield f"{{{{- toYaml . | nindent {indent} }}}}"
        yield "{{- end }}"


def _member(name: str, entry: Outline, indent: int, names: Names) -> Iterator[str]:
    start = f"{' ' * indent}{_scalar(name)}:"
    match entry:
        case When():
            yield from _chosen(entry, lambda each: _member(name, each, indent, names), names)
        case Mapping() if entry:
            yield start
            yield from _members(entry, indent + _STEP, names)
        case list() | tuple() if _lists(entry):
            joined = " ".join(f"({each} | default list)" for each in _spliced_lists(entry, names))
            yield f"{start} {{{{ toJson (concat {joined} | default list) }}}}"  # lines: nothing is null
        case list() | tuple() if entry:
            yield start
            for each in entry:
                yield from _entry(each, indent + _STEP, names)
        case _:
            yield f"{start} {_scalar(entry, names)}"


def _lists(entries: Sequence[Outline]) -> bool:
    """Whether it is made of other lists alone."""
    return bool(entries) and all(isinstance(each, Spliced) for each in entries)


def _spliced_lists(entries: Sequence[Outline], names: Names) -> Iterator[str]:
    return (expression(each.entries, names) for each in entries if isinstance(each, Spliced))


def _entry(entry: Outline, indent: int, names: Names) -> Iterator[str]:
    match entry:
        case When():
            yield from _chosen(entry, lambda each: _entry(each, indent, names), names)
        case Each():
            yield from _repeated(entry, lambda within: _entry(entry.body, indent, within), names)
        case Spliced():
            yield from _spliced(entry.entries, indent, names)
        case Mapping() if entry:
            opening, *rest = _members(entry, indent + _STEP, names)
            if opening.startswith("{{"):
                yield f"{' ' * indent}-"
                yield opening
            else:
                yield f"{' ' * indent}- {opening.lstrip()}"
            yield from rest
        case _:
            yield f"{' ' * indent}- {_scalar(entry, names)}"


def _scalar(outline: Outline, names: Names | None = None) -> str:
    """What stands behind a key or a hyphen, on one line."""
    if isinstance(outline, Node | Value):
        found = _bare(outline, names or {})
        if isinstance(outline, Call) and outline.function in {"all", "any"}:
            found = f"not (not ({found}))"
        return f"{{{{ {found} | toJson }}}}" if " " not in found else f"{{{{ toJson ({found}) }}}}"
    if isinstance(outline, str) and _PLAIN.fullmatch(outline) and outline.lower() not in _WORDS:
        return outline
    if isinstance(outline, Mapping | list | tuple) and outline:
        return f"{{{{ toJson {expression(outline, names or {})} }}}}"
    written = json.dumps(outline, ensure_ascii=False)
    return f"{{{{ {json.dumps(written, ensure_ascii=False)} }}}}" if "{{" in written else written


def _bare(outline: Outline, names: Names) -> str:
    """An expression where it needs no parentheses."""
    found = expression(outline, names)
    return found[1:-1] if isinstance(outline, Call | When | File) and found.startswith("(") else found


def expression(outline: Outline, names: Names) -> str:
    """What gives the value of an outline, as an argument."""
    match outline:
        case Value():
            return _place(outline, names)
        case When():
            then, otherwise = expression(outline.then, names), expression(outline.otherwise, names)
            return f"(ternary {then} {otherwise} (not (not {expression(outline.test, names)})))"
        case Call():
            return _CALLS[outline.function]([expression(each, names) for each in outline.arguments])
        case File():
            return f"($.Files.Get {json.dumps(f'files/{outline.name}')})"
        case Refused():
            return f"(fail {_literal(f'{outline.path}: {outline.message} ({outline.hint})')})"
        case Mapping():
            pairs = (f"{_literal(name)} {expression(each, names)}" for name, each in outline.items())
            return f"(dict {' '.join(pairs)})" if outline else "dict"
        case list() | tuple():
            return f"(list {' '.join(expression(each, names) for each in outline)})" if outline else "list"
        case _:
            return _literal(outline)


def _literal(value: object) -> str:
    if value is None:
        return "nil"
    if isinstance(value, str | int):
        return json.dumps(value, ensure_ascii=False)
    raise TypeError(f"no expression has {type(value).__name__} in it")


def _place(place: Value, names: Names) -> str:
    written = names[place.root]
    for name in place.path:
        plain = _IDENTIFIER.fullmatch(name)
        written = f"{written}.{name}" if plain else f"(index {written} {_literal(name)})"
    return written


def _named(name: str) -> Callable[[Sequence[str]], str]:
    return lambda arguments: f"({name} {' '.join(arguments)})"


def _text(parts: Sequence[str]) -> str:
    """Literals are in the format, the rest are its arguments."""
    form = "".join(json.loads(each).replace("%", "%%") if each.startswith('"') else "%s" for each in parts)
    values = [each for each in parts if not each.startswith('"')]
    return f"(printf {_literal(form)} {' '.join(values)})"


_CALLS: Final[dict[Function, Callable[[Sequence[str]], str]]] = {
    "all": _named("and"),
    "any": _named("or"),
    "api": lambda parts: f"({parts[0]}.Has {parts[1]})",
    "as text": lambda parts: f'(include "syncret.text" {parts[0]})',
    "contains": lambda parts: f"(contains {parts[1]} {parts[0]})",
    "equal": _named("eq"),
    "first": _named("or"),
    "has": lambda parts: f"(has {parts[1]} ({parts[0]} | default list))",
    "is": lambda parts: f"(not (not {parts[0]}))",
    "is text": lambda parts: f'(kindIs "string" {parts[0]})',
    "item": lambda parts: f"(get ({parts[0]} | default dict) {parts[1]})",
    "json": _named("toJson"),
    "merged": lambda parts: f'(include "syncret.merged" (list {" ".join(parts)}) | fromJson)',
    "more": lambda parts: f"(gt (int64 {parts[0]}) {parts[1]})",
    "not": _named("not"),
    "omit": lambda parts: f"(omit ({parts[0]} | default dict) {' '.join(parts[1:])})",
    "pair": _named("dict"),
    "present": lambda parts: f'(not (kindIs "invalid" {parts[0]}))',
    "text": _text,
    "trunc": lambda parts: f'(trunc {parts[1]} {parts[0]} | trimSuffix "-")',
}
