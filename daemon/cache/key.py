"""Finds the key of the cache: in a credential of systemd, or in a private file."""

import base64
import binascii
import os
import stat
from pathlib import Path
from typing import Final, NamedTuple

from syncret.daemon.cache.box import KEY_SIZE
from syncret.daemon.cache.errors import CacheUnusable
from syncret.daemon.private_paths import NotPrivate, check_folder, first_exposed

FORMER: Final = "-old"
"""Suffix of the name of the key that the current one replaces."""

_MOST: Final = 1024


class Keys(NamedTuple):
    """The key, and the one that it replaces, if there is one."""

    current: bytes
    former: bytes | None = None


def find_keys(setting: str, credentials: str | None) -> Keys:
    """The keys that the setting `cache.key` names. Raises CacheUnusable."""
    kind, _, name = setting.partition(":")
    if kind == "credential":
        if not credentials:
            raise CacheUnusable(
                f"cache.key: there is no credential {name}: systemd gives this process none",
                hint=f"let the unit say LoadCredentialEncrypted={name}, or use file:/PATH",
            )
        path = str(Path(credentials) / name)
        read = _read
    else:
        path, read = name, _read_private
    current = read(path)
    if current is None:
        raise CacheUnusable(f"cache.key: {path} does not exist", hint="`syncret cache init` makes one")
    return Keys(current, read(path + FORMER))


def new_key() -> bytes:
    """A key as it is written to a file."""
    return base64.b64encode(os.urandom(KEY_SIZE)) + b"\n"


def _read(path: str) -> bytes | None:
    try:
        return _decoded(path, Path(path).read_bytes()[:_MOST])
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CacheUnusable(f"cache.key: {path} cannot be read: {error.strerror}") from error


def _read_private(path: str) -> bytes | None:
    """The key in a file that no other user can read, below folders that no other user can change."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CacheUnusable(f"cache.key: {path} cannot be read: {error.strerror}") from error
    try:
        _check(path, os.fstat(fd))
        content = os.read(fd, _MOST)
    finally:
        os.close(fd)
    try:
        check_folder(Path(path).parent)
    except NotPrivate as error:
        raise CacheUnusable(f"cache.key: {error}", hint=error.hint) from error
    exposed = first_exposed(str(Path(path).parent))
    if exposed is not None:
        raise CacheUnusable(f"cache.key: {exposed.message}", hint=exposed.hint)
    return _decoded(path, content)


def _check(path: str, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise CacheUnusable(f"cache.key: {path} is not a regular file")
    if status.st_uid not in (0, os.geteuid()):
        raise CacheUnusable(
            f"cache.key: {path} belongs to another user (uid {status.st_uid})",
            hint=f"chown {os.geteuid()} {path}",
        )
    if status.st_mode & 0o077:
        mode = stat.S_IMODE(status.st_mode)
        raise CacheUnusable(
            f"cache.key: {path} may be read by others (mode {mode:04o})",
            hint=f"chmod 600 {path}; another user may have read it and could open the cache: make a new key",
        )


def _decoded(path: str, content: bytes) -> bytes:
    """32 bytes, as they are or in base64."""
    if len(content) == KEY_SIZE:
        return content
    try:
        key = base64.b64decode(content.strip(), validate=True)
    except binascii.Error:
        key = b""
    if len(key) != KEY_SIZE:
        raise CacheUnusable(
            f"cache.key: {path} holds no key of {KEY_SIZE} bytes", hint="`syncret cache init` makes one"
        )
    return key
