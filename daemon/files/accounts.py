"""Users and groups of this host, by name or number."""

import grp
import pwd


def user_id(name: str) -> int | None:
    """The ID of a user; None for an empty name. Raises KeyError if there is no such user."""
    return _number(name) if name.isdecimal() or not name else pwd.getpwnam(name).pw_uid


def group_id(name: str) -> int | None:
    """As `user_id`, of a group."""
    return _number(name) if name.isdecimal() or not name else grp.getgrnam(name).gr_gid


def _number(text: str) -> int | None:
    return int(text) if text else None
