"""Writes the manifests of a release to a folder, a file each, with Secrets encrypted for recipients of age.

All files are complete before the first takes its place: whoever reads the folder meets no half of one.
"""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex

from syncret.config.meta import Document
from syncret.config.text.yaml import to_yaml
from syncret.daemon.cli.releasing import age, sops


def file_name(manifest: Document) -> str:
    """The name of its file: `secret-db-creds.yaml`."""
    return f"{manifest['kind'].lower()}-{manifest['metadata']['name']}.yaml"


def rendered(manifests: Sequence[Document], encrypt_to: Sequence[str]) -> dict[str, str]:
    """The texts of the files by their names. Raises AgeError."""
    keys = age.recipients(encrypt_to) if encrypt_to else {}
    now = datetime.now(UTC)
    return {
        file_name(each): to_yaml(sops.encrypt(each, keys, now) if keys and each["kind"] == "Secret" else each)
        for each in manifests
    }


def write(folder: Path, files: Mapping[str, str]) -> None:
    """Write the files with mode 0600, and put all of them in their places. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    written: list[tuple[Path, Path]] = []
    try:
        for name, text in files.items():
            temporary = folder / f".syncret-{token_hex(8)}"
            written.append((temporary, folder / name))
            _write(temporary, text.encode())
        for temporary, target in written:
            temporary.replace(target)
        _sync(folder)
    finally:
        for temporary, _ in written:
            with suppress(FileNotFoundError):
                temporary.unlink()


def _write(path: Path, content: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with open(descriptor, "wb") as stream:  # noqa: PTH123  # opened with its mode
        os.fchmod(descriptor, 0o600)
        stream.write(content)
        stream.flush()
        os.fsync(descriptor)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def plain_secrets(manifests: Sequence[Document]) -> list[str]:
    """The names of the manifests that hold values."""
    return [each["metadata"]["name"] for each in manifests if each["kind"] == "Secret"]
