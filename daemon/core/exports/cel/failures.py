"""The class and the message of errors of the engine.

The engine's errors of an evaluation may quote any value, also a secret: they only decide on the class, and
the message is ours. Its errors of an expression quote only the expression, and are shown.
"""

import re
from typing import Final

from syncret.config.visible import printable
from syncret.daemon.core.exports.cel.resource_ids import NO_ID
from syncret.daemon.core.exports.problems import Failure, ProblemClass

_LONGEST: Final = 200
_RUN: Final[tuple[tuple[str, Failure], ...]] = (
    (
        r"Key not found in map",
        Failure("missing_key", "there is no such key", "use `.?name.orValue(...)` for what may be absent"),
    ),
    (
        r"optional\.none\(\) dereference",
        Failure("optional_none", "value() of an optional that is empty", "use orValue(...)"),
    ),
    (
        r"index \d+ out of range",
        Failure("bad_format", "format() has fewer arguments than its text names", "add the missing ones"),
    ),
    (
        r" clause|precision specifier|end of format string|supported for conversion to double",
        Failure(
            "bad_format",
            "format() does not fit its arguments",
            "%s takes any value, %d integers, %f and %e numbers; there is no width",
        ),
    ),
    (
        r"Index error|index out of range|<string>",
        Failure(
            "index",
            "an index is outside of the list or the text",
            "look at size() first, or use `[?index]`",
        ),
    ),
    (
        r"No matching overloads|non-message type|Invalid container type",
        Failure(
            "no_overload",
            "a function or an operator does not take values of these types",
            "convert with string(), int() or double()",
        ),
    ),
    (
        r"invalid regular expression",
        Failure("bad_regex", "the pattern of matches() is no regular expression", "write it as RE2 has it"),
    ),
    (NO_ID, Failure("function_error", f"aso.parseResourceId: {NO_ID}", "pass status.id")),
    (r"duplicate key", Failure("duplicate_key", "a map has the same key twice", "make other keys")),
    (
        r"Iteration budget",
        Failure("limit", "the expression takes too many steps", "loop over shorter lists, or less deeply"),
    ),
    (
        r"divide by zero|modulus by zero|overflow",
        Failure("arithmetic", "a calculation has no result", "look at the numbers first"),
    ),
    (
        r"convert|conversion|UTF-8|timezone|base64|out of u?int|out of range|allowed duration",
        Failure("conversion", "a value cannot be converted", "look at its form first, with matches()"),
    ),
)
"""By words of the engine's error; the first that matches."""

_RUN_PATTERNS: Final = tuple((re.compile(pattern), failure) for pattern, failure in _RUN)
_MISSING: Final = re.compile(r'Key not found in map : "(.*)"', re.DOTALL)
_PLACE: Final = re.compile(r"ERROR: <input>:(-?\d+):(-?\d+): (.*)")
_DEEP: Final = re.compile("recursion (?:depth|limit)|codepoint limit")
TOO_DEEP: Final = "Exceeded max recursion depth|recursion limit"

_REFUSALS: Final[tuple[tuple[str, ProblemClass], ...]] = (
    ("Syntax error", "parse"),
    ("undeclared reference", "undeclared"),
    ("no matching overload", "no_overload"),
    ("expression of type", "no_overload"),
)
"""By words of the engine's error of an expression: the first kind that matches counts."""

OUT_OF_MEMORY: Final = Failure(
    "limit", "the expression takes more memory than there is for it", "make smaller texts and lists"
)


def refusal(text: str, *, for_secret: bool) -> Failure:
    """The failure of an expression that the engine does not compile."""
    if _DEEP.search(text):
        return Failure("limit", "the expression is too long, or too deeply nested", "write several entries")
    places = [match for line in text.split("\n") if (match := _PLACE.search(line))]
    for words, kind in _REFUSALS:
        for found in places:
            if words in found[3]:
                return _failure(kind, found, for_secret=for_secret)
    if places:
        return _failure("parse", places[0], for_secret=for_secret)
    return Failure("parse", "the expression cannot be read")


def _failure(kind: ProblemClass, found: "re.Match[str]", *, for_secret: bool) -> Failure:
    message = printable(found[3].removesuffix("[INVALID_ARGUMENT]").replace(" (in container '')", "").strip())
    hint = ""
    if kind == "undeclared" and not for_secret and re.search(r"'secrets?\b", message):
        hint = "a ConfigMap gets no secrets: write a Secret, in dynamicSecrets"
    return Failure(kind, f"line {found[1]}, column {found[2]}: {_short(message)}", hint)


def failure_of(text: str, source: str) -> Failure:
    """Why the evaluation of an expression failed, without the values that the engine's text may contain."""
    for pattern, failure in _RUN_PATTERNS:
        if pattern.search(text):
            missing = _MISSING.search(text)
            if missing and is_written(missing[1], source):
                return _quoting(failure, f"there is no key {missing[1]}", source)
            return _quoting(failure, failure.message, source)
    return _quoting(Failure("function_error", ""), "the evaluation failed", source)


def _quoting(failure: Failure, message: str, source: str) -> Failure:
    return Failure(failure.kind, f"{message}: {quoted(source)}", failure.hint)


def is_written(key: str, source: str) -> bool:
    """Whether the author wrote this key: then it is no value."""
    return bool(key) and re.search(rf"(?<!\w){re.escape(key)}(?!\w)", source) is not None


def quoted(source: str) -> str:
    """An expression in a message."""
    return _short(printable(" ".join(source.split())))


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
