"""Reads files that a manifest names: only regular files, and only below the folders of `manifestFiles`.

The author of a manifest may name any path, and often the server that gets the content. So no file is opened
before its folder and type are checked: opening a FIFO waits for a writer, opening a device may have effects.
"""

import os
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from syncret.providers.errors import Malformed
from syncret.providers.values import SecretBytes

LARGEST: Final = 64 * 1024
"""The largest file in bytes; tokens have a few kilobytes."""

_OWN_TOKENS: Final = "/var/run/secrets/kubernetes.io"
_OWN_FILES: Final = (
    "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AZURE_FEDERATED_TOKEN_FILE",
    "GOOGLE_APPLICATION_CREDENTIALS",
)
"""Variables that name files with the daemon's own cloud credentials."""


def unreadable(path: str | Path, what: str, error: OSError) -> Malformed:
    """The error for a file that cannot be read."""
    return Malformed(
        f"the {what} file {path} cannot be read: {error.strerror}",
        hint="is it mounted, and may this user read it?",
    )


def empty(path: str | Path, what: str) -> Malformed:
    """The error for a file that has nothing in it."""
    return Malformed(
        f"the {what} file {path} is empty", hint="the program that writes it has not done so yet"
    )


class ManifestFiles:
    """The files that manifests may name. Implements `ReadFile`.

    Args:
        folders: of the setting `manifestFiles`; links in them and in the names of files are followed.
        environment: names the daemon's own credentials, which are refused wherever they are.
    """

    def __init__(self, folders: Sequence[str], environment: Mapping[str, str]) -> None:
        self._folders = folders
        self._environment = environment

    def __call__(self, path: str, *, what: str) -> SecretBytes:
        """The content without surrounding white space, read anew each time. Raises Malformed."""
        self._check(os.path.realpath(_sound(path, what)), path, what)
        try:
            content = self._read(path, what)
        except OSError as error:
            raise unreadable(path, what, error) from None
        if len(content) > LARGEST:
            raise Malformed(
                f"the {what} file {path} is larger than {LARGEST} bytes", hint="is it the right file?"
            )
        if not content.strip():
            raise empty(path, what)
        return SecretBytes(content.strip())

    def allows(self, path: str) -> bool:
        """Whether the path, with links followed, is below one of the folders. Nothing is opened."""
        real = Path(os.path.realpath(path))
        return any(real.is_relative_to(os.path.realpath(folder)) for folder in self._folders)

    def _read(self, path: str, what: str) -> bytes:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)  # opens nothing yet: no FIFO waits, no device acts
        try:
            opened = f"/proc/self/fd/{place}"
            self._check(
                str(Path(opened).readlink()), path, what
            )  # a link may have been changed in the meantime
            if not stat.S_ISREG(os.fstat(place).st_mode):
                raise Malformed(
                    f"the {what} file {path} is not a regular file", hint="name a file, or a link to one"
                )
            with open(os.open(opened, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:  # noqa: PTH123  # a descriptor
                return file.read(LARGEST + 1)
        finally:
            os.close(place)

    def _check(self, real: str, path: str, what: str) -> None:
        """Raise Malformed unless the file that the path leads to may be read."""
        if is_daemon_credential(real, self._environment):
            raise Malformed(
                f"the {what} file {path} is the daemon's own token",
                hint="mount a token for this login into the daemon's pod, and name its file",
            )
        if not self.allows(real):
            raise Malformed(
                f"the {what} file {path} is outside of the folders from which manifests may name files",
                hint=f"mount it below {' or '.join(self._folders) or 'a folder'}, "
                "or have the operator add its folder to the setting manifestFiles",
            )


def _sound(path: str, what: str) -> str:
    if "\0" in path:
        raise Malformed(f"the {what} file has a NUL character in its path", hint="write the path without it")
    return path


def is_daemon_credential(path: str, environment: Mapping[str, str]) -> bool:
    """Whether a path leads, through any links, to a token or key of the daemon itself.

    If a manifest names both a file and the server that gets its content, the file must not be one of these.
    """
    real = Path(os.path.realpath(path))
    own_files = (environment.get(name) for name in _OWN_FILES)
    return real.is_relative_to(os.path.realpath(_OWN_TOKENS)) or any(
        real == Path(os.path.realpath(own)) for own in own_files if own
    )
