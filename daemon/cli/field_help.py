"""`syncret explain --field`: what a field of a manifest is for, without a daemon."""

import shutil
import sys
import textwrap
from argparse import Namespace
from collections.abc import Iterator
from typing import Final, NamedTuple

from syncret.config.catalog import BrokenEntry, Catalog
from syncret.config.meta import Document
from syncret.config.resources.kinds import SHOWN_ON_HOST, Kind, Kinds
from syncret.config.schema.docstrings import ABSENT
from syncret.config.schema.field_docs import (
    FieldDoc,
    allowed,
    field_named,
    fields_of,
    form_of,
    names_below,
    whole,
)
from syncret.config.schema.shape import shape_of
from syncret.config.spelling import did_you_mean
from syncret.config.text.yaml import to_flow
from syncret.daemon.cli.daemon_client import CommandError
from syncret.daemon.cli.exit_codes import INVALID, OK
from syncret.daemon.cli.printing import print_json
from syncret.providers.registry import Registry

_NARROWEST: Final = 40
_WIDEST: Final = 100


class Found(NamedTuple):
    """A field, or a whole kind: its path as it was found, and what is below it."""

    kind: Kind
    path: str
    field: FieldDoc


def explain_field(options: Namespace) -> int:
    """Print the documentation of the field that the command line names."""
    registry = Registry()
    try:
        found = find(options.field, registry)
        _print(found, registry, options)
    except CommandError as refusal:
        return refusal.report()
    except BrokenEntry as broken:
        return CommandError(broken.message, hint=broken.hint).report()
    return OK


def _print(found: Found, registry: Registry, options: Namespace) -> None:
    if options.output == "json":
        print_json(_document(found, registry, recursive=options.recursive), indent=2)
        return
    width = max(_NARROWEST, min(_WIDEST, shutil.get_terminal_size().columns))
    sys.stdout.writelines(f"{line}\n" for line in _lines(found, registry, width, recursive=options.recursive))


def find(name: str, catalog: Catalog) -> Found:
    """The field of a name such as `externalsecret.spec.data.remoteRef`. Raises CommandError.

    Brackets and `<key>` are passed over: a path of the reference, or of a problem, can be pasted as it is.
    """
    first, *steps = (step.partition("[")[0] for step in name.split("."))
    kind = _kind(first, catalog)
    shape = shape_of(kind.model)
    field = whole("", shape)
    path = first.lower()
    for step in steps:
        if step in {"", "<key>"}:
            continue
        below = names_below(field.shape, catalog)
        if step not in below:
            hint = did_you_mean(step, below) if below else "there are no fields below it"
            raise CommandError(f"{path} has no field {step}", hint=hint, code=INVALID)
        field, path = field_named(field.shape, step, catalog), f"{path}.{step}"
    return Found(kind, path, field)


def _kind(name: str, catalog: Catalog) -> Kind:
    kinds = Kinds(catalog)
    names = {each.kind.lower(): each for each in kinds.known()}
    short = {word: kind.group_kind for kind in SHOWN_ON_HOST for word in kind.short_names}
    wanted = name.lower()
    found = names.get(wanted) or short.get(wanted) or names.get(wanted.removesuffix("s"))
    kind = kinds.find(found) if found is not None else None
    if kind is None:
        hint = did_you_mean(wanted, list(names))
        raise CommandError(f"there is no kind {name}", hint=hint, code=INVALID)
    return kind


def _lines(found: Found, catalog: Catalog, width: int, *, recursive: bool) -> Iterator[str]:
    kind, path, field = found
    yield f"{kind.kind} {kind.api_version}"
    yield f"{path}  <{form_of(field.shape)}>{_notes(field)}"
    yield ""
    yield from textwrap.wrap(field.text, width, initial_indent="  ", subsequent_indent="  ")
    choices = allowed(field.shape, catalog)
    if choices:
        yield from ("", *_wrapped("choices", ", ".join(map(str, choices)), width))
    if field.example is not ABSENT:
        yield from ("", *_wrapped("example", to_flow(field.example), width))
    below = list(fields_of(field.shape, catalog))
    if below:
        yield from ("", "FIELDS")
        yield from _tree(field, catalog, "  ") if recursive else _table(below, width)


def _wrapped(label: str, text: str, width: int) -> list[str]:
    pad = " " * (len(label) + 4)
    return textwrap.wrap(
        text, width, initial_indent=f"  {label}: ", subsequent_indent=pad, break_on_hyphens=False
    )


def _table(fields: list[FieldDoc], width: int) -> Iterator[str]:
    for field in fields:
        yield f"  {field.name}  <{form_of(field.shape)}>{_notes(field)}"
        yield from textwrap.wrap(field.text, width, initial_indent="      ", subsequent_indent="      ")


def _tree(field: FieldDoc, catalog: Catalog, indent: str) -> Iterator[str]:
    for each in fields_of(field.shape, catalog):
        yield f"{indent}{each.name}  <{form_of(each.shape)}>{_notes(each)}"
        yield from _tree(each, catalog, f"{indent}  ")


def _notes(field: FieldDoc) -> str:
    """Whether it must be written, or what it is otherwise."""
    if field.required:
        return "  required"
    is_object = isinstance(field.default, dict)  # its defaults stand at its fields
    return "" if field.default is ABSENT or is_object else f"  default {to_flow(field.default)}"


def _document(found: Found, catalog: Catalog, *, recursive: bool) -> Document:
    kind, path, field = found
    head: Document = {"apiVersion": kind.api_version, "kind": kind.kind, "path": path}
    return head | _described(field, catalog, depth=-1 if recursive else 1)


def _described(field: FieldDoc, catalog: Catalog, *, depth: int) -> Document:
    """One field as JSON, with those below it down to a depth; -1: all."""
    document: Document = {
        "name": field.name,
        "type": form_of(field.shape),
        "required": field.required,
        "description": field.text,
    }
    if field.default is not ABSENT:
        document["default"] = field.default
    if field.example is not ABSENT:
        document["example"] = field.example
    choices = allowed(field.shape, catalog)
    if choices:
        document["choices"] = choices
    below = fields_of(field.shape, catalog) if depth else ()
    fields = [_described(each, catalog, depth=depth - 1) for each in below]
    return document | ({"fields": fields} if fields else {})
