"""The protocol by which systemd asks for credentials on a socket: which unit asks, and how it is refused.

It has no refusal: a connection that is closed gives an empty credential, with which the unit starts. Only a
credential that is too long fails the start, with status 243/CREDENTIALS: so that is the refusal.
"""

import re
from collections.abc import Collection, Mapping
from typing import Final, NamedTuple

from syncret.daemon.core.delivery.assemble import SetFile, SourceMissing, Unfit

MOST_BYTES: Final = 1 << 20
"""The most bytes that systemd takes for all credentials of a unit together, their names included."""

REFUSAL: Final = bytes(MOST_BYTES + 1)
"""A value that is too long for systemd."""

_ASKER: Final = re.compile(
    r"\0[0-9a-f]{1,16}/unit/(?P<unit>[-_.:\\@a-zA-Z0-9]+)/(?P<credential>[-_.a-zA-Z0-9]+)", re.ASCII
).fullmatch
_INSTANCE: Final = "@*."


class Asked(NamedTuple):
    """A credential, and the unit that is about to start with it."""

    unit: str
    credential: str


def asked_by(name: bytes | str) -> Asked | None:
    """Unit and credential in the abstract name of the peer; None if it is no name that systemd gives."""
    text = name.decode(errors="replace") if isinstance(name, bytes) else name
    found = _ASKER(text)
    return None if found is None else Asked(found["unit"], found["credential"])


def is_among(unit: str, units: Collection[str]) -> bool:
    """Whether a unit is one of these; `name@*.service` is every instance."""
    if unit in units:
        return True
    prefix, at, rest = unit.partition("@")
    instance, dot, suffix = rest.rpartition(".")
    return bool(at and instance and dot) and f"{prefix}{_INSTANCE}{suffix}" in units


def credentials(at: str, names: Mapping[str, str], files: Mapping[str, SetFile]) -> dict[str, bytes]:
    """The value of each credential. Raises SourceMissing, and Unfit for what systemd would not start with."""
    missing = sorted(names.keys() - files.keys())
    if missing:
        raise SourceMissing(f'{at}.names: no source gives "{missing[0]}"')
    found: dict[str, bytes] = {}
    for file, name in names.items():
        content = files[file].content
        if not content:
            raise Unfit(f'{at}: key "{file}" is empty, which for a unit is the same as a missing credential')
        if len(name) + len(content) > MOST_BYTES:
            raise Unfit(
                f'{at}: key "{file}" has {len(content):,} bytes; '
                f"systemd takes {MOST_BYTES:,} for all credentials of a unit, names included"
            )
        found[name] = content
    return found
