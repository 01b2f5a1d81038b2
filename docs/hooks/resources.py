"""Writes docs/reference/resources.md from the models (`python docs/hooks/resources.py`); a test compares."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from syncret.config.resources.kinds import HOST_KINDS, Kind, Kinds, is_shown
from syncret.config.schema.docstrings import ABSENT
from syncret.config.schema.field_docs import (
    FieldDoc,
    fields_of,
    form_of,
    innermost,
    is_label_selector,
    model_text,
)
from syncret.config.schema.shape import Shape, shape_of
from syncret.config.text.yaml import to_flow
from syncret.providers.registry import Registry

PAGE: Final = Path(__file__).parents[1] / "reference" / "resources.md"

HEAD: Final = """\
# Kinds and fields

What each field of a manifest is for, with its default and an example; `explain --field` shows the
same on a terminal. `[]` means each item of a list, `<key>` each key of a map. A default is what an API server
would fill in. Objects without a row of their own are optional. There are also rules between fields that are
not listed here; `syncret validate` checks them.
"""

SAME: Final = {
    "externalSecretSpec": "Same as `spec` of [ExternalSecret](#externalsecret).",
    "pushSecretSpec": "Same as `spec` of [PushSecret](#pushsecret).",
}
"""Objects that are described in another section of the page."""

CATALOGS: Final = {"stores": "[Providers](#providers).", "generators": "[Generators](#generators)."}

HEAD_FIELDS: Final = {"apiVersion", "kind", "metadata"}
REGISTRY: Final = Registry()


class Row(NamedTuple):
    """One field with its path."""

    path: str
    field: FieldDoc


def page() -> str:
    """The whole page."""
    return "".join((HEAD, *_kinds(REGISTRY), *_providers(REGISTRY), *_generators(REGISTRY)))


def _kinds(registry: Registry) -> Iterator[str]:
    kinds = Kinds(registry)
    drawn = registry.generator_kinds()
    for name in [*kinds.names(), *(each.group_kind for each in HOST_KINDS)]:
        kind = kinds.find(name)
        if kind is not None and kind.kind not in drawn:
            yield from _kind(kind)


def _kind(kind: Kind) -> Iterator[str]:
    first, *others = (f"`{kind.group}/{one}`" if kind.group else f"`{one}`" for one in kind.versions)
    read = f", also accepted as {', '.join(others)}" if others else ""
    where = "namespaced" if kind.namespaced else "cluster-scoped"
    acted = ", reconciled" if is_shown(kind.group_kind) else ""
    short = f"; short: `{'`, `'.join(kind.short_names)}`" if kind.short_names else ""
    shape = shape_of(kind.model)
    yield f"\n## {kind.kind}\n\n{_escaped(model_text(shape))} {first}{read}; {where}{acted}{short}.\n\n"
    own = [
        field for field in fields_of(shape, REGISTRY) if field.name not in {"apiVersion", "kind", "metadata"}
    ]
    yield from _table(row for field in own for row in _rows_of(field, ""))


def _providers(registry: Registry) -> Iterator[str]:
    names = sorted(registry.store_names(), key=str.lower)
    reached = [name for name in names if registry.provider(name).open is not None]
    known = ", ".join(f"`{name}`" for name in names if name not in reached)
    yield f"\n## Providers\n\nSupported: {', '.join(f'`{name}`' for name in reached)}. Their specs:\n"
    for name in reached:
        yield from _spec(name, shape_of(registry.store(name).model), f"spec.provider.{name}.")
    if known:
        yield f"\nThese providers are only validated, and a simulation can stand in for them: {known}.\n"


def _generators(registry: Registry) -> Iterator[str]:
    kinds = sorted(registry.generator_kinds(), key=str.lower)
    drawn = [kind for kind in kinds if registry.generator_type(kind).generate is not None]
    known = ", ".join(f"`{kind}`" for kind in kinds if kind not in drawn)
    yield "\n## Generators\n\n`generators.external-secrets.io/v1alpha1`; namespaced.\n"
    for kind in drawn:
        yield from _spec(kind, shape_of(registry.generator(kind).model), "spec.")
    if known:
        yield f"\nThese generators are only validated: {known}.\n"


def _spec(name: str, shape: Shape, prefix: str) -> Iterator[str]:
    yield f"\n### {name}\n\n{_escaped(model_text(shape))}\n\n"
    yield from _table(row for field in fields_of(shape, REGISTRY) for row in _rows_of(field, prefix))


def _rows_of(field: FieldDoc, prefix: str) -> Iterator[Row]:
    """A field and the fields below it, whatever lists and maps lie between."""
    path, shape = prefix + field.name, field.shape
    if field.name in SAME:
        yield Row(path, field._replace(text=SAME[field.name], example=ABSENT))
        return
    inner = innermost(shape)
    is_leaf = inner.kind != "object" or is_label_selector(inner)
    if is_leaf or shape.kind != "object" or field.required:
        yield Row(path, field if is_leaf else field._replace(example=ABSENT))
    if not is_leaf:
        for each in fields_of(shape, REGISTRY):
            yield from _rows_of(each, f"{path}{_levels(shape)}.")


def _levels(shape: Shape) -> str:
    """The lists and maps around what a field contains."""
    if shape.items is None:
        return ""
    return ("[]" if shape.kind == "array" else ".<key>") + _levels(shape.items)


def _table(rows: Iterator[Row]) -> Iterator[str]:
    listed = list(rows)
    if not listed:
        return
    yield "| field | what it takes | default | what it is for |\n|---|---|---|---|\n"
    for path, field in listed:
        default = "**required**" if field.required else _default(field)
        yield f"| {_path(path)} | {_form(field.shape)} | {default} | {_meaning(field)} |\n"


def _path(path: str) -> str:
    """The path as code that a browser breaks between two fields only."""
    return f"<code>{path.replace('<', '&lt;').replace('.', '.<wbr>')}</code>"


def _meaning(field: FieldDoc) -> str:
    text = _escaped(field.text)
    if field.shape.catalog in CATALOGS:
        return f"{text} {CATALOGS[field.shape.catalog]}"
    shown = field.example is not ABSENT and not (field.shape.enum or field.shape.kind == "boolean")
    return f"{text} For example {_code(to_flow(field.example))}." if shown else text


def _code(text: str) -> str:
    ticks = "``" if "`" in text else "`"
    return f"{ticks}{text}{ticks}".replace("|", "\\|")


def _escaped(text: str) -> str:
    """Text in which only what stands in backticks is code."""
    parts = text.split("`")
    parts[::2] = [part.replace("<", "&lt;").replace("*", "\\*") for part in parts[::2]]
    return "`".join(parts).replace("|", "\\|")


def _default(field: FieldDoc) -> str:
    if field.default is ABSENT or isinstance(field.default, dict):  # an object's defaults stand at its fields
        return ""
    return _code(to_flow(field.default))


def _form(shape: Shape) -> str:
    form = form_of(shape)
    return ", ".join(f"`{each}`" for each in form.split(", ")) if shape.enum else form


if __name__ == "__main__":
    PAGE.write_text(page())
