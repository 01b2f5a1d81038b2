"""Manifest files as the state file has them, with the folders and disks that they were on."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from syncret.config.manifests.loader import is_below
from syncret.daemon.files.syscalls import FolderIdentity
from syncret.daemon.homes.filesystem.manifests.reader import Manifest
from syncret.daemon.homes.filesystem.manifests.snapshot import Signature

RememberedFile: TypeAlias = tuple[Signature, Sequence[Manifest] | None]
"""A signature, and the manifests of the file that had it; None if they are not known any more."""


def devices_below(folder: str, said: Mapping[str, RememberedFile]) -> frozenset[int]:
    """The file systems on which a folder and the manifests below it were, by the state file."""
    return frozenset(signature[0] for file, (signature, _) in said.items() if is_below(file, [folder]))


def roots(paths: Sequence[str], said: Mapping[str, RememberedFile]) -> dict[str, FolderIdentity]:
    """The identities of the paths' folders, by the state file; the signature of a file has more numbers."""
    found: dict[str, FolderIdentity] = {}
    for path in paths:
        match said.get(path):
            case ((device, inode, birth), _):
                found[path] = device, inode, birth
            case _:
                pass
    return found
