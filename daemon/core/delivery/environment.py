"""The environment of a program that `exec` runs: variables of Secrets, and what it inherits."""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from syncret.daemon.core.delivery.env_file import check_variable
from syncret.daemon.core.delivery.names import Case, Inexpressible, variable_names

FILES: Final = "SYNCRET_FILES"
"""The variable with the folder of written files, if there are any."""

PLACEHOLDER: Final = "@secret"
"""The value of a variable that a Secret has to replace."""

_KEPT_IF_PRISTINE: Final = ("PATH", "HOME", "LANG", "TERM")
_OURS: Final = "SYNCRET_"
_CREDENTIALS: Final = "CREDENTIALS_DIRECTORY"


class NameTwice(Exception):
    """Two Secrets give one variable."""


class Choice(Struct, frozen=True):
    """A Secret that the user chose; if variables are given for some keys, the others are left out."""

    name: str
    variables: Mapping[str, str] = {}


class Naming(Struct, frozen=True, kw_only=True):
    """How a variable is named after its key."""

    prefix: str = ""
    case: Case = "upper"


def variables_of(
    secrets: Mapping[str, Mapping[str, bytes]], chosen: Sequence[Choice], naming: Naming
) -> dict[str, bytes]:
    """The variables of all Secrets, or of those that are chosen. Raises Inexpressible and NameTwice.

    Of two that are both chosen the later one wins. Every Secret that is chosen must be there.
    """
    found: dict[str, bytes] = {}
    source: dict[str, str] = {}
    for choice in chosen or [Choice(name) for name in secrets]:
        values = secrets[choice.name]
        keys = list(choice.variables) or sorted(values)
        for key, name in variable_names(
            keys, choice.variables, case=naming.case, prefix=naming.prefix
        ).items():
            if key not in values:
                raise Inexpressible(key, f"is not in Secret {choice.name}", "look for it with syncret plan")
            if name in source and not chosen:
                raise NameTwice(f"Secrets {source[name]} and {choice.name} both give {name}")
            check_variable(key, name, values[key])
            found[name] = values[key]
            source[name] = choice.name
    return found


def program_environment(
    existing: Mapping[bytes, bytes],
    variables: Mapping[str, bytes],
    *,
    pristine: bool = False,
    keep_existing: bool = False,
) -> dict[bytes, bytes]:
    """The caller's environment without the variables of syncret, with those of the Secrets.

    With `keep_existing` the caller's variables win, unless they are placeholders.
    """
    inherited = {
        name: value
        for name, value in existing.items()
        if (name.decode(errors="replace") in _KEPT_IF_PRISTINE if pristine else not _is_ours(name))
    }
    made = {name.encode(): value for name, value in variables.items()}
    if keep_existing:
        made |= {name: value for name, value in inherited.items() if value != PLACEHOLDER.encode()}
    return inherited | made


def unfilled(environment: Mapping[bytes, bytes]) -> list[str]:
    """The variables that still hold a placeholder."""
    return sorted(
        name.decode(errors="replace") for name, value in environment.items() if value == PLACEHOLDER.encode()
    )


def _is_ours(name: bytes) -> bool:
    text = name.decode(errors="replace")
    return text == _CREDENTIALS or (text.startswith(_OURS) and text != FILES)
