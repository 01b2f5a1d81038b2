"""Reads tokens and keys of the daemon itself, from files that its own environment names."""

from pathlib import Path
from typing import Final

from syncret.providers.kit.auth.manifest_files import empty, unreadable
from syncret.providers.values import SecretBytes

_LARGEST: Final = 64 * 1024


def token_file(path: str | Path, *, what: str = "token") -> SecretBytes:
    """The token in a mounted file, read each time, as it is replaced before it expires.

    Raises Malformed with the path, if there is no such file or it is empty.
    """
    try:
        with Path(path).open("rb") as file:
            text = file.read(_LARGEST).strip()
    except OSError as error:
        raise unreadable(path, what, error) from None
    if not text:
        raise empty(path, what)
    return SecretBytes(text)
