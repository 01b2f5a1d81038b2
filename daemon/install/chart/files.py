"""The files of the chart, all of them generated: values from the keys, templates from the outlines."""

import json
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from syncret.config.catalog import Catalog
from syncret.daemon.install.chart.inputs import HELM
from syncret.daemon.install.chart.keys import Key, Keys
from syncret.daemon.install.chart.mapping import MAPPING
from syncret.daemon.install.chart.notes import notes
from syncret.daemon.install.chart.read import NAME
from syncret.daemon.install.chart.schema import schema
from syncret.daemon.install.chart.values import VALUES
from syncret.daemon.install.crds import crds
from syncret.daemon.install.metadata import INSTALLATION
from syncret.daemon.install.outline.helm import HELPERS, object_, template
from syncret.daemon.install.outline.nodes import Call, Each, File, Outline, Spliced, When
from syncret.daemon.install.render import outlines

_NAMES: Final = {HELM: "$", INSTALLATION: "$i"}
_MADE: Final = "Generated from syncret.daemon.install: a change here is lost."
_INSTALLATION: Final = '{{- $i := include "syncret.installation" $ | fromYaml }}\n'
_WIDTH: Final = 100


def files(catalog: Catalog, version: str) -> Mapping[str, str]:
    """The text of each file, by its path below the chart."""
    groups = outlines(catalog)
    return {
        "Chart.yaml": _chart(version),
        ".helmignore": "*.swp\n.git\n",
        "values.yaml": f"# {_MADE}\n{''.join(_values(VALUES, 0))}",
        "values.schema.json": f"{json.dumps(_schema(), indent=2)}\n",
        "templates/_helpers.tpl": _helpers(),
        "templates/NOTES.txt": f"{_INSTALLATION}{notes(_NAMES)}",
        **{f"templates/{name}.yaml": _template(group) for name, group in groups.items() if group},
        **{f"templates/crds/{name}.yaml": _template([outline]) for name, outline in crds(catalog)},
        **{f"files/{each.name}": each.text for group in groups.values() for each in _texts(list(group))},
    }


def _chart(version: str) -> str:
    return object_(
        {
            "apiVersion": "v2",
            "name": NAME,
            "description": "Keeps Secrets in sync with secret managers, with the kinds of ESO",
            "type": "application",
            "version": version,
            "appVersion": version,
            "kubeVersion": ">=1.25.0-0",
        },
        {},
    )


def _schema() -> dict[str, object]:
    return {"$schema": "http://json-schema.org/draft-07/schema#", **schema(VALUES)}


def _helpers() -> str:
    return (
        f"{{{{- /* {_MADE} */}}}}\n{HELPERS}\n"
        "{{- /* What the values say: the members of an installation, which the templates are about. */}}\n"
        '{{- define "syncret.installation" -}}\n'
        f"{object_(MAPPING, _NAMES)}"
        "{{- end }}\n"
    )


def _template(group: Sequence[Outline]) -> str:
    return f"{{{{- /* {_MADE} */}}}}\n{_INSTALLATION}{template(group, _NAMES)}"


def _values(keys: Keys, indent: int) -> Iterator[str]:
    """The lines of values.yaml: keys that have an effect, each below what it means."""
    for name, each in keys.items():
        lines = list(_key(name, each) if isinstance(each, Key) else _values(each, 2))
        if not lines:
            continue
        if not isinstance(each, Key):
            lines.insert(0, f"{name}:\n")
        if not indent:
            yield "\n"
        yield from (f"{' ' * indent}{line}" for line in lines)


def _key(name: str, key: Key) -> Iterator[str]:
    if key.has_effect:
        yield from (f"# {line}\n" for line in textwrap.wrap(key.about, _WIDTH))
        if key.default is None:
            yield f"# {name}:\n"
        else:
            yield from object_({name: key.default}, {}).splitlines(keepends=True)


def _texts(outline: Outline) -> Iterator[File]:
    """The long texts in an outline."""
    match outline:
        case File():
            yield outline
        case When():
            yield from (found for each in (outline.then, outline.otherwise) for found in _texts(each))
        case Each() | Spliced() | Call():
            pass
        case Mapping():
            yield from (found for each in outline.values() for found in _texts(each))
        case list() | tuple():
            yield from (found for each in outline for found in _texts(each))
        case _:
            pass
