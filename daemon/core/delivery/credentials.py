"""Credentials that systemd asks for by a socket: who asks for what, who may, and how it is refused.

The protocol has no "no": whoever closes the connection has given an empty credential, with which the unit
starts. Only too much fails the start, with status 243/CREDENTIALS: that is how a request is refused.
"""

import re
from collections.abc import Collection, Mapping
from typing import Final, NamedTuple

from syncret.daemon.core.delivery.assemble import SetFile, SourceMissing, Unfit

MOST_BYTES: Final = 1 << 20
"""Bytes that systemd takes for all credentials of a unit together, their names included."""

REFUSAL: Final = bytes(MOST_BYTES + 1)
"""What systemd refuses to take."""

_ASKER: Final = re.compile(
    r"\0[0-9a-f]{1,16}/unit/(?P<unit>[-_.:\\@a-zA-Z0-9]+)/(?P<credential>[-_.a-zA-Z0-9]+)", re.ASCII
).fullmatch
_INSTANCE: Final = "@*."


class Asked(NamedTuple):
    """A credential, and the unit that is about to start with it."""

    unit: str
    credential: str


def asked_by(name: bytes | str) -> Asked | None:
    """What the abstract name of the other end says; None if it is none that systemd gives for a unit."""
    text = name.decode(errors="replace") if isinstance(name, bytes) else name
    found = _ASKER(text)
    return None if found is None else Asked(found["unit"], found["credential"])


def is_among(unit: str, units: Collection[str]) -> bool:
    """Whether a unit is one of these, of which `name@*.service` is every instance."""
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
            raise Unfit(
                f'{at}: key "{file}" is empty, which a unit could not tell from a credential that is missing'
            )
        if len(name) + len(content) > MOST_BYTES:
            raise Unfit(
                f'{at}: key "{file}" has {len(content):,} bytes; '
                f"systemd takes {MOST_BYTES:,} for all credentials of a unit, names included"
            )
        found[name] = content
    return found
