"""semver, and semverCompare with the constraint language of ESO's library."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import re2

from syncret.daemon.core.templating.functions.contract import Context, FunctionTable, table
from syncret.daemon.core.templating.functions.data.versions import SUFFIX, Version, semver
from syncret.daemon.core.templating.golang.errors import FunctionError

_PART: Final = r"[0-9|x|X|\*]+"
_PATTERN: Final = rf"v?({_PART})(?:\.({_PART}))?(?:\.({_PART}))?{SUFFIX}"
_OPERATOR: Final = r"(=||!=|>|<|>=|=>|<=|=<|~|~>|\^)"
_ONE: Final = re2.compile(rf"\A\s*{_OPERATOR}\s*{_PATTERN}\s*\z")
_EACH: Final = re2.compile(rf"{_OPERATOR}\s*{_PATTERN}")
_ALL: Final = re2.compile(rf"\A\s*{_OPERATOR}\s*{_PATTERN}\s*(?:(?:\s+|,\s*){_OPERATOR}\s*{_PATTERN}\s*)*\z")
_RANGE: Final = re2.compile(rf"\s*({_PATTERN})\s+-\s+({_PATTERN})\s*")
_RANGE_END: Final = 7
_SHARE: Final = 7
_CONSTRAINT_COST: Final = 100
"""Work for one range: a unit per 128 characters of the constraint, which is copied."""
_ANYTHING: Final = frozenset({"x", "X", "*", ""})


@dataclass(frozen=True)
class _Constraint:
    """One comparison; `known` is how many of major, minor and patch are given."""

    operator: str
    version: Version
    known: int

    def admits(self, version: Version) -> bool:
        return _CHECKS[self.operator](self, version)


def _not_equal(constraint: _Constraint, version: Version) -> bool:
    wanted = constraint.version
    if constraint.known == 3:  # noqa: PLR2004 (all three are known)
        return version.order() != wanted.order()
    if version.major != wanted.major:
        return True
    if constraint.known < 2:  # noqa: PLR2004 (the minor version is not known)
        return constraint.known == 0 and _zero_differs(wanted, version)
    if version.minor != wanted.minor:
        return True
    return version.prerelease != wanted.prerelease


def _zero_differs(wanted: Version, version: Version) -> bool:
    return version.minor != wanted.minor or version.order() != wanted.order()


def _above(constraint: _Constraint, version: Version) -> bool:
    wanted = constraint.version
    match constraint.known:
        case 1:
            return version.major > wanted.major
        case 2:
            return (version.major, version.minor) > (wanted.major, wanted.minor)
        case _:
            return version.order() > wanted.order()


def _below(constraint: _Constraint, version: Version) -> bool:
    return version.order() < constraint.version.order()


def _at_least(constraint: _Constraint, version: Version) -> bool:
    return version.order() >= constraint.version.order()


def _at_most(constraint: _Constraint, version: Version) -> bool:
    wanted = constraint.version
    if constraint.known == 3:  # noqa: PLR2004 (all three are known)
        return version.order() <= wanted.order()
    if version.major != wanted.major or constraint.known == 1:
        return version.major <= wanted.major
    return version.minor <= wanted.minor


def _tilde(constraint: _Constraint, version: Version) -> bool:
    wanted = constraint.version
    if version.order() < wanted.order():
        return False
    zero = wanted.major == wanted.minor == wanted.patch == 0
    if zero and constraint.known in {0, 3}:
        return True
    return version.major == wanted.major and (version.minor == wanted.minor or constraint.known == 1)


def _tilde_or_equal(constraint: _Constraint, version: Version) -> bool:
    if constraint.known < 3:  # noqa: PLR2004 (all three are known)
        return _tilde(constraint, version)
    return version.order() == constraint.version.order()


def _caret(constraint: _Constraint, version: Version) -> bool:
    wanted = constraint.version
    if version.order() < wanted.order():
        return False
    if wanted.major > 0 or constraint.known == 1:
        return version.major == wanted.major
    if version.major > 0:
        return False
    if wanted.minor > 0 or constraint.known == 2:  # noqa: PLR2004 (the patch is not known)
        return version.minor == wanted.minor
    return version.minor == 0 and version.patch == wanted.patch


_CHECKS: Final[dict[str, Callable[[_Constraint, Version], bool]]] = {
    "": _tilde_or_equal,
    "=": _tilde_or_equal,
    "!=": _not_equal,
    ">": _above,
    "<": _below,
    ">=": _at_least,
    "=>": _at_least,
    "<=": _at_most,
    "=<": _at_most,
    "~": _tilde,
    "~>": _tilde,
    "^": _caret,
}


def semver_compare(context: Context, constraint: str, version: str) -> bool:
    """Whether the version satisfies all comparisons of one of the alternatives."""
    if not constraint.isascii():
        raise FunctionError("improper constraint")
    alternatives = [
        _alternative(context, part) for part in _ranges_spelled_out(context, constraint).split("||")
    ]
    wanted = semver(version)
    return any(
        # Pre-releases match only constraints that name one.
        (not wanted.prerelease or any(each.version.prerelease for each in alternative))
        and all(each.admits(wanted) for each in alternative)
        for alternative in alternatives
    )


def _ranges_spelled_out(context: Context, constraint: str) -> str:
    spelled = constraint
    for found in _RANGE.finditer(constraint):
        context.budget.step(len(spelled) >> _SHARE)
        spelled = spelled.replace(found[0] or "", f">= {found[1]}, <= {found[_RANGE_END]} ", 1)
    return spelled


def _alternative(context: Context, text: str) -> list[_Constraint]:
    context.budget.step(_CONSTRAINT_COST + len(text))
    if not _ALL.match(text):
        raise FunctionError("improper constraint")
    return [_constraint(context, found[0] or "") for found in _EACH.finditer(text)]


def _constraint(context: Context, text: str) -> _Constraint:
    context.budget.step(_CONSTRAINT_COST)
    found = _ONE.match(text)
    if found is None:
        raise FunctionError("improper constraint")
    parts = [found[group] or "" for group in (2, 3, 4)]
    known = next((place for place, part in enumerate(parts) if part in _ANYTHING), len(parts))
    prerelease = f"-{found[5]}" if found[5] else ""
    metadata = f"+{found[6]}" if found[6] and known == len(parts) else ""
    numbers = ".".join([*parts[:known], "0", "0", "0"][:3])
    return _Constraint(found[1] or "", semver(numbers + prerelease + metadata), known)


FUNCTIONS: Final[FunctionTable] = table({"semver": semver, "semverCompare": semver_compare})
