"""Reads the address of a server as the vendors' own clients do, for the checks of store specs."""

import re
from typing import Final, NamedTuple
from urllib.parse import urlsplit

_BAD_HOST: Final = re.compile(r"[\s\\^`{|}%]|:[^:\]]*[^:\]0-9][^:\]]*$")
_BAD_TEXT: Final = re.compile(r"[\x00-\x1f\x7f]")
_BAD_PATH: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")


class Address(NamedTuple):
    """The parts of a URL that say where a server is. Either may be empty."""

    scheme: str
    host: str
    """With its port, without the user."""


def address(url: str) -> Address | None:
    """Scheme and host of a URL; None where the text is none.

    Python's own parser drops tabs and line breaks and lets any host pass. A spec that only such a parser can
    read would be refused by everyone else.
    """
    if url.startswith(" "):  # a path, to anyone but Python's own parser, which drops the space
        return None if ":" in url.split("/", 1)[0] else Address("", "")
    try:
        parts = urlsplit(url)
    except ValueError:  # brackets that hold no IPv6 address
        return None
    host = parts.netloc.rpartition("@")[2]
    if _BAD_TEXT.search(url) or _BAD_HOST.search(host) or _BAD_PATH.search(parts.path):
        return None
    if not parts.scheme and ":" in url.split("/", 1)[0]:
        return None
    return Address(parts.scheme, host)
