"""Errors of regular expressions: RE2's in Go's words, and what to write instead."""

from typing import Final

_PARSING: Final = "error parsing regexp: "

_CODES: Final = {
    "missing ]": "missing closing ]",
    "missing )": "missing closing )",
    "trailing \\": "trailing backslash at end of expression",
    "no argument for repetition operator": "missing argument to repetition operator",
    "invalid repetition size": "invalid repeat count",
    "bad repetition operator": "invalid nested repetition operator",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid named capture group": "invalid named capture",
}
"""RE2's names of errors, and Go's."""

_REMEDIES: Final = {
    "invalid or unsupported Perl syntax": "RE2 has no look-around: match more, and take a part with a group",
    "invalid escape sequence": r"RE2 has no back references; a backslash itself is written \\",
    "invalid named capture": "a named group is written (?P<name>...)",
    "missing closing ]": r"close the set with ], or write \[ for the character",
    "missing closing )": r"close the group with ), or write \( for the character",
    "unexpected )": r"remove it, or write \) for the character",
    "missing argument to repetition operator": r"write what is repeated before it, or \* for the character",
    "invalid nested repetition operator": "repeat a group: (?:a+)*",
    "invalid repeat count": "write a number up to 1000, the smaller one first",
    "invalid character class range": "write the smaller character first, and a dash at the end of the set",
    "trailing backslash at end of expression": r"a backslash itself is written \\",
}
"""The remedy by Go's name of the error."""

_SYNTAX: Final = "write it in RE2's syntax: https://github.com/google/re2/wiki/Syntax"


def reason(error: Exception) -> str:
    """Go's message for an error of RE2; it may quote a part of the expression."""
    if isinstance(error, UnicodeEncodeError):
        return f"{_PARSING}invalid UTF-8"
    found = error.args[0] if error.args else ""
    message = found.decode("utf-8", "replace") if isinstance(found, bytes) else str(found)
    code, _, part = message.partition(": ")
    return f"{_PARSING}{_CODES.get(code, code)}: `{part}`"


def remedy(message: str) -> str:
    """What to write instead, by Go's message."""
    return _REMEDIES.get(message.removeprefix(_PARSING).partition(":")[0], _SYNTAX)
