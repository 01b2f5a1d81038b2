"""What a plain scalar means in the YAML that Kubernetes reads: version 1.1, with Go's numbers."""

import math
import re
from typing import Final

from syncret.daemon.core.templating.functions.casts import parse_float, parse_literal
from syncret.daemon.core.templating.functions.go_reading import parse_time
from syncret.daemon.core.templating.functions.go_time import UTC
from syncret.daemon.core.templating.values import Value

_WORDS: Final[dict[str, Value]] = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
}
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_BASE60: Final = re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?")
_LEAST: Final = -(1 << 63)
_MOST: Final = (1 << 64) - 1
_YEAR: Final = re.compile(r"[0-9]{4}-")
_TIMESTAMPS: Final = (
    "2006-1-2T15:4:5.999999999Z07:00",
    "2006-1-2t15:4:5.999999999Z07:00",
    "2006-1-2 15:4:5.999999999",
    "2006-1-2",
)


def resolve(text: str) -> Value:
    """Nil, a boolean, a number, or the text itself."""
    if text in _WORDS:
        return _WORDS[text]
    first = text[0]
    if first == ".":
        number = parse_float(text)
        return text if number is None else number
    if first not in "+-0123456789" or is_timestamp(text):
        return text
    return _number(text)


def _number(text: str) -> Value:
    plain = text.replace("_", "")
    whole = parse_literal(plain)
    if whole is not None and _LEAST <= whole <= _MOST and (whole < 1 << 63 or plain[0] != "+"):
        return whole
    if _FLOAT.fullmatch(plain):
        number = parse_float(plain)
        return text if number is None else number
    return text


def is_timestamp(text: str) -> bool:
    """A date, with a time or without; YAML has a type for it that JSON has not."""
    return bool(_YEAR.match(text)) and any(
        parse_time(layout, text, UTC) is not None for layout in _TIMESTAMPS
    )


def can_be_plain(text: str) -> bool:
    """Whether a string keeps its meaning without quotes."""
    if _BASE60.fullmatch(text) or is_timestamp(text):
        return False
    meaning = resolve(text)
    return isinstance(meaning, str)
