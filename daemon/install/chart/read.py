"""Reads values of the chart into an Installation, to install without Helm."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from syncret.config.errors import ConfigError, Problem
from syncret.config.meta import Document, is_object
from syncret.daemon.install.chart.inputs import HELM
from syncret.daemon.install.chart.keys import Key, Keys
from syncret.daemon.install.chart.mapping import MAPPING
from syncret.daemon.install.chart.schema import check, schema
from syncret.daemon.install.chart.values import VALUES
from syncret.daemon.install.installation import Installation
from syncret.daemon.install.outline.fill import fill

NAME: Final = "syncret"
"""Of the chart."""


class Release(Struct, frozen=True, kw_only=True):
    """What Helm knows about a release besides its values."""

    name: str = NAME
    namespace: str = NAME
    service: str = "Helm"
    """Who manages it."""
    version: str
    """Of syncret, and of the chart."""
    apis: Sequence[str] = ()
    """What the cluster serves, as `GROUP/VERSION` or `GROUP/VERSION/KIND`."""


def defaults(keys: Keys) -> Document:
    """The values of values.yaml: of keys that have an effect."""
    found: Document = {}
    for name, each in keys.items():
        if isinstance(each, Key):
            if each.has_effect and each.default is not None:
                found[name] = each.default
        elif inner := defaults(each):
            found[name] = inner
    return found


def installation_of(values: Document, release: Release) -> Installation:
    """What the values say. Raises ConfigError: each problem names the key."""
    whole = _together(defaults(VALUES), values)
    found = list(check(whole, schema(VALUES)))
    if found:
        raise ConfigError(found)
    helm: Document = {
        "Values": whole,
        "Release": {"Name": release.name, "Namespace": release.namespace, "Service": release.service},
        "Chart": {"Name": NAME, "Version": release.version, "AppVersion": release.version},
        "Capabilities": {"APIVersions": list(release.apis)},
    }
    try:
        return msgspec.convert(fill(MAPPING, {HELM: helm}), Installation)
    except msgspec.ValidationError as error:
        raise ConfigError(
            [Problem(path="values", message=str(error), hint="look it up in values.yaml")]
        ) from error


def _together(chart: Mapping[str, Any], given: Mapping[str, Any]) -> Document:
    """Merges values as Helm does: maps are merged, null removes a default, anything else replaces it."""
    made: Document = {name: value for name, value in given.items() if name not in chart}
    for name, value in chart.items():
        wanted = given.get(name, value)
        if is_object(value) and is_object(wanted):
            made[name] = _together(value, wanted)
        elif wanted is not None:
            made[name] = wanted
    return made
