"""Names of environment variables, made from names of files: the same for env files and for `exec`.

A manager's key must not become code: variables that make a shell, a loader or an interpreter run something
are refused, unless the author names one explicitly.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final, Literal, TypeAlias

Case: TypeAlias = Literal["upper", "keep"]

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*").fullmatch
_SEPARATORS: Final = str.maketrans("-.", "__")
_CODE: Final = frozenset({"PATH", "BASH_ENV", "ENV", "IFS", "NODE_OPTIONS"})
_CODE_PREFIXES: Final = ("LD_", "PYTHON")


class Inexpressible(Exception):
    """A name or a value cannot become a variable, or a file cannot hold it; never quotes a value.

    `key` is the name of the file that the variable is made from; empty if the problem is that of all of them.
    """

    def __init__(self, key: str, problem: str, hint: str) -> None:
        super().__init__(f'key "{key}" {problem}' if key else problem)
        self.key = key
        self.hint = hint


def is_variable(name: str) -> bool:
    """Whether the name is valid for a variable of a shell."""
    return _NAME(name) is not None


def variable_names(
    files: Iterable[str], names: Mapping[str, str], *, case: Case = "upper", prefix: str = ""
) -> dict[str, str]:
    """The variable of each file; those of `names` are as written there. Raises Inexpressible."""
    found: dict[str, str] = {}
    used: dict[str, str] = {}
    for file in files:
        explicit = names.get(file)
        name = explicit if explicit is not None else prefix + _derived(file, case)
        if not is_variable(name):
            raise Inexpressible(file, "gives no name of a variable", "name it in names")
        if explicit is None and _is_code(name):
            raise Inexpressible(
                file, f"would become {name}, which can make programs run other code", "name it in names"
            )
        if name in used:
            raise Inexpressible(
                file, f'would become {name}, as "{used[name]}" does', "name one of them in names"
            )
        used[name] = file
        found[file] = name
    return found


def _derived(file: str, case: Case) -> str:
    return file.translate(_SEPARATORS).upper() if case == "upper" else file


def _is_code(name: str) -> bool:
    return name in _CODE or name.startswith(_CODE_PREFIXES)
