"""Reads tokens and keys of the daemon itself, from files that its own environment names."""

from pathlib import Path
from typing import Final

from syncret.providers.errors import Malformed
from syncret.providers.values import SecretBytes

_LARGEST: Final = 64 * 1024


def token_file(path: str | Path, *, what: str = "token") -> SecretBytes:
    """The token in a mounted file, read anew each time: it is replaced before it expires.

    Raises Malformed with the path, if there is no such file or it is empty.
    """
    try:
        with Path(path).open("rb") as file:
            text = file.read(_LARGEST).strip()
    except OSError as error:
        raise Malformed(
            f"the {what} file {path} cannot be read: {error.strerror}",
            hint="is it mounted, and may this user read it?",
        ) from None
    if not text:
        raise Malformed(f"the {what} file {path} is empty", hint="whoever writes it has not done so yet")
    return SecretBytes(text)
