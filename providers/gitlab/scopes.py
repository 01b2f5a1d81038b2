"""Which variable counts, of several with one key.

A key may be in the project and its groups, and in several environments of each.
"""

from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from syncret.providers.errors import Malformed

ANY = "*"


class Level(NamedTuple):
    """A project or a group."""

    kind: str
    """As in URLs: `projects`, `groups`."""
    id: str

    def __str__(self) -> str:
        return f"{self.kind.removesuffix('s')} {self.id}"


class Variable(msgspec.Struct, kw_only=True):
    """A variable as the API has it."""

    key: str
    value: str | None = None
    """Absent for a hidden one, which only jobs can read."""
    environment_scope: str = ANY
    variable_type: str = "env_var"
    protected: bool = False
    masked: bool = False


def is_any(environment: str | None) -> bool:
    """Whether a scope is no particular environment."""
    return not environment or environment == ANY


def of_level(variables: Iterable[Variable], key: str, environment: str | None) -> Variable | None:
    """The variable that a read of a level gets: of the environment, else of all. Raises Malformed."""
    found = [variable for variable in variables if variable.key == key]
    if not environment:
        if len(found) > 1:
            raise Malformed(
                f"reading variable {key}: several variables have this key, in different environments",
                hint="write environment into the store",
            )
        return found[0] if found else None
    by_scope = {variable.environment_scope: variable for variable in found}
    return by_scope.get(environment) or by_scope.get(ANY)


class Search:
    """The results of a search, level by level, as in the operator: groups in order, and the project last."""

    def __init__(self, environment: str | None) -> None:
        self._environment = environment
        self.values: dict[str, str] = {}

    def add_group(self, variables: Iterable[Variable]) -> None:
        """A later group replaces what an earlier one has only by a variable of a particular environment."""
        for variable in self._in_scope(variables):
            if not (is_any(variable.environment_scope) and variable.key in self.values):
                self.values[variable.key] = variable.value or ""

    def add_project(self, variables: Iterable[Variable]) -> None:
        """The project replaces what the groups have; its variables of an environment replace the others."""
        specific: set[str] = set()
        for variable in self._in_scope(variables):
            if not is_any(variable.environment_scope):
                specific.add(variable.key)
            elif variable.key in specific:
                continue
            self.values[variable.key] = variable.value or ""

    def _in_scope(self, variables: Iterable[Variable]) -> Iterable[Variable]:
        wanted = self._environment
        for variable in variables:
            scope = variable.environment_scope
            if is_any(wanted) or is_any(scope) or scope == wanted:
                yield variable
