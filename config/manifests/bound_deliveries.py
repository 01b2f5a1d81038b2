"""Checks whether a Delivery is allowed in a bound folder, by the paths it writes to and the units it names.

The authors of such a folder get these paths and units from the operator, and nothing else of the host: they
cannot run programs, send signals or make requests.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

import msgspec

from syncret.config.errors import Problem
from syncret.config.meta import Document
from syncret.config.resources.delivery.delivery import DeliverySpec
from syncret.config.resources.delivery.rules import places_of
from syncret.config.settings import BoundFolder

_SETTING: Final = "the setting manifests"


class _Step(NamedTuple):
    field: str
    unit: str


def document_outside_bounds(document: Document, folder: BoundFolder) -> Problem | None:
    """As `delivery_outside_bounds`, of a document before admission."""
    try:
        spec = msgspec.convert(document.get("spec"), DeliverySpec)
    except msgspec.ValidationError as error:
        return Problem(path="spec", message=str(error), hint="see syncret explain --field Delivery.spec")
    return delivery_outside_bounds(spec, folder)


def delivery_outside_bounds(spec: DeliverySpec, folder: BoundFolder) -> Problem | None:
    """Why a Delivery of this folder is refused; None if it writes and asks only where it may."""
    return next(_problems(spec, folder), None)


def _problems(spec: DeliverySpec, folder: BoundFolder) -> Iterator[Problem]:
    for place in places_of(spec):
        if not any(place.path.startswith(f"{each.rstrip('/')}/") for each in folder.deliver_to):
            yield Problem(
                path=place.field,
                message=f"{folder.path} may not deliver to {place.path}",
                hint=f"{_SETTING} lets it deliver below {', '.join(folder.deliver_to) or 'no folder'}",
            )
    for step in _steps(spec):
        if not step.unit:
            yield Problem(
                path=step.field,
                message=f"{folder.path} may run and reload nothing but units",
                hint="name a unit, or define it elsewhere",
            )
        elif step.unit not in folder.units:
            yield Problem(
                path=f"{step.field}.unit",
                message=f"{step.unit} is not a unit of {folder.path}",
                hint=f"{_SETTING} lets it name {', '.join(folder.units) or 'none'}",
            )
    yield from _targets(spec, folder)


def _steps(spec: DeliverySpec) -> Iterator[_Step]:
    if spec.check is not None:
        yield _Step("spec.check", spec.check.unit)
    if spec.reload is not None:
        yield _Step("spec.reload", spec.reload.unit)
    if spec.healthy is not None:
        yield _Step("spec.healthy", spec.healthy.unit)


def _targets(spec: DeliverySpec, folder: BoundFolder) -> Iterator[Problem]:
    for number, target in enumerate(spec.to):
        at = f"spec.to[{number}]"
        files = {"directory": target.directory, "file": target.file, "envFile": target.env_file}
        for name, each in files.items():
            if each is not None and each.adopt:
                yield Problem(
                    path=f"{at}.{name}.adopt",
                    message=f"{folder.path} may not take over what others wrote",
                    hint="leave it out",
                )
        if target.systemd_credential is not None:
            yield Problem(
                path=f"{at}.systemdCredential",
                message=f"{folder.path} may not write credentials of units",
                hint="define it elsewhere",
            )
        for unit in () if target.socket is None else target.socket.units:
            if unit not in folder.units:
                yield Problem(
                    path=f"{at}.socket.units",
                    message=f"{unit} is not a unit of {folder.path}",
                    hint=f"{_SETTING} lets it name {', '.join(folder.units) or 'none'}",
                )
