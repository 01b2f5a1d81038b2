"""What scalars of YAML mean to Kubernetes' own reader (sigs.k8s.io/yaml, which is YAML 1.1), and to yaml.v3.

To the first, keys become strings, `yes` and `on` are booleans, timestamps stay strings, `1e3` is a number and
`010` is eight. To the other, a library for Go, `yes` and `on` are strings, keys are as they are written, and
those of a mapping itself win over merged ones.
"""

import math
import re
import struct
from base64 import b64decode
from collections.abc import Callable
from functools import lru_cache
from typing import Final, NamedTuple, cast

from yaml.error import Mark
from yaml.events import Event, ScalarEvent

from syncret.config.fields import Json

_OLD_BOOLEANS: Final[dict[str, Json]] = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "off", "Off", "OFF"), False),
}
"""Those of YAML 1.1 alone."""
_WORDS: Final[dict[str, Json]] = {
    **_OLD_BOOLEANS,
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
}
_SIGNS: Final = ("+", "-", ".")
_UNSAYABLE: Final = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_INTEGER: Final = re.compile(r"[-+]?(0[xX][0-9a-fA-F]+|0[oO]?[0-7]+|0[bB][01]+|0|[1-9][0-9]*)")
_FLOAT: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_TAGS: Final = "tag:yaml.org,2002:"
_NO_TAG: Final = (None, "!")
_INT64: Final = 2**63
_UINT64: Final = 2**64
_LONGEST_NUMBER: Final = 300
_FLOAT32_DIGITS: Final = 9
_POWERS_WRITTEN_OUT: Final = range(-4, 6)
_NOT_FINITE: Final = {"NaN": ".nan", "+Inf": ".inf", "-Inf": "-.inf"}
_TYPES: Final[dict[str, type]] = {"int": int, "float": float, "bool": bool, "null": type(None)}
AMBIGUOUS_STARTS: Final = frozenset(["", *"0123456789+-.~yYnNtTfFoO"])
"""First characters of plain scalars that may be something else than a string; an empty one has none."""


class Fault(Exception):
    """The document cannot be read; `line` counts from 0 in its text."""

    def __init__(self, message: str, line: int, hint: str = "") -> None:
        self.message = message
        self.line = line
        self.hint = hint
        super().__init__(message)


def is_plain(event: ScalarEvent) -> bool:
    """Whether a scalar has neither quotes nor a tag: it may be a number, a boolean or null."""
    return event.implicit[0] and event.tag in _NO_TAG


def line_of(event: Event) -> int:
    """The line on which an event begins, from 0."""
    return cast("Mark", event.start_mark).line  # libyaml's events have marks


def key_text(key: ScalarEvent) -> str:
    """The key as JSON writes it. Raises Fault where JSON has no such key."""
    if not is_plain(key):
        return key.value
    value = scalar(key)
    if isinstance(value, str):
        return value
    if value is None:
        raise Fault("a key must not be null", line_of(key), "put it in quotes")
    if isinstance(value, bool):
        return str(value).lower()
    return float_key(value) if isinstance(value, float) else str(value)


def float_key(value: float) -> str:
    """The key that Kubernetes' reader makes of a float."""
    text = float_text(value)
    return _NOT_FINITE.get(text, text)


def float_text(value: float) -> str:
    """The string that Kubernetes' reader makes of a float: Go's shortest form of the nearest 32-bit float."""
    packed = struct.pack("f", value)
    (nearest,) = struct.unpack("f", packed)
    if not math.isfinite(nearest):
        return "NaN" if math.isnan(nearest) else "+Inf" if nearest > 0 else "-Inf"
    written = (f"{nearest:.{digits}e}" for digits in range(_FLOAT32_DIGITS))
    shortest = next(text for text in written if struct.pack("f", float(text)) == packed)
    mantissa, _, power = shortest.partition("e")
    if int(power) not in _POWERS_WRITTEN_OUT:
        return shortest
    decimals = max(len(mantissa.lstrip("-").replace(".", "")) - 1 - int(power), 0)
    return f"{nearest:.{decimals}f}"


def scalar(event: ScalarEvent, below: int = _INT64) -> Json:
    """The value of one scalar; `below` is as in `resolve`. Raises Fault."""
    text = event.value
    if is_plain(event):
        return text if text[:1] not in AMBIGUOUS_STARTS else _plain(text, event, below)
    tag = event.tag or ""
    return _tagged(tag.removeprefix(_TAGS), text, event, below) if tag.startswith(_TAGS) else text


def _scalar_of_v3(event: ScalarEvent) -> Json:
    """As `scalar`, but old booleans are strings, and so is what JSON cannot represent; uint64 is exact."""
    text = event.value
    is_text = is_plain(event) and (text in _OLD_BOOLEANS or _UNSAYABLE.fullmatch(text))
    return text if is_text else scalar(event, _UINT64)


def _key_of_v3(key: ScalarEvent) -> str:
    return key.value


class Reading(NamedTuple):
    """How a program reads scalars, as values and as keys, and merge keys."""

    value: Callable[[ScalarEvent], Json]
    key: Callable[[ScalarEvent], str]
    merges_last: bool
    """Whether a mapping has one merge key, whose members come after its own wherever it stands."""


KUBERNETES: Final = Reading(scalar, key_text, merges_last=False)
YAML_V3: Final = Reading(_scalar_of_v3, _key_of_v3, merges_last=True)


def _tagged(tag: str, text: str, event: ScalarEvent, below: int) -> Json:
    if tag == "binary":
        try:
            return b64decode(text).decode()
        except ValueError:
            raise Fault("!!binary takes text in base64", line_of(event)) from None
    if tag not in _TYPES:
        return text
    value = _plain(text, event, below)
    if tag == "float" and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if value.__class__ is not _TYPES[tag]:
        raise Fault(f"the value is not a valid {tag}", line_of(event))
    return value


def _plain(text: str, event: ScalarEvent, below: int) -> Json:
    if text.startswith(_SIGNS) and _UNSAYABLE.fullmatch(text):
        raise Fault("JSON cannot represent this number", line_of(event), "put it in quotes")
    return resolve(text, below) if len(text) <= _LONGEST_NUMBER else text


@lru_cache(maxsize=1024)
def resolve(text: str, below: int = _INT64) -> Json:
    """The value of an unquoted scalar: null, a boolean, a number or the text itself.

    A whole number is exact `below` a bound. Beyond 64 bits it is a float, or a text if it is no decimal.
    """
    if text in _WORDS:
        return _WORDS[text]
    digits = text.replace("_", "")
    if _INTEGER.fullmatch(digits):
        value = int(_octal(digits), 0)
        if -_INT64 <= value < _UINT64:
            return value if value < below else float(value)
    if _FLOAT.fullmatch(digits) and math.isfinite(number := float(digits)):
        return number
    return text


def _octal(digits: str) -> str:
    """Octal digits as Python writes them: `0o17` where YAML 1.1 may write `017`."""
    sign, digits = (digits[0], digits[1:]) if digits[0] in "+-" else ("", digits)
    if len(digits) > 1 and digits[0] == "0" and digits[1].isdigit():
        digits = f"0o{digits[1:]}"
    return sign + digits
