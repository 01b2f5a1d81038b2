"""Turns errors of the file system into messages that say what to do about them."""

import errno
import os

from syncret.daemon.backends.contract import TargetUnavailable


class CannotTell(TargetUnavailable):
    """What is there cannot be told at the moment: that must not look as if nothing were there."""


_PASSING = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EIO, errno.ESTALE})
_REMEDIES = {
    errno.ENOSPC: (
        "no space is left on the file system",
        "free some space; the last complete set stays in place",
    ),
    errno.EDQUOT: ("the disk quota is used up", "raise the quota; the last complete set stays in place"),
    errno.EFBIG: (
        "a file would be larger than this process may write",
        "raise the limit (LimitFSIZE=, ulimit -f)",
    ),
    errno.EROFS: ("the file system is read-only", "mount it writable, or choose another output folder"),
    errno.EACCES: ("permission denied", "let the user that syncret runs as write there"),
    errno.EPERM: ("not permitted", "let the user that syncret runs as write there and give files away"),
    errno.ELOOP: ("there is a symbolic link where a folder should be", "remove the link"),
    errno.ENOTDIR: ("something that is not a folder is in the way", "move it away"),
    errno.EISDIR: ("there is a folder where a file should be", "move it away"),
    errno.ENAMETOOLONG: ("the name is too long for this file system", "choose a shorter name"),
    errno.EMFILE: ("too many files are open", "raise the limit (LimitNOFILE=, ulimit -n)"),
    errno.ENFILE: ("too many files are open on this machine", "raise the limit (sysctl fs.file-max)"),
    errno.EIO: ("the disk failed", "look at the kernel's log, and check the disk"),
}


def unavailable(error: OSError, path: str) -> TargetUnavailable:
    """The error of a system call, with what to do about it."""
    message, hint = _REMEDIES.get(
        error.errno or 0, (os.strerror(error.errno or errno.EIO), "check the output folder")
    )
    return (CannotTell if is_passing(error) else TargetUnavailable)(f"{path}: {message}", hint=hint)


def is_passing(error: OSError) -> bool:
    """Whether an error says nothing about the file: the process, the machine or the disk is in trouble."""
    return error.errno in _PASSING


def foreign(path: str, owner: int) -> TargetUnavailable:
    """The folder belongs to somebody else, who could change what is in it."""
    return TargetUnavailable(
        f"{path}: the folder belongs to another user (uid {owner})",
        hint=f"give it to the user that syncret runs as (chown {os.geteuid()}), or choose another folder",
    )
