"""Parses keys: `[group/][type/]name`; the name may be the secret's ID."""

import re
from typing import Final, NamedTuple

from syncret.providers.api_names import CallKind
from syncret.providers.errors import Malformed

ARBITRARY: Final = "arbitrary"

TYPES: Final = (
    ARBITRARY,
    "username_password",
    "iam_credentials",
    "service_credentials",
    "imported_cert",
    "public_cert",
    "private_cert",
    "kv",
    "custom_credentials",
)

_ID: Final = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}|[0-9A-Fa-f]{32}")


class Place(NamedTuple):
    """One secret, as the key names it; with an ID, the actual type is known once it is read."""

    group: str
    type: str
    name: str

    @property
    def is_id(self) -> bool:
        return _ID.fullmatch(self.name) is not None


def place_of(key: str) -> Place:
    """The parts of a key; without a type it is an arbitrary secret. Raises Malformed."""
    match key.split("/"):
        case [group, type_, name]:
            place = Place(group, type_, name)
        case [type_, name]:
            place = Place("", type_, name)
        case _:
            place = Place("", ARBITRARY, key)
    if place.type not in TYPES:
        raise Malformed(f"unknown secret type {place.type}", hint=f"write one of {', '.join(TYPES)}")
    if not place.is_id and not place.group:
        raise Malformed(
            "failed to fetch the secret, secret group name is missing",
            hint="write group/type/name, or type/id",
        )
    return place


def call_for_key(kind: CallKind, key: str) -> str | None:
    """The name of the call that reads the secret of a key: by its ID, or by its name and type."""
    del kind
    return "GetSecret" if _ID.fullmatch(key.rpartition("/")[2]) else None
