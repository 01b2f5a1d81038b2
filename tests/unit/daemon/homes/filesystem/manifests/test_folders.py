import os
from pathlib import Path

import pytest

from syncret.config.errors import Severity
from syncret.config.meta import ObjectRef
from syncret.config.settings import BoundFolder
from syncret.daemon.homes.filesystem.manifests.folders import ManifestFolders
from syncret.daemon.homes.filesystem.manifests.reader import MOST_PROBLEMS, FileContent, ManifestReader
from syncret.daemon.homes.filesystem.manifests.snapshot import Snapshot
from syncret.providers.registry import Registry

ONE = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\ndata: {a: '%s'}\n"
TWO = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: two}\n"
STORE = "apiVersion: external-secrets.io/v1\nkind: ClusterSecretStore\nmetadata: {name: s}\n"


def ref(name: str) -> ObjectRef:
    return ObjectRef("", "ConfigMap", "default", name)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "manifests"
    path.mkdir()
    (path / "one.yaml").write_text(ONE % 1)
    (path / "two.yaml").write_text(TWO)
    return path


@pytest.fixture
def folders(folder: Path) -> ManifestFolders:
    return ManifestFolders([str(folder)], ManifestReader(Registry()))


def told(snapshot: Snapshot) -> str:
    return "\n".join(map(str, snapshot.problems))


def test_namespaces_are_filled_in_by_kind(folder: Path, folders: ManifestFolders) -> None:
    (folder / "store.yaml").write_text(STORE)
    assert set(folders.scan().manifests) == {
        ref("one"),
        ref("two"),
        ObjectRef("external-secrets.io", "ClusterSecretStore", "", "s"),
    }


def test_a_change_is_seen_by_its_digest(folder: Path, folders: ManifestFolders) -> None:
    before = folders.scan().manifests[ref("one")]
    (folder / "one.yaml").write_text("# a comment\n" + ONE % 1)
    assert folders.scan().manifests[ref("one")].digest == before.digest
    (folder / "one.yaml").write_text(ONE % 2)
    assert folders.scan().manifests[ref("one")].digest != before.digest


