"""`html`, `js` and `urlquery`: text made safe for another language."""

import re
from typing import Final
from urllib.parse import quote_plus

from syncret.daemon.core.templating.quoting import REPLACEMENT
from syncret.daemon.core.templating.values import bytes_of

_HTML: Final = str.maketrans(
    {"\0": REPLACEMENT, '"': "&#34;", "'": "&#39;", "&": "&amp;", "<": "&lt;", ">": "&gt;"}
)
_JS_SPECIAL: Final = re.compile(r"[\x00-\x1f\\'\"<>&=]|[^\x00-\x7f]")
_JS_BACKSLASHED: Final = frozenset("\\'\"")


def html(text: str) -> str:
    return text.translate(_HTML)


def js(text: str) -> str:
    return _JS_SPECIAL.sub(_js_escape, text)


def _js_escape(match: re.Match[str]) -> str:
    character = match[0]
    if character in _JS_BACKSLASHED:
        return f"\\{character}"
    if not character.isascii() and (character.isprintable() or "\udc80" <= character <= "\udcff"):
        return character
    return f"\\u{ord(character):04X}"


def urlquery(text: str) -> str:
    return quote_plus(bytes_of(text), safe="~")
