"""The engine as exports set it up: its libraries, its variables, and what it lacks.

Importing this loads the engine: only worker processes do.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any, Final, NamedTuple

from cel_expr_python import cel

from syncret.daemon.core.exports.cel.resource_ids import parse_resource_id

_LIBRARIES: Final = ("{name: strings, version: 3}", "{name: optional}", "{name: encoders}")
_MACROS: Final = "{name: two-var-comprehensions, version: 0}"
"""Its macros make calls of `cel.@mapInsert`, and its own function of that name does not work."""

_INSERT: Final = "cel.@mapInsert"
_TEXTS: Final = cel.Type.Map(cel.Type.STRING, cel.Type.STRING)
_ANY_MAP: Final = cel.Type.Map(cel.Type.DYN, cel.Type.DYN)
_KEYS: Final = (cel.Type.STRING, cel.Type.INT, cel.Type.UINT, cel.Type.BOOL)
_VALUES: Final = (
    cel.Type.BOOL,
    cel.Type.BYTES,
    cel.Type.DOUBLE,
    cel.Type.DURATION,
    cel.Type.INT,
    cel.Type.LIST,
    cel.Type.MAP,
    cel.Type.NULL,
    cel.Type.STRING,
    cel.Type.TIMESTAMP,
    cel.Type.UINT,
)


class Environment(NamedTuple):
    """The environment in which expressions of Secrets, or of ConfigMaps, are compiled and evaluated."""

    compiling: cel.Env
    evaluating: cel.Env

    def compile(self, source: str) -> tuple[cel.Expression, bytes]:
        """The program, and its checked tree. Raises RuntimeError."""
        compiled = self.compiling.compile(source)
        tree = compiled.serialize()
        return (self.evaluating.deserialize(tree) if _INSERT.encode() in tree else compiled), tree


@cache
def environment(*, for_secret: bool) -> Environment:
    """The environment of one kind of output: only that of Secrets knows secrets."""
    variables = {"self": cel.Type.DYN, "resource": cel.Type.DYN}
    if for_secret:
        variables |= {"secret": _TEXTS, "secrets": _TEXTS}
    return Environment(
        _env((*_LIBRARIES, _MACROS), variables, _resource_ids()),
        _env(_LIBRARIES, variables, _resource_ids(), _inserts()),
    )


def _env(
    libraries: tuple[str, ...], variables: Mapping[str, cel.Type], *functions: cel.FunctionDecl
) -> cel.Env:
    config = cel.NewEnvConfigFromYaml(f"extensions: [{', '.join(libraries)}]")
    return cel.NewEnv(config=config, variables=variables, functions=functions)


def _resource_ids() -> cel.FunctionDecl:
    overload = cel.Overload(
        "aso_parse_resource_id",
        cel.Type.Map(cel.Type.STRING, cel.Type.DYN),
        [cel.Type.STRING],
        is_member=False,
        impl=parse_resource_id,
    )
    return cel.FunctionDecl("aso.parseResourceId", [overload])


def _inserts() -> cel.FunctionDecl:
    """The function behind transformMap and transformMapEntry; the engine asks for an overload per kind."""
    overloads = [
        cel.Overload("map_map", _ANY_MAP, [cel.Type.MAP, cel.Type.MAP], is_member=False, impl=_merged)
    ]
    overloads += [
        cel.Overload(
            f"map_{key.name()}_{value.name()}",
            _ANY_MAP,
            [cel.Type.MAP, key, value],
            is_member=False,
            impl=_inserted,
        )
        for key in _KEYS
        for value in _VALUES
    ]
    return cel.FunctionDecl(_INSERT, overloads)


def _inserted(entries: dict[Any, Any], key: object, value: object) -> dict[Any, Any]:
    return _merged(entries, {key: value})


def _merged(entries: dict[Any, Any], more: dict[Any, Any]) -> dict[Any, Any]:
    if not entries.keys().isdisjoint(more):
        raise ValueError("duplicate key in map")
    return {**entries, **more}