def test_a_young_file_is_parsed_again_only_if_it_holds_something_else(
    folder: Path, folders: ManifestFolders, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may have been written once more within a tick of its times: it is read, but not parsed for that."""
    parsed: list[str] = []
    read = ManifestReader.read

    def counted(
        reader: ManifestReader, file: str, data: bytes, bound: BoundFolder | None = None
    ) -> FileContent:
        parsed.append(Path(file).name)
        return read(reader, file, data, bound)

    monkeypatch.setattr(ManifestReader, "read", counted)
    times = (folder / "one.yaml").stat().st_mtime_ns
    assert folders.refresh()
    folders.snapshot()
    assert not folders.refresh()
    assert sorted(parsed) == ["one.yaml", "two.yaml"]
    (folder / "one.yaml").write_text(ONE % 2)
    os.utime(folder / "one.yaml", ns=(times, times))
    assert folders.refresh()
    assert sorted(parsed) == ["one.yaml", "one.yaml", "two.yaml"]


def test_a_deleted_file_and_a_deleted_document_are_gone(folder: Path, folders: ManifestFolders) -> None:
    (folder / "one.yaml").write_text(ONE % 1 + "---\n" + TWO.replace("two", "three"))
    folders.scan()
    (folder / "one.yaml").write_text(ONE % 1)
    (folder / "two.yaml").unlink()
    snapshot = folders.scan()
    assert snapshot.is_gone(ref("two"), str(folder / "two.yaml"))
    assert snapshot.is_gone(ref("three"), str(folder / "one.yaml"))
    assert not snapshot.is_gone(ref("one"), str(folder / "one.yaml"))


def test_a_renamed_file_keeps_its_objects(folder: Path, folders: ManifestFolders) -> None:
    before = folders.scan().manifests[ref("one")]
    (folder / "one.yaml").rename(folder / "renamed.yaml")
    after = folders.scan().manifests[ref("one")]
    assert (after.digest, after.file) == (before.digest, str(folder / "renamed.yaml"))


def test_new_nested_folders_are_found(folder: Path, folders: ManifestFolders) -> None:
    folders.scan()
    (folder / "a/b/c").mkdir(parents=True)
    (folder / "a/b/c/three.yaml").write_text(TWO.replace("two", "three"))
    assert ref("three") in folders.scan().manifests


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("x.yaml", True),
        ("x.yml", True),
        ("x.json", True),
        ("x.txt", False),
        (".x.yaml", False),
        ("x.yaml~", False),
        (".hidden/x.yaml", False),
    ],
)
def test_which_files_are_manifests(folder: Path, folders: ManifestFolders, name: str, counts: bool) -> None:  # noqa: FBT001  # a column
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text('{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}}')
    assert (ref("x") in folders.scan().manifests) is counts


@pytest.mark.parametrize(
    ("content", "says"),
    [
        pytest.param(b"a: [", "one.yaml", id="syntax"),
        pytest.param(b"\xff\xfe\x00", "UTF-8", id="not-utf-8"),
        pytest.param(b"just text", "object", id="no-mapping"),
        pytest.param(b"apiVersion: v1\nkind: ConfigMap\nmetadata: {}\n", "name", id="no-name"),
        pytest.param(
            b"apiVersion: v1\nkind: Deploymnt\nmetadata: {name: x}\n", "unknown kind", id="unknown-kind"
        ),
    ],
)
def test_a_bad_file_leaves_what_it_said_last_in_force(
    folder: Path, folders: ManifestFolders, content: bytes, says: str
) -> None:
    folders.scan()
    (folder / "one.yaml").write_bytes(content)
    snapshot = folders.scan()
    assert ref("one") in snapshot.manifests
    assert ref("two") in snapshot.manifests
    assert says in told(snapshot)
    assert str(folder / "one.yaml") in told(snapshot)
    assert not snapshot.is_gone(ref("remembered"), str(folder / "one.yaml"))
    (folder / "one.yaml").write_text(ONE % 3)
    assert folders.scan().problems == []


def test_a_bad_document_stops_no_other_of_its_file(folder: Path, folders: ManifestFolders) -> None:
    (folder / "one.yaml").write_text("a: [\n---\n" + ONE % 1)
    snapshot = folders.scan()
    assert ref("one") in snapshot.manifests
    assert len(snapshot.problems) == 1


def test_a_bad_version_of_a_named_object_leaves_the_good_one(folder: Path, folders: ManifestFolders) -> None:
    before = folders.scan().manifests[ref("one")]
    (folder / "one.yaml").write_text(ONE % 1 + "data: {twice: x}\n")
    snapshot = folders.scan()
    assert snapshot.manifests[ref("one")] is before or snapshot.manifests[ref("one")].digest == before.digest
    assert snapshot.problems[0].problem.line == 5


def test_the_first_of_two_files_stays_in_force(folder: Path, folders: ManifestFolders) -> None:
    before = folders.scan().manifests[ref("one")]
    (folder / "a.yaml").write_text(ONE % 2)
    snapshot = folders.scan()
    assert snapshot.manifests[ref("one")].digest == before.digest
    assert f"{folder}/a.yaml:1" in told(snapshot)
    (folder / "one.yaml").unlink()
    snapshot = folders.scan()
    assert snapshot.manifests[ref("one")].file == str(folder / "a.yaml")
    assert snapshot.problems == []


def test_a_folder_that_vanishes_deletes_nothing(folder: Path, folders: ManifestFolders) -> None:
    folders.scan()
    folder.rename(folder.with_name("aside"))
    snapshot = folders.scan()
    assert {ref("one"), ref("two")} <= set(snapshot.manifests)
    assert not snapshot.is_gone(ref("remembered"), str(folder / "sub/x.yaml"))
    assert "stays in force" in told(snapshot)
    folder.mkdir()
    (folder / "one.yaml").write_text(ONE % 1)
    snapshot = folders.scan()
    assert set(snapshot.manifests) == {ref("one")}
    assert snapshot.is_gone(ref("two"), str(folder / "two.yaml"))


def test_an_empty_disk_mounted_over_the_folder_deletes_nothing(
    folder: Path, folders: ManifestFolders, small_disk: Path
) -> None:
    folders.scan()
    folder.rename(folder.with_name("aside"))
    folder.symlink_to(small_disk)
    snapshot = folders.scan()
    assert {ref("one"), ref("two")} <= set(snapshot.manifests)
    assert "empty file system" in told(snapshot)


def test_an_emptied_folder_says_that_nothing_is_wanted(folder: Path, folders: ManifestFolders) -> None:
    folders.scan()
    (folder / "one.yaml").unlink()
    (folder / "two.yaml").unlink()
    assert folders.scan().manifests == {}


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_cannot_be_read_leaves_what_it_said(folder: Path, folders: ManifestFolders) -> None:
    folders.scan()
    (folder / "one.yaml").chmod(0)
    snapshot = folders.scan()
    assert ref("one") in snapshot.manifests
    assert "cannot be read" in told(snapshot)


def test_links_are_followed_once(folder: Path, folders: ManifestFolders, tmp_path: Path) -> None:
    """As in a mounted ConfigMap: files are links into a hidden folder, which is replaced as a whole."""
    real = tmp_path / "manifests/..2026"
    real.mkdir()
    (real / "three.yaml").write_text(TWO.replace("two", "three"))
    (folder / "three.yaml").symlink_to(real / "three.yaml")
    (folder / "loop").symlink_to(folder)
    snapshot = folders.scan()
    assert snapshot.manifests[ref("three")].file == str(folder / "three.yaml")
    assert snapshot.problems == []


def test_a_file_may_be_given_by_itself(folder: Path) -> None:
    folders = ManifestFolders(
        [str(folder / "one.yaml"), str(folder / "none.yaml")], ManifestReader(Registry())
    )
    snapshot = folders.scan()
    assert set(snapshot.manifests) == {ref("one")}
    assert "none.yaml" in told(snapshot)


def test_a_link_to_itself_stops_no_other_file(folder: Path, folders: ManifestFolders) -> None:
    (folder / "loop.yaml").symlink_to("loop.yaml")
    snapshot = folders.scan()
    assert set(snapshot.manifests) == {ref("one"), ref("two")}
    assert f"{folder}/loop.yaml: cannot be read: Too many levels of symbolic links" in told(snapshot)


def test_a_link_whose_end_is_not_there_leaves_what_it_said(
    folder: Path, folders: ManifestFolders, tmp_path: Path
) -> None:
    (tmp_path / "disk.yaml").write_text(TWO.replace("two", "linked"))
    (folder / "linked.yaml").symlink_to(tmp_path / "disk.yaml")
    folders.scan()
    (tmp_path / "disk.yaml").unlink()
    snapshot = folders.scan()
    assert ref("linked") in snapshot.manifests
    assert "cannot be read: No such file or directory" in told(snapshot)
    (folder / "linked.yaml").unlink()
    assert folders.scan().is_gone(ref("linked"), str(folder / "linked.yaml"))


@pytest.mark.skipif(os.getuid() == 0, reason="root reads everything")
def test_a_locked_folder_stops_nothing_beside_it(folder: Path, folders: ManifestFolders) -> None:
    (folder / "locked").mkdir(mode=0o000)
    snapshot = folders.scan()
    assert set(snapshot.manifests) == {ref("one"), ref("two")}
    assert f"{folder}/locked: cannot be read: Permission denied" in told(snapshot)


def test_a_name_that_is_no_text_is_told_and_stops_no_other(folder: Path, folders: ManifestFolders) -> None:
    (folder / os.fsdecode(b"\xff.yaml")).write_text(TWO.replace("two", "three"))
    snapshot = folders.scan()
    assert set(snapshot.manifests) == {ref("one"), ref("two")}
    assert f"{folder}/\\xff.yaml: the name of the file is not UTF-8 text (rename it)" in told(snapshot)


def test_who_looks_again_and_again_never_waits_for_a_pipe(folder: Path) -> None:
    os.mkfifo(folder / "in-a-folder.yaml")
    os.mkfifo(named := folder.parent / "named")
    folders = ManifestFolders([str(folder), str(named)], ManifestReader(Registry()))
    snapshot = folders.scan()
    assert set(snapshot.manifests) == {ref("one"), ref("two")}
    assert f"{folder}/in-a-folder.yaml: is a pipe, not a file, and is not read" in told(snapshot)
    assert f"{named}: is a pipe: it cannot be read again and again (name a file or a folder" in told(snapshot)


def test_a_file_that_became_a_pipe_deletes_nothing(folder: Path, folders: ManifestFolders) -> None:
    folders.scan()
    (folder / "one.yaml").unlink()
    os.mkfifo(folder / "one.yaml")
    snapshot = folders.scan()
    assert not snapshot.is_gone(ref("one"), str(folder / "one.yaml"))
    assert ref("one") in snapshot.manifests


def test_documents_of_other_tools_are_notes(folder: Path, folders: ManifestFolders) -> None:
    (folder / "kustomization.yaml").write_text("resources: [one.yaml]")
    (folder / "two.yaml").write_text(
        TWO + "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\n"
    )
    snapshot = folders.scan()

    assert set(snapshot.manifests) == {ref("one"), ref("two")}
    assert [each.problem.severity for each in snapshot.problems] == [Severity.NOTE, Severity.NOTE]
    assert told(snapshot).splitlines() == [
        f"{folder}/kustomization.yaml:1: a file of Kustomize or Helm is passed over",
        f"{folder}/two.yaml:5: Deployment of apps is passed over",
    ]
    assert not snapshot.unreadable_paths


def test_of_very_many_problems_of_a_file_the_first_are_told(folder: Path, folders: ManifestFolders) -> None:
    (folder / "bad.yaml").write_text("---\n".join(["apiVersion: v1\nkind: Secret\n"] * 5000))
    snapshot = folders.scan()
    assert len(snapshot.problems) == MOST_PROBLEMS + 1
    assert "has 4900 more problems" in told(snapshot)
    assert snapshot.problems[-1].problem.severity is Severity.ERROR
    assert {ref("one"), ref("two")} <= set(snapshot.manifests)


def test_large_files_may_be_left_for_the_next_look(folder: Path, folders: ManifestFolders) -> None:
    folders.scan()
    (folder / "one.yaml").write_text("# large\n" * 1000 + ONE.replace("one", "other") % 1)
    (folder / "three.yaml").write_text(TWO.replace("two", "three"))

    assert folders.refresh(largest=1000)
    assert folders.postponed == {str(folder / "one.yaml")}
    first = folders.snapshot()
    assert set(first.manifests) == {ref("one"), ref("two"), ref("three")}
    assert not first.is_gone(ref("other"), str(folder / "one.yaml")), "nobody knows yet"

    assert folders.refresh(folders.postponed)
    assert not folders.postponed
    assert set(folders.snapshot().manifests) == {ref("other"), ref("two"), ref("three")}
