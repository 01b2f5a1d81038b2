"""Finds the settings among the variables of the environment; an unknown one with our prefix is a mistake.

Kubernetes sets variables with the same prefix in every pod beside a Service whose name begins with `syncret`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from syncret.config.errors import Problem
from syncret.config.settings_table import PREFIX, Setting
from syncret.config.spelling import by_similarity

NO_SETTINGS: Final = frozenset(
    f"{PREFIX}{name}" for name in ("CONFORMANCE_ALL", "CORPUS", "KILLS", "PROVIDER_TABLE", "SEED")
)
"""Variables of the tests: CONTRIBUTING, the Makefile and the page on conformance document them."""

_OF_SERVICE: Final = re.compile(r"\w+_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_[0-9]+_\w+)")
_ADDRESS: Final = re.compile(r"(tcp|udp|sctp)://")


def settings_among(environ: Mapping[str, str], settings: Iterable[Setting]) -> Iterator[tuple[str, str, str]]:
    """Variable, name and text of each setting; an entry of a map is one, too: `NAME.KEY`."""
    given = {variable: environ[variable] for variable in environ if _may_be_setting(variable, environ)}
    for setting in settings:
        if setting.variable in given:
            yield setting.variable, setting.name, given[setting.variable]
        for variable, key in _entries(setting, given):
            yield variable, f"{setting.name}.{key.lower()}", given[variable]


def unknown_variables(environ: Mapping[str, str], settings: Iterable[Setting]) -> Iterator[Problem]:
    """A problem for each variable with our prefix that is no setting."""
    known = list(settings)
    variables = {setting.variable for setting in known}
    for variable in environ:
        if not _may_be_setting(variable, environ) or variable in variables:
            continue
        if any(each == variable for setting in known for each, _ in _entries(setting, [variable])):
            continue
        near, _ = by_similarity(
            variable.removeprefix(PREFIX), [each.variable.removeprefix(PREFIX) for each in known]
        )
        hint = (
            f"did you mean {PREFIX}{near[0]}?"
            if near
            else "unset it; `syncret export settings` names the variable of each setting"
        )
        yield Problem(path=variable, message="there is no such setting", hint=hint)


def _entries(setting: Setting, variables: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Variables that each set one entry of a map, and its key."""
    above = f"{setting.variable}_"
    for variable in variables if setting.is_map else ():
        if variable.startswith(above) and variable != above:
            yield variable, variable.removeprefix(above)


def _may_be_setting(variable: str, environ: Mapping[str, str]) -> bool:
    """Whether a variable has our prefix, and is neither of the tests nor Kubernetes' link to a Service."""
    if not variable.startswith(PREFIX) or variable in NO_SETTINGS or _OF_SERVICE.fullmatch(variable):
        return False
    return not (variable.endswith("_PORT") and _ADDRESS.match(environ[variable]))
