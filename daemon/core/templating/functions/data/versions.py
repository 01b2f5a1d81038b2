"""Semantic versions as the function `semver` parses them, with their fields and methods."""

from dataclasses import dataclass
from typing import Annotated, Final

import re2

from syncret.daemon.core.templating.functions.contract import bound, methods
from syncret.daemon.core.templating.functions.data.casts import parse_int
from syncret.daemon.core.templating.golang.errors import FunctionError
from syncret.daemon.core.templating.golang.types import Kind, Type
from syncret.daemon.core.templating.golang.values import GoObject, Uint64, Value

VERSION: Final = Type("*semver.Version", Kind.POINTER)
SUFFIX: Final = r"(?:-([0-9A-Za-z\-]+(?:\.[0-9A-Za-z\-]+)*))?(?:\+([0-9A-Za-z\-]+(?:\.[0-9A-Za-z\-]+)*))?"
"""What may follow the numbers of a version: a prerelease and metadata, each a group."""

_LARGEST: Final = (1 << 64) - 1
_VERSION: Final = re2.compile(r"\Av?([0-9]+)(?:\.([0-9]+))?(?:\.([0-9]+))?" + SUFFIX + r"\z")


@dataclass(frozen=True, eq=False)
class Version(GoObject):
    """The result of `{{ semver "v1.2" }}`. It is a pointer in Go: `eq` is true only for the same object."""

    major: int
    minor: int
    patch: int
    prerelease: str = ""
    metadata: str = ""
    original: str = ""

    go_type = VERSION

    def text(self) -> str:
        suffix = (f"-{self.prerelease}" if self.prerelease else "") + (
            f"+{self.metadata}" if self.metadata else ""
        )
        return f"{self.major}.{self.minor}.{self.patch}{suffix}"

    def member(self, name: str) -> Value:
        return bound(_METHODS, name, self)

    def copied(self) -> "Version":
        return Version(0, 0, 0)

    def order(self) -> tuple[int, int, int, bool, list[tuple[bool, int, str]]]:
        """The sort key of a version, without its metadata."""
        parts = self.prerelease.split(".") if self.prerelease else []
        return self.major, self.minor, self.patch, not parts, [_part_order(part) for part in parts]


def _part_order(part: str) -> tuple[bool, int, str]:
    """The sort key of a pre-release identifier: numbers come before words."""
    number = parse_int(part, 10) if part.isdigit() else None
    if number is None or number > _LARGEST:
        return True, 0, part
    return False, number, ""


_Version = Annotated[Version, VERSION]
_Other = Annotated[Version | None, VERSION]


def _major(version: _Version) -> Uint64:
    return Uint64(version.major)


def _minor(version: _Version) -> Uint64:
    return Uint64(version.minor)


def _patch(version: _Version) -> Uint64:
    return Uint64(version.patch)


def _prerelease(version: _Version) -> str:
    return version.prerelease


def _metadata(version: _Version) -> str:
    return version.metadata


def _original(version: _Version) -> str:
    return version.original


def _string(version: _Version) -> str:
    return version.text()


def _given(version: Version | None) -> Version:
    if version is None:
        raise FunctionError("nil is no version")
    return version


def _compare(version: _Version, other: _Other) -> int:
    wanted = _given(other).order()
    return (version.order() > wanted) - (version.order() < wanted)


def _equal(version: _Version, other: _Other) -> bool:
    return other is not None and version.order() == other.order()


def _greater(version: _Version, other: _Other) -> bool:
    return version.order() > _given(other).order()


def _greater_or_equal(version: _Version, other: _Other) -> bool:
    return version.order() >= _given(other).order()


def _less(version: _Version, other: _Other) -> bool:
    return version.order() < _given(other).order()


def _less_or_equal(version: _Version, other: _Other) -> bool:
    return version.order() <= _given(other).order()


_METHODS: Final = methods(
    {
        "Compare": _compare,
        "Equal": _equal,
        "GreaterThan": _greater,
        "GreaterThanEqual": _greater_or_equal,
        "LessThan": _less,
        "LessThanEqual": _less_or_equal,
        "Major": _major,
        "Metadata": _metadata,
        "Minor": _minor,
        "Original": _original,
        "Patch": _patch,
        "Prerelease": _prerelease,
        "String": _string,
    }
)


def semver(text: str) -> Version:
    found = _VERSION.match(text) if text.isascii() else None
    if found is None:
        raise FunctionError("invalid semantic version")
    numbers = [parse_int(found[group] or "", 10) or 0 for group in (1, 2, 3)]
    prerelease = found[4] or ""
    if max(numbers) > _LARGEST:
        raise FunctionError("a segment of the version is out of range")
    if any(part.isdigit() and part != "0" and part.startswith("0") for part in prerelease.split(".")):
        raise FunctionError("a segment of the version starts with 0")
    major, minor, patch = numbers
    return Version(major, minor, patch, prerelease, found[5] or "", text)
