"""Makes text from elsewhere safe to show on a terminal, and says which terminals show colours."""

import os
import re
from typing import Final, TextIO

_CONTROLS: Final = "[\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]"
"""What JSON need not escape, and what a terminal may obey: DEL, C1, and marks that reorder or hide text.

It is compiled on its first use, as a program that starts often should."""


def printable(text: str) -> str:
    """The text on one line, with control characters escaped: names come from untrusted input."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def printable_json(text: str) -> str:
    """JSON of the same meaning, in which nothing steers a terminal; its line breaks stay."""
    return re.sub(_CONTROLS, lambda found: f"\\u{ord(found[0]):04x}", text)


def has_cursor(stream: TextIO) -> bool:
    """Whether it is a terminal that understands escape sequences."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def has_colours(stream: TextIO) -> bool:
    """Whether it is a terminal that shows colours, and the user wants them (https://no-color.org)."""
    return has_cursor(stream) and not os.environ.get("NO_COLOR")
