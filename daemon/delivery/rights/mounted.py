"""Runs a program as another user, or with the staged set mounted at the path where it will go live.

This file is also the program that does so, in its own process: it imports only the standard library, and no
other process sees its mounts.
"""

import ctypes
import json
import os
import signal
import stat
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

_CLONE_NEWNS: Final = 0x20000
_MS_RDONLY: Final = 0x1
_MS_REMOUNT: Final = 0x20
_MS_BIND: Final = 0x1000
_MS_REC: Final = 0x4000
_MS_PRIVATE: Final = 0x40000
_PR_SET_PDEATHSIG: Final = 1
_NOT_RUN: Final = 125
_MOST_BESIDE: Final = 1000
"""The most names in the folder of a target that does not exist yet: each of them is mounted again."""

_CAPABILITIES: Final = {"mounted": (21,), "user": (6, 7)}
"""Numbers of CAP_SYS_ADMIN, and of CAP_SETGID and CAP_SETUID."""


def may(what: str) -> bool:
    """Whether this process may mount a set for a program (`mounted`), or run it as another `user`."""
    lines = (line.partition(":\t") for line in Path("/proc/self/status").read_text().splitlines())
    held = int(next(value for name, _, value in lines if name == "CapEff"), 16)
    return all(held >> number & 1 for number in _CAPABILITIES[what])


def wrapped(
    argv: Sequence[str], *, views: Sequence[tuple[str, str]] = (), uid: int | None = None
) -> list[str]:
    """A command that runs `argv` so: `views` are pairs of a staged path and the live path that it hides."""
    return [sys.executable, "-I", "-S", __file__, json.dumps({"views": views, "uid": uid}), *argv]


_library: Any = ctypes.CDLL(None, use_errno=True)


def _call(name: str, *arguments: str | int | bytes | None, about: str = "") -> None:
    encoded = [os.fsencode(each) if isinstance(each, str) else each for each in arguments]
    if getattr(_library, name)(*encoded) != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{name}: {os.strerror(code)}", about)


def _bind(source: str, target: str, *, read_only: bool = False) -> None:
    _call("mount", source, target, None, _MS_BIND | _MS_REC, None, about=target)
    if read_only:
        _call("mount", None, target, None, _MS_BIND | _MS_REMOUNT | _MS_RDONLY, None, about=target)


def _show(views: Sequence[Sequence[str]]) -> None:
    """In a new mount namespace, mount each staged file or folder at its live path, read-only."""
    _call("unshare", _CLONE_NEWNS)
    _call("mount", None, "/", None, _MS_REC | _MS_PRIVATE, None, about="/")
    for staged, live in views:
        with_parent = os.open(Path(staged).parent, os.O_RDONLY | os.O_DIRECTORY)
        source = Path(f"/proc/self/fd/{with_parent}/{Path(staged).name}")  # also once its folder is hidden
        is_folder = source.is_dir()
        if not os.path.lexists(live):
            _stand_in(Path(live), is_folder=is_folder)
        _bind(str(source), live, read_only=True)
        os.close(with_parent)


def _stand_in(live: Path, *, is_folder: bool) -> None:
    """Make a mount point for a path that does not exist, in a tmpfs that mirrors the real folder."""
    parent = str(live.parent)
    real = os.open(parent, os.O_RDONLY | os.O_DIRECTORY)
    beside, status = list(live.parent.iterdir()), os.fstat(real)
    if len(beside) > _MOST_BESIDE:
        raise OSError(f"{parent} has more than {_MOST_BESIDE} names: deliver into a folder of its own")
    mode = f"mode={stat.S_IMODE(status.st_mode):o},uid={status.st_uid},gid={status.st_gid}"
    _call("mount", "tmpfs", parent, "tmpfs", 0, mode, about=parent)
    for each in beside:
        _mirror(Path(f"/proc/self/fd/{real}/{each.name}"), each)
    _make(live, is_folder=is_folder)
    os.close(real)


def _mirror(source: Path, target: Path) -> None:
    mode = source.lstat().st_mode
    if stat.S_ISLNK(mode):
        target.symlink_to(source.readlink())
        return
    _make(target, is_folder=stat.S_ISDIR(mode))
    _bind(str(source), str(target))


def _make(path: Path, *, is_folder: bool) -> None:
    if is_folder:
        path.mkdir()
    else:
        path.touch(exist_ok=False)


def _become(uid: int) -> None:
    """Become another user, with its groups and without capabilities."""
    import pwd  # not where only mounts are asked for

    try:
        entry = pwd.getpwuid(uid)
        groups, gid = os.getgrouplist(entry.pw_name, entry.pw_gid), entry.pw_gid
    except KeyError:  # a number that no user has
        groups, gid = [], uid
    os.setgroups(groups)
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)
    _call("prctl", _PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)  # the change of user has undone it


def _main() -> None:
    wanted, argv = json.loads(sys.argv[1]), sys.argv[2:]
    try:
        if wanted["views"]:
            _show(wanted["views"])
        if wanted["uid"] is not None:
            _become(wanted["uid"])
        for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them, and a program inherits that
            signal.signal(number, signal.SIG_DFL)
        os.execv(argv[0], argv)  # noqa: S606  # no shell is meant
    except OSError as error:
        sys.stderr.write(f"{argv[0]} was not run: {error}\n")
        sys.exit(_NOT_RUN)


if __name__ == "__main__":
    _main()
