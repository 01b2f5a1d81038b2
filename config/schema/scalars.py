"""Validates strings, numbers and booleans: no value is ever converted to another type to make it fit."""

import re
from binascii import a2b_base64
from collections.abc import Callable, Collection
from datetime import date
from typing import Final, TypeAlias

from syncret.config.durations import DurationError, parse_duration
from syncret.config.errors import Problem, RuleViolation, Severity
from syncret.config.fields import DNS_LABEL, DNS_SUBDOMAIN, SECRET_KEY, Json
from syncret.config.paths import Path, render
from syncret.config.schema.shape import Shape
from syncret.config.spelling import allowed_values_hint

Findings: TypeAlias = list[Problem]
Validator: TypeAlias = Callable[[Json, Path, Findings], Json]
"""Validates the value at a path, appends its problems, and returns the value as it would be stored."""

INT32: Final = 2**31
INT64: Final = 2**63
_EXACT: Final = 2**53
NO_TIME: Final = "must be a time with its zone"
A_TIME: Final = 'such as "2026-01-01T00:00:00Z"'
_SHOWN: Final = 40
_BASE64: Final = re.compile(r"(?:[A-Za-z0-9+/]{4})*+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?+")
_DATE_TIME: Final = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[tT]"
    r"(?:[01][0-9]|2[0-3])(?::[0-5][0-9]){2}(?:[.,][0-9]+)?(?:[zZ]|[+-][0-9]{2}:[0-9]{2})"
)
_NAMES: Final[dict[type, str]] = {
    dict: "an object",
    list: "an array",
    str: "a string",
    bool: "a boolean",
    int: "an integer",
    float: "a number",
    type(None): "null",
}
_HINTS: Final = {
    DNS_SUBDOMAIN: "use lower case letters, digits, '-' and '.', with a letter or digit at both ends",
    DNS_LABEL: "use lower case letters, digits and '-', with a letter or digit at both ends",
    SECRET_KEY: "use letters, digits, '-', '_' and '.'",
}


def wrong_type(value: object, wanted: str, path: Path, hint: str = "") -> Problem:
    """The problem of a value whose type is not that of the schema."""
    seen = _NAMES.get(type(value), "a type that JSON does not have")
    return Problem(path=render(path), message=f"must be {wanted}, not {seen}", hint=hint)


def scalar_validator(shape: Shape, typed: Severity) -> Validator:
    """The validator of one scalar; `typed` is the severity of what only the operator's Go types refuse."""
    match shape.kind:
        case "string":
            return _tested(_tests(shape, typed))
        case "integer" | "number":
            return _number(shape, typed)
        case "boolean":
            return _boolean
        case "int-or-string":
            return _int_or_string if shape.pattern is None else _matching(_int_or_string, shape.pattern)
        case _:
            return _any


def _any(value: Json, _path: Path, _findings: Findings) -> Json:
    return value


def _boolean(value: Json, path: Path, findings: Findings) -> Json:
    if value is not True and value is not False:
        hint = "write true or false, without quotes" if isinstance(value, str) else "write true or false"
        findings.append(wrong_type(value, "a boolean", path, hint))
    return value


def _whole(value: Json) -> Json:
    """A float without a fraction as an integer, if it is small enough for no digit to have been lost."""
    return int(value) if value.__class__ is float and value.is_integer() and abs(value) < _EXACT else value


def _int_or_string(value: Json, path: Path, findings: Findings) -> Json:
    value = _whole(value)
    if value.__class__ is not int and value.__class__ is not str:
        findings.append(wrong_type(value, "an integer or a string", path))
    elif value.__class__ is int and not -INT64 <= value < INT64:
        findings.append(Problem(path=render(path), message="must fit into 64 bits"))
    return value


def _matching(validator: Validator, pattern: str) -> Validator:
    """A validator that refuses texts of another form, too."""
    compiled = re.compile(pattern)

    def walk(value: Json, path: Path, findings: Findings) -> Json:
        if value.__class__ is str and compiled.search(value) is None:
            findings.append(RuleViolation(path=render(path), message=f"must match {pattern}"))
        return validator(value, path, findings)

    return walk


def _number(shape: Shape, typed: Severity) -> Validator:
    integer = shape.kind == "integer"
    wanted = "an integer" if integer else "a number"
    low, high = shape.minimum, shape.maximum
    small = shape.format == "int32"

    def number(value: Json, path: Path, findings: Findings) -> Json:
        if integer:
            value = _whole(value)
        if value.__class__ is not int and (integer or value.__class__ is not float):
            findings.append(wrong_type(value, wanted, path, _unquoted(value)))
        elif integer and not -INT64 <= value < INT64:
            findings.append(Problem(path=render(path), message="must fit into 64 bits"))
        elif low is not None and value < low:
            findings.append(
                RuleViolation(path=render(path), message=f"must be greater than or equal to {low}")
            )
        elif high is not None and value > high:
            findings.append(RuleViolation(path=render(path), message=f"must be less than or equal to {high}"))
        elif small and not -INT32 <= value < INT32:
            findings.append(Problem(path=render(path), message="must fit into 32 bits", severity=typed))
        return value

    return number


