"""What a former life left: manifest files that look as they did are not read again, all others are."""

import os
from pathlib import Path

import msgspec
import pytest

from syncret.config.meta import ObjectRef
from syncret.config.settings import BoundFolder
from syncret.daemon.homes.filesystem.manifests.apply import restored_state
from syncret.daemon.homes.filesystem.manifests.folders import ManifestFolders
from syncret.daemon.homes.filesystem.manifests.reader import FileContent, Manifest, ManifestReader
from syncret.daemon.homes.filesystem.state.rows import AppliedManifest, FileRecord, Record, file_ref
from syncret.providers.registry import Registry

REF = ObjectRef("external-secrets.io", "ExternalSecret", "x", "one")
FILE = "/manifests/one.yaml"
SIGNATURE = (1, 2, 3, 4, 5)
OLD = 10**9
"""Seconds since the epoch: a file of that age is none that may change unseen."""


def row(**changes: object) -> bytes:
    document = msgspec.Raw(b'{"metadata":{"uid":"u","resourceVersion":"1"}}')
    record = Record(document=document, applied=AppliedManifest(file=FILE, digest="d"))
    return msgspec.json.encode(msgspec.structs.replace(record, **changes))


SAID = (file_ref(FILE), msgspec.json.encode(FileRecord(SIGNATURE, [(REF, 7, "d")])))


def test_a_file_is_trusted_with_all_its_objects() -> None:
    life = restored_state([(REF, row()), SAID])
    assert [ref for ref, _ in life.objects] == [REF]
    assert life.files == {FILE: (SIGNATURE, [Manifest(REF, FILE, 7, "d")])}


@pytest.mark.parametrize(
    "objects",
    [
        pytest.param([], id="forgotten"),
        pytest.param([(REF, row(applied=None))], id="not-from-a-manifest"),
        pytest.param([(REF, row(applied=AppliedManifest(file=FILE, digest="other")))], id="another-version"),
        pytest.param(
            [(REF, row(applied=AppliedManifest(file="/other.yaml", digest="d")))], id="another-file"
        ),
        pytest.param([(REF, row(content_removed=True))], id="not-remembered-whole"),
        pytest.param([(REF, row(output=True))], id="written-out"),
    ],
)
def test_a_file_is_read_where_one_object_is_not_as_it_gave_it(objects: list[tuple[ObjectRef, bytes]]) -> None:
    assert restored_state([*objects, SAID]).files == {FILE: (SIGNATURE, None)}


class Counting(ManifestReader):
    """Remembers which files were read."""

    def __init__(self) -> None:
        super().__init__(Registry())
        self.files: list[str] = []

    def read(self, file: str, data: bytes, folder: BoundFolder | None = None) -> FileContent:
        self.files.append(file)
        return super().read(file, data, folder)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "manifests" / "one.yaml"
    path.parent.mkdir()
    path.write_text("apiVersion: v1\nkind: Namespace\nmetadata: {name: x}\n")
    os.utime(path, (OLD, OLD))
    return path


def folders(file: Path, *, size: int = 0, known: bool = True) -> tuple[ManifestFolders, Counting]:
    status = file.stat()
    signature = (
        status.st_dev,
        status.st_ino,
        status.st_size + size,
        status.st_mtime_ns,
        status.st_ctime_ns,
    )
    reader = Counting()
    trusted = {str(file): (signature, [Manifest(REF, str(file), 1, "d")] if known else None)}
    return ManifestFolders([str(file.parent)], reader, remembered=trusted), reader


def test_a_trusted_file_is_not_read(file: Path) -> None:
    found, reader = folders(file)
    assert found.scan().manifests == {REF: Manifest(REF, str(file), 1, "d")}
    assert reader.files == []
    assert not found.refresh()


@pytest.mark.parametrize("size", [1, -1])
def test_a_file_that_looks_otherwise_is_read(file: Path, size: int) -> None:
    found, reader = folders(file, size=size)
    assert list(found.scan().manifests) == [ObjectRef("", "Namespace", "", "x")]
    assert reader.files == [str(file)]


def test_a_file_that_was_touched_is_read(file: Path) -> None:
    found, reader = folders(file)
    found.scan([str(file)])
    assert reader.files == [str(file)]


def test_trust_ends_with_the_first_look(file: Path) -> None:
    found, reader = folders(file)
    found.scan()
    file.write_text(file.read_text().replace("name: x", "name: z"))
    assert found.refresh()
    assert list(found.snapshot().manifests) == [ObjectRef("", "Namespace", "", "z")]
    assert reader.files == [str(file)]


@pytest.mark.parametrize("known", [True, False])
def test_an_empty_disk_mounted_while_nobody_ran_deletes_nothing(
    file: Path, small_disk: Path, *, known: bool
) -> None:
    """Also where the file has to be read again: the values of its stores are remembered nowhere."""
    found, _ = folders(file, known=known)
    file.parent.rename(file.parent.with_name("aside"))
    file.parent.symlink_to(small_disk)
    for _look in range(2):
        snapshot = found.scan()
        assert not snapshot.is_gone(REF, str(file))
        assert "empty file system" in str(snapshot.problems)
        assert list(found.to_remember()) == [], "the next life has to know, too"


def test_a_folder_emptied_while_nobody_ran_says_that_nothing_is_wanted(file: Path) -> None:
    found, _ = folders(file)
    file.unlink()
    assert found.scan().is_gone(REF, str(file))
    assert list(found.to_remember()) == [(str(file), None, ())]


def test_a_young_file_is_not_remembered(file: Path) -> None:
    """Its times do not tell yet whether it changed: the time of its inode cannot be set."""
    found = ManifestFolders([str(file.parent)], Counting())
    found.scan()
    assert str(file) not in [name for name, _, _ in found.to_remember()]
    found.scan()
    assert str(file) not in [name for name, _, _ in found.to_remember()]
