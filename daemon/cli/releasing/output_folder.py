"""Writes the manifests of a release to a folder, a file each, with Secrets encrypted for recipients of age.

All files are written completely before the first is renamed to its name: no reader finds a partial file.
"""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from typing import Final

from syncret.config.fields import Json
from syncret.config.manifests.loader import load_bytes, read_bounded
from syncret.config.meta import Document, member
from syncret.config.text.yaml import LIMITS, to_yaml
from syncret.daemon.cli.releasing import age, sops

_KINDS: Final = ("secret", "externalsecret", "deployment")


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


def left_over(folder: Path, manifests: Sequence[Document]) -> list[Path]:
    """Files that an earlier run wrote for the same release, and that none of its manifests has any more.

    Other files in the folder are kept: they have another name, other labels, or another namespace.
    """
    names = {file_name(each) for each in manifests}
    owners = [_owner(each) for each in manifests[:1]]
    found = [path for kind in _KINDS for path in sorted(folder.glob(f"{kind}-*.yaml"))]
    return [path for path in found if path.name not in names and _was_made(path, owners)]


def _owner(manifest: Document) -> tuple[Json, Json]:
    metadata = member(manifest, "metadata")
    return member(metadata, "labels"), metadata.get("namespace")


def _was_made(path: Path, owners: Sequence[tuple[Json, Json]]) -> bool:
    if path.is_symlink() or not path.is_file():
        return False
    try:
        made = [each.document for each in load_bytes(path.name, read_bounded(path, LIMITS.file + 1))]
    except OSError:
        return False  # a file that cannot be read is kept
    return len(made) == 1 and made[0] is not None and _is_at(path, made[0]) and _owner(made[0]) in owners


def _is_at(path: Path, manifest: Document) -> bool:
    """Whether a manifest stands in the file that it is written to."""
    return f"{str(manifest.get('kind')).lower()}-{member(manifest, 'metadata').get('name')}.yaml" == path.name


def write(folder: Path, files: Mapping[str, str], gone: Sequence[Path] = ()) -> None:
    """Write the files with mode 0600, rename all of them to their names, then remove those in `gone`.

    Raises OSError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written: list[tuple[Path, Path]] = []
    try:
        for name, text in files.items():
            temporary = folder / f".syncret-{token_hex(8)}"
            written.append((temporary, folder / name))
            _write(temporary, text.encode())
        for temporary, target in written:
            temporary.replace(target)
        for path in gone:
            path.unlink(missing_ok=True)
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
