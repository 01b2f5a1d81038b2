"""Users and groups that a Delivery names: owners of its files, and users that its programs run as."""

import os
from collections.abc import Callable

from syncret.daemon.delivery.paths import Refused
from syncret.daemon.files.accounts import group_id, user_id


def known_user(name: str) -> int | None:
    """The ID of a user; None for an empty name. Raises Refused."""
    return _known(user_id, name, "user")


def known_group(name: str) -> int | None:
    """As `known_user`, of a group."""
    return _known(group_id, name, "group")


def other_user(name: str) -> int | None:
    """The user that a program is to run as; None if it is the daemon's own. Raises Refused."""
    uid = known_user(name)
    return None if uid == os.geteuid() else uid


def _known(look_up: Callable[[str], int | None], name: str, sort: str) -> int | None:
    try:
        return look_up(name)
    except KeyError:
        raise Refused(f"there is no {sort} {name} on this host", "create it, or write its number") from None
