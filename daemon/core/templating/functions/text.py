"""What the families share about Go strings: runes, white space, texts that hold stray bytes."""

import re
from typing import Final

from syncret.daemon.core.templating.values import bytes_of, text_of

SPACE: Final = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""What Go's unicode.IsSpace says yes to; Python's own idea of white space is wider."""

REPLACEMENT: Final = "\ufffd"
_STRAY: Final = re.compile("[\ud800-\udfff]")


def has_stray_bytes(text: str) -> bool:
    """Whether some bytes are no UTF-8."""
    return not text.isascii() and _STRAY.search(text) is not None


def normal(text: str) -> str:
    """The same bytes, every character in one piece: halves that were put together are joined."""
    return text_of(bytes_of(text)) if has_stray_bytes(text) else text


def runes(text: str) -> str:
    """The text as Go's []rune sees it: every stray byte is the replacement character."""
    return _STRAY.sub(REPLACEMENT, normal(text)) if has_stray_bytes(text) else text


def size_of(text: str) -> int:
    """Go's len: bytes."""
    return len(text) if text.isascii() else len(bytes_of(text))


def cut(text: str, start: int, end: int) -> str:
    """Go's text[start:end], counted in bytes; the bounds are known to be good."""
    return text[start:end] if text.isascii() else text_of(bytes_of(text)[start:end])


def views(*texts: str) -> tuple[str, ...] | None:
    """The texts with one character a byte, for searches that may begin or end inside of a character.

    None where that cannot happen, because all are UTF-8: then they can be searched as they are.
    """
    if not any(has_stray_bytes(text) for text in texts):
        return None
    return tuple(bytes_of(text).decode("latin-1") for text in texts)


def from_view(view: str) -> str:
    """The Go string that `views` showed."""
    return text_of(view.encode("latin-1"))
