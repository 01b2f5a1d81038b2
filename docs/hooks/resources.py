"""Writes docs/reference/resources.md from the models (`python docs/hooks/resources.py`); a test compares."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from syncret.config.fields import LabelSelector
from syncret.config.resources.kinds import Kind, Kinds, is_shown
from syncret.config.schema.shape import Field, Shape, shape_of
from syncret.providers.registry import Registry

PAGE: Final = Path(__file__).parents[1] / "reference" / "resources.md"

HEAD: Final = """\
# Kinds and fields

`docs/hooks/resources.py` generates this page from the models that validate manifests. `[]` means each item of
a list, `<key>` each key of a map. A default is what an API server would fill in. Objects without a row of
their own are optional. There are also rules between fields that are not listed here; `syncret validate`
checks them.
"""

SAME: Final = {
    "externalSecretSpec": "same as `spec` of [ExternalSecret](#externalsecret)",
    "pushSecretSpec": "same as `spec` of [PushSecret](#pushsecret)",
}
"""Objects that are described in another section of the page."""

CATALOGS: Final = {
    "stores": "the name of one provider, and its spec: [providers](#providers)",
    "generators": "`<kind>Spec`, and the generator's spec: [generators](#generators)",
}

SELECTOR: Final = shape_of(LabelSelector)
WIDEST: Final = 6
"""The longest list of choices; longer ones are cut."""


class Row(NamedTuple):
    """One field."""

    path: str
    form: str
    default: str


def page() -> str:
    """The whole page."""
    registry = Registry()
    return HEAD + "".join(_kinds(registry)) + "".join(_providers(registry)) + "".join(_generators(registry))


def _kinds(registry: Registry) -> Iterator[str]:
    kinds = Kinds(registry)
    drawn = registry.generator_kinds()
    for name in kinds.names():
        kind = kinds.find(name)
        if kind is not None and kind.kind not in drawn:
            yield from _kind(kind)


def _kind(kind: Kind) -> Iterator[str]:
    first, *others = (f"`{kind.group}/{one}`" if kind.group else f"`{one}`" for one in kind.versions)
    read = f", also accepted as {', '.join(others)}" if others else ""
    where = "namespaced" if kind.namespaced else "cluster-scoped"
    acted = ", reconciled" if is_shown(kind.group_kind) else ""
    short = f"; short: `{'`, `'.join(kind.short_names)}`" if kind.short_names else ""
    yield f"\n## {kind.kind}\n\n{_first_line(kind.model)} {first}{read}; {where}{acted}{short}.\n\n"
    shape = shape_of(kind.model)
    own = [field for field in shape.fields if field.name not in {"apiVersion", "kind", "metadata"}]
    yield from _table(row for field in own for row in _field(field, ""))


def _providers(registry: Registry) -> Iterator[str]:
    names = sorted(registry.store_names(), key=str.lower)
    reached = [name for name in names if registry.provider(name).open is not None]
    known = ", ".join(f"`{name}`" for name in names if name not in reached)
    yield f"\n## Providers\n\nSupported: {', '.join(f'`{name}`' for name in reached)}. Their specs:\n"
    for name in reached:
        yield f"\n### {name}\n\n{_first_line(registry.store(name).model)}\n\n"
        yield from _table(_rows(shape_of(registry.store(name).model), f"spec.provider.{name}"))
    yield f"\nThese providers are only validated, and a simulation can stand in for them: {known}.\n"


def _generators(registry: Registry) -> Iterator[str]:
    kinds = sorted(registry.generator_kinds(), key=str.lower)
    drawn = [kind for kind in kinds if registry.generator_type(kind).generate is not None]
    known = ", ".join(f"`{kind}`" for kind in kinds if kind not in drawn)
    yield "\n## Generators\n\n`generators.external-secrets.io/v1alpha1`; namespaced.\n"
    for kind in drawn:
        yield f"\n### {kind}\n\n{_first_line(registry.generator(kind).model)}\n\n"
        yield from _table(_rows(shape_of(registry.generator(kind).model), "spec"))
    yield f"\nThese generators are only validated: {known}.\n"


def _first_line(model: type[msgspec.Struct]) -> str:
    return (model.__doc__ or "").strip().partition("\n")[0].replace("<", "&lt;")


def _table(rows: Iterator[Row]) -> Iterator[str]:
    listed = list(rows)
    if not listed:
        return
    yield "| field | what it takes | default |\n|---|---|---|\n"
    for row in listed:
        yield f"| `{row.path}` | {row.form} | {row.default} |\n"


def _rows(shape: Shape, path: str) -> Iterator[Row]:
    for field in shape.fields:
        yield from _field(field, f"{path}.")


def _field(field: Field, prefix: str) -> Iterator[Row]:
    path, shape = prefix + field.name, field.shape
    default = "**required**" if field.required else _default(field)
    if field.name in SAME:
        yield Row(path, SAME[field.name], default)
        return
    if shape.kind != "object" or field.required or shape == SELECTOR:
        yield Row(path, _form(shape), default)
    yield from _below(shape, path)


def _below(shape: Shape, path: str) -> Iterator[Row]:
    """The fields below a field, whatever lists and maps lie between."""
    if shape == SELECTOR or shape.catalog:
        return
    if shape.kind == "object":
        yield from _rows(shape, path)
    elif shape.items is not None:
        yield from _below(shape.items, path + ("[]" if shape.kind == "array" else ".<key>"))


def _default(field: Field) -> str:
    value = field.default() if field.default is not None else None
    if value is None or isinstance(value, dict):  # an object's defaults stand at its fields
        return ""
    return f"`{msgspec.json.encode(value).decode()}`"


def _form(shape: Shape) -> str:
    if shape.catalog:
        return CATALOGS[shape.catalog]
    if shape == SELECTOR:
        return "label selector"
    if shape.enum:
        shown = ", ".join(f"`{each}`" for each in shape.enum[:WIDEST])
        return shown if len(shape.enum) <= WIDEST else f"{shown}, ..."
    if shape.duration:
        return "duration"
    if shape.kind == "array" and shape.items is not None:
        return f"list of {_plural(shape.items)}"
    if shape.kind == "map" and shape.items is not None:
        return f"map of {_plural(shape.items)}"
    return {"any": "anything", "string": _string(shape), "int-or-string": "number or duration"}.get(
        shape.kind, shape.kind
    )


def _plural(shape: Shape) -> str:
    form = _form(shape)
    return f"{form}s" if form in {"string", "integer", "object", "label selector"} else form


def _string(shape: Shape) -> str:
    return {"date-time": "time", "byte": "base64"}.get(shape.format, "string")


if __name__ == "__main__":
    PAGE.write_text(page())