def one_of(values: tuple[Json, ...], others: Collection[str]) -> Validator:
    """The validator of a string that is one of these, or of others that are looked up when one is named."""
    return _tested([_enum(values, others)])


def _tested(tests: "list[Test]") -> Validator:
    test = tests[0] if len(tests) == 1 else None

    def tested(value: Json, path: Path, findings: Findings) -> Json:
        if value.__class__ is not str:
            findings.append(wrong_type(value, "a string", path, _quoted(value)))
        elif test is not None:
            test(value, path, findings)
        else:
            for each in tests:
                each(value, path, findings)
        return value

    return tested if tests else plain_string


def plain_string(value: Json, path: Path, findings: Findings) -> Json:
    """The validator of strings without further rules."""
    if value.__class__ is not str:
        findings.append(wrong_type(value, "a string", path, _quoted(value)))
    return value


Test: TypeAlias = Callable[[str, Path, Findings], None]


def _tests(shape: Shape, typed: Severity) -> list[Test]:
    tests: list[Test] = []
    if shape.enum:
        tests.append(_enum(shape.enum))
    if shape.pattern is not None or shape.min_length or shape.max_length is not None:
        tests.append(_text(shape))
    if shape.format == "byte":
        tests.append(_base64)
    if shape.format == "go-bytes":
        tests.append(_go_bytes)
    if shape.format == "date-time":
        tests.append(_date_time)
    if shape.duration:
        tests.append(_duration(typed))
    return tests


def _enum(values: tuple[Json, ...], others: Collection[str] = ()) -> Test:
    allowed = frozenset(values)

    def enum(value: str, path: Path, findings: Findings) -> None:
        if value not in allowed and value not in others:
            shown = value if len(value) <= _SHOWN else f"{value[:_SHOWN]}..."
            findings.append(
                Problem(
                    path=render(path),
                    message=f'unsupported value "{shown}"',
                    hint=allowed_values_hint(value, [*map(str, values), *others]),
                )
            )

    return enum


def _text(shape: Shape) -> Test:
    pattern = shape.pattern or ""
    # Python's `$` also matches before a final newline, Go's only at the very end.
    match = re.compile(re.sub(r"(?<!\\)\$$", r"\\Z", pattern)).search
    low, high = shape.min_length or 0, shape.max_length if shape.max_length is not None else 2**62

    def text(value: str, path: Path, findings: Findings) -> None:
        length = len(value)
        if length < low:
            message = "must not be empty" if low == 1 else f"must be at least {low} characters long"
            findings.append(RuleViolation(path=render(path), message=message))
        elif length > high:
            message = f"must be at most {high} characters long, has {length}"
            findings.append(Problem(path=render(path), message=message))
        elif match(value) is None:
            hint = _HINTS.get(pattern, "")
            findings.append(RuleViolation(path=render(path), message=f"must match {pattern}", hint=hint))

    return text


def _base64(value: str, path: Path, findings: Findings) -> None:
    if not value:
        hint = "remove the field, or give it a value"
        findings.append(Problem(path=render(path), message="must be base64, is empty", hint=hint))
    elif _BASE64.fullmatch(value) is None:
        hint = "encode the value, on one line: base64 -w0"
        findings.append(Problem(path=render(path), message="must be base64", hint=hint))


def _go_bytes(value: str, path: Path, findings: Findings) -> None:
    try:
        a2b_base64(value.replace("\n", "").replace("\r", ""), strict_mode=True)  # Go skips line ends
    except ValueError:
        hint = "encode the value: base64 -w0"
        findings.append(Problem(path=render(path), message="must be base64", hint=hint))


def _date_time(value: str, path: Path, findings: Findings) -> None:
    if not is_time(value):
        findings.append(Problem(path=render(path), message=NO_TIME, hint=A_TIME))


def is_time(value: str) -> bool:
    """Whether a text is a timestamp of RFC 3339."""
    found = _DATE_TIME.fullmatch(value)
    return found is not None and _is_day(found[1])


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _duration(severity: Severity) -> Test:
    def duration(value: str, path: Path, findings: Findings) -> None:
        try:
            parse_duration(value)
        except DurationError as error:
            hint = 'write a duration such as "1h", "15m" or "1h30m"; there is no unit for days'
            findings.append(Problem(path=render(path), message=str(error), hint=hint, severity=severity))

    return duration


def _quoted(value: Json) -> str:
    return "put it in quotes" if isinstance(value, int | float) else ""


def _unquoted(value: Json) -> str:
    return "write it without quotes" if isinstance(value, str) else ""
