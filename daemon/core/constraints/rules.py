"""Constraints as authors write them, read strictly; and the check of one value against them.

A violation is reported by the name of its constraint alone, without the value, its length or a part of it.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Final, NamedTuple

from syncret.config.errors import Problem
from syncret.config.fields import Json
from syncret.config.meta import Document, is_list, is_object
from syncret.config.spelling import allowed_values_hint, did_you_mean
from syncret.daemon.core.constraints import cel
from syncret.daemon.core.constraints.formats import FORMATS
from syncret.providers.errors import OverBudget
from syncret.providers.kit.golang import regexp
from syncret.providers.values import SecretBytes
from syncret.providers.work import Work

_DECIMAL: Final = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
_LONGEST_NUMBER: Final = 400
_MOST: Final = 64
"""Constraints of one value, patterns counted one by one."""


class Constraints(NamedTuple):
    """What a value must satisfy, as mappings whose names are expanded: all of them must hold."""

    all: tuple[Document, ...] = ()

    def violated(self, value: SecretBytes, work: Work) -> str | None:
        """The name of the first constraint that the value violates; None if it satisfies all.

        Raises OverBudget.
        """
        text = value.raw.decode("utf-8", "surrogateescape")  # each stray byte is one character
        for mapping in self.all:
            for name, wanted in mapping.items():
                if not _KINDS[name].holds(text, wanted, work):
                    return name
        return None


class _Kind(NamedTuple):
    """One kind of constraint: what is wrong with it as it is written, and whether a value satisfies it."""

    mistake: Callable[[Json, Work], str]
    holds: Callable[[str, Json, Work], bool]
    example: str


def read_constraints(
    written: Json, named: Mapping[str, Document | None], work: Work
) -> tuple[Constraints, list[Problem]]:
    """The constraints of a field, and the problems of what is written there; their paths are relative.

    `named` are the constraints that have a name; None is one whose own mistake is reported elsewhere.
    """
    problems: list[Problem] = []
    mappings: list[Document] = []
    entries = written if is_list(written) else [written]
    for entry in entries:
        if isinstance(entry, str):
            if entry not in named:
                hint = did_you_mean(entry, list(named)) or "define it in spec.constraints"
                problems.append(_malformed(f"there is no constraint named {entry}", hint))
            elif (found := named[entry]) is not None:
                mappings.append(found)
        elif is_object(entry):
            problems += read_mapping(entry, work)
            mappings.append(entry)
        else:
            hint = "write {minRunes: 12}, a name of spec.constraints, or a list of these"
            problems.append(_malformed("a constraint is a mapping or a name", hint))
    if len(mappings) > _MOST:
        problems.append(_malformed(f"has more than {_MOST} constraints", "write fewer"))
    return Constraints(() if problems else tuple(filter(None, mappings))), problems


def read_mapping(mapping: Document, work: Work) -> Iterator[Problem]:
    """The mistakes in one mapping of constraints."""
    for name, wanted in mapping.items():
        kind = _KINDS.get(name)
        if kind is None:
            yield _malformed(f"there is no constraint {name}", did_you_mean(name, list(_KINDS)))
        elif mistake := kind.mistake(wanted, work):
            yield _malformed(f"{name} {mistake}", f"write {{{name}: {kind.example}}}")


def _malformed(message: str, hint: str) -> Problem:
    return Problem(path="", message=message, hint=hint)


def _count_mistake(wanted: Json, _work: Work) -> str:
    is_count = isinstance(wanted, int) and not isinstance(wanted, bool) and wanted >= 0
    return "" if is_count else "takes a number of characters, such as 12"


def _patterns(wanted: Json) -> Sequence[Json]:
    return wanted if is_list(wanted) else [wanted]


def _pattern_mistake(wanted: Json, work: Work) -> str:
    patterns = _patterns(wanted)
    if not all(isinstance(each, str) for each in patterns):
        return "takes a regular expression in quotes, or a list of them"
    if len(patterns) > _MOST:
        return f"has more than {_MOST} regular expressions"
    for each in patterns:
        try:
            regexp.compile(each, work)
        except regexp.PatternError as error:
            return f"does not compile: {error.reason}"
        except OverBudget:
            return "is too large to be compiled"
    return ""


def _matches(value: str, wanted: Json, work: Work) -> bool:
    text = _valid(value)
    return all(regexp.compile(each, work).search(text, work) for each in _patterns(wanted))


def _format_mistake(wanted: Json, _work: Work) -> str:
    if isinstance(wanted, str) and wanted in FORMATS:
        return ""
    return f"has no such format: {allowed_values_hint(str(wanted), list(FORMATS))}"


def _choices_mistake(wanted: Json, _work: Work) -> str:
    is_choice = is_list(wanted) and bool(wanted) and all(isinstance(each, str) for each in wanted)
    return "" if is_choice else "takes a list of strings; quote numbers"


def _limit_mistake(wanted: Json, _work: Work) -> str:
    is_number = isinstance(wanted, int | float) and not isinstance(wanted, bool) and math.isfinite(wanted)
    return "" if is_number else "takes a number, such as 1024"


def _cel_mistake(wanted: Json, work: Work) -> str:
    if not isinstance(wanted, str):
        return "takes a rule as text, such as 'size(value) > 8'"
    return work.apart("compiling a rule in CEL", cel.mistake, wanted)


def _number(value: str) -> Decimal | None:
    if len(value) > _LONGEST_NUMBER or _DECIMAL.fullmatch(value) is None:
        return None
    try:
        return Decimal(value)
    except InvalidOperation:
        return None


def _at_least(value: str, wanted: Json, _work: Work) -> bool:
    number = _number(value)
    return number is not None and number >= Decimal(str(wanted))


def _at_most(value: str, wanted: Json, _work: Work) -> bool:
    number = _number(value)
    return number is not None and number <= Decimal(str(wanted))


def _is_long_enough(value: str, wanted: Json, _work: Work) -> bool:
    return bool(len(value) >= wanted)


def _is_short_enough(value: str, wanted: Json, _work: Work) -> bool:
    return bool(len(value) <= wanted)


def _has_format(value: str, wanted: Json, _work: Work) -> bool:
    return FORMATS[wanted](value)


def _is_chosen(value: str, wanted: Json, _work: Work) -> bool:
    return value in wanted


def _follows(value: str, wanted: Json, work: Work) -> bool:
    return work.apart("asking a rule in CEL", cel.holds, wanted, _valid(value))


_KINDS: Final[Mapping[str, _Kind]] = {
    "minRunes": _Kind(_count_mistake, _is_long_enough, "12"),
    "maxRunes": _Kind(_count_mistake, _is_short_enough, "64"),
    "pattern": _Kind(_pattern_mistake, _matches, "'[0-9]'"),
    "format": _Kind(_format_mistake, _has_format, "pem"),
    "oneOf": _Kind(_choices_mistake, _is_chosen, "[a, b]"),
    "min": _Kind(_limit_mistake, _at_least, "1024"),
    "max": _Kind(_limit_mistake, _at_most, "65535"),
    "cel": _Kind(_cel_mistake, _follows, "size(value) > 8"),
}


def _valid(value: str) -> str:
    """The text with U+FFFD for each stray byte."""
    return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
