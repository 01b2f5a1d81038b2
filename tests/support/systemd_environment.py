"""Reads an env file as systemd's manual says that EnvironmentFile= does: few tests have a booted systemd."""

import re
from typing import Final

_VARIABLE: Final = re.compile(
    rb"""([A-Za-z_][A-Za-z0-9_]*)=((?:"(?:\\.|[^"\\])*"|'[^']*'|[^\n"'])*)\n""", re.DOTALL
)
_PART: Final = re.compile(rb"""\"((?:\\.|[^"\\])*)"|'([^']*)'|([^\n"']+)""", re.DOTALL)
_ESCAPED: Final = re.compile(rb"""\\(["\\`$])|\\\n""")


def read_environment_file(content: bytes) -> dict[str, bytes]:
    """The variables: quotes are taken off, and in double quotes a backslash before one of four characters."""
    found: dict[str, bytes] = {}
    place = 0
    while place < len(content):
        if content[place : place + 1] in (b"#", b"\n"):
            place = content.index(b"\n", place) + 1
            continue
        variable = _VARIABLE.match(content, place)
        assert variable is not None, content[place : place + 80]
        found[variable[1].decode()] = b"".join(map(_plain, _PART.finditer(variable[2])))
        place = variable.end()
    return found


def _plain(part: "re.Match[bytes]") -> bytes:
    double, single, bare = part.groups()
    if double is not None:
        return _ESCAPED.sub(rb"\1", double)
    return single if single is not None else bare
