"""What stands at a path, within bounds: files, and pipes, whose writers may be slow, gone or none at all."""

import os
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from syncret.config.manifests import loader
from syncret.config.manifests.loader import LoadedDocument, load, read_bounded, unreadable
from syncret.config.text.yaml_values import Limits


def manifest(name: str, kind: str = "Secret", extra: str = "") -> str:
    return f"apiVersion: v1\nkind: {kind}\nmetadata: {{name: {name}}}\n{extra}"


def names(loaded: list[LoadedDocument], root: Path) -> list[tuple[str, str]]:
    return [
        (os.path.relpath(each.file, root), (each.document or {}).get("metadata", {}).get("name", "-"))
        for each in loaded
    ]


def messages(loaded: list[LoadedDocument]) -> list[str]:
    return [problem.message for each in loaded for problem in each.problems]


def reported(loaded: list[LoadedDocument]) -> list[str]:
    return [f"{Path(each.file).name}: {problem}" for each in loaded for problem in each.problems]


def test_a_folder_is_read_through_in_the_order_of_names(tmp_path: Path) -> None:
    for place in ("b.yaml", "a.yml", "c/d.json", "c/e.txt", ".hidden.yaml", ".git/f.yaml"):
        file = tmp_path / place
        file.parent.mkdir(exist_ok=True)
        name = file.stem.strip(".")
        file.write_text(f'{{"apiVersion": "v1", "kind": "Secret", "metadata": {{"name": "{name}"}}}}')
    assert names(load([tmp_path]), tmp_path) == [("a.yml", "a"), ("b.yaml", "b"), ("c/d.json", "d")]


def test_a_mounted_config_map_is_read_once(tmp_path: Path) -> None:
    version = tmp_path / "..2026_01_01"
    version.mkdir()
    (version / "a.yaml").write_text(manifest("a"))
    (tmp_path / "..data").symlink_to(version.name)
    (tmp_path / "a.yaml").symlink_to("..data/a.yaml")
    (tmp_path / "again.yaml").symlink_to("a.yaml")
    (tmp_path / "loop").symlink_to(".")
    assert names(load([tmp_path, tmp_path / "a.yaml"]), tmp_path) == [("a.yaml", "a")]


def test_what_is_no_file_is_reported_and_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    os.mkfifo(tmp_path / "another-pipe")
    (tmp_path / "device.yaml").symlink_to("/dev/zero")
    (tmp_path / "folder.yaml").mkdir()
    assert reported(load([tmp_path])) == [
        "device.yaml: is a device, not a file, and is not read (remove or rename it)",
        "pipe.yaml: is a pipe, not a file, and is not read (remove or rename it)",
    ]


@pytest.mark.parametrize("file", ["", "notes.txt", ".hidden.yaml", ".git/a.yaml"])
def test_a_folder_without_manifests_is_reported(tmp_path: Path, file: str) -> None:
    (tmp_path / ".git").mkdir()
    if file:
        (tmp_path / file).write_text(manifest("a"))
    (one,) = load([tmp_path])
    assert [(problem.message, problem.fatal) for problem in one.problems] == [
        ("the folder contains no manifests", False)
    ]


def test_a_folder_whose_manifests_were_read_before_holds_some(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(manifest("a"))
    assert len(load([tmp_path / "a.yaml", tmp_path, tmp_path])) == 1


def test_a_file_that_is_named_needs_no_suffix(tmp_path: Path) -> None:
    file = tmp_path / ".manifest"
    file.write_text(manifest("a"))
    assert names(load([str(file)]), tmp_path) == [(".manifest", "a")]


def test_what_cannot_be_read_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "dangling.yaml").symlink_to("nowhere")
    loaded = load([tmp_path, tmp_path / "missing", "a\0b"])
    assert [each.document for each in loaded] == [None, None, None]
    assert reported(loaded) == [
        "dangling.yaml: cannot be read: No such file or directory (correct or remove the link)",
        "missing: there is no such file or folder (correct the path, or create it)",
        "a\0b: cannot be read: the name has a NUL (correct the name)",
    ]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_what_may_not_be_read_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").touch(mode=0o000)
    assert messages(load([tmp_path])) == ["cannot be read: Permission denied"]


def test_a_large_file_is_refused_without_reading_it_all(tmp_path: Path) -> None:
    file = tmp_path / "large.yaml"
    with file.open("wb") as stream:
        stream.truncate(1 << 40)
    assert messages(load([file], Limits(file=1000))) == ["is larger than 1000 bytes"]


def test_an_object_that_is_defined_twice_is_reported_with_the_first_place(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("\n" + manifest("a"))
    (tmp_path / "b.yaml").write_text(
        manifest("a", kind="ConfigMap")
        + "---\n"
        + "apiVersion: v1\nkind: Secret\nmetadata:\n  namespace: default\n  name: a\n"
        + "---\n"
        + "apiVersion: v1\nkind: Secret\nmetadata:\n  namespace: other\n  name: a\n"
    )
    loaded = load([tmp_path])
    problems = [(each.line, problem.line, str(problem)) for each in loaded for problem in each.problems]
    expected = (
        f"metadata.name: Secret/default/a is already defined at {tmp_path}/a.yaml:2 "
        "(remove one of them, or give it another name)"
    )
    assert problems == [(5, 9, expected)]


def test_a_name_that_is_not_utf8_is_reported_and_stops_no_other(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"\xff.yaml")).write_text("kind: A\n")
    (tmp_path / "good.yaml").write_text("kind: B\n")
    good, bad = load([tmp_path])
    assert good.document == {"kind": "B"}
    assert (bad.file, bad.document) == (f"{tmp_path}/\\xff.yaml", None)
    assert [problem.message for problem in bad.problems] == ["the name of the file is not UTF-8 text"]


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return path


@pytest.fixture
def in_thread() -> Iterator[Callable[[Callable[[], object]], None]]:
    threads: list[threading.Thread] = []

    def start(work: Callable[[], object]) -> None:
        threads.append(threading.Thread(target=work))
        threads[-1].start()

    yield start
    for thread in threads:
        thread.join()


def test_a_file_is_read_up_to_the_limit(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    assert read_bounded(tmp_path / "a", 10) == b"abc"
    assert read_bounded(tmp_path / "a", 2) == b"ab"
    assert read_bounded("/dev/zero", 3) == b"\0\0\0"


def test_a_pipe_is_read_to_its_end(pipe: Path, in_thread: Callable[[Callable[[], object]], None]) -> None:
    in_thread(lambda: pipe.write_bytes(b"x" * 200_000))
    assert read_bounded(pipe, 1_000_000) == b"x" * 200_000


def test_a_pipe_whose_writer_takes_long_is_waited_for(
    pipe: Path, in_thread: Callable[[Callable[[], object]], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loader, "PIPE_TIMEOUT", 0.02)
    opened, done = threading.Event(), threading.Event()

    def write() -> None:
        with pipe.open("wb", buffering=0) as stream:
            opened.set()
            for piece in (b"late", b" and ", b"later"):
                done.wait(0.05)
                stream.write(piece)

    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    in_thread(write)
    opened.wait()
    assert read_bounded(pipe, 100) == b"late and later"
    os.close(reader)


def test_a_pipe_of_a_shell_is_read_after_its_writer_left() -> None:
    reader, writer = os.pipe()
    os.write(writer, b"all of it")
    os.close(writer)
    assert read_bounded(f"/dev/fd/{reader}", 100) == b"all of it"
    os.close(reader)


def test_a_pipe_without_end_is_read_up_to_the_limit() -> None:
    reader, writer = os.pipe()
    os.write(writer, b"x" * 1000)
    assert read_bounded(f"/dev/fd/{reader}", 600) == b"x" * 600
    os.close(reader)
    os.close(writer)


def test_a_pipe_without_a_writer_is_given_up(pipe: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loader, "PIPE_TIMEOUT", 0.02)
    assert (
        why(pipe)
        == "is a pipe that no process writes to (start the process that writes to it, or name a file)"
    )


def test_an_unreadable_file_is_reported_with_a_remedy(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket"))
        assert why(tmp_path / "socket") == "is a socket, not a file (name a file)"
    assert why(tmp_path) == "cannot be read: Is a directory (name a file)"
    assert why(tmp_path / "missing") == "there is no such file or folder (correct the path, or create it)"
    assert why("a\0b") == "cannot be read: the name has a NUL (correct the name)"
    (tmp_path / "loop").symlink_to("loop")
    problem = "cannot be read: Too many levels of symbolic links (repair or remove it)"
    assert why(tmp_path / "loop") == problem
    refused = PermissionError(13, "Permission denied")
    assert str(unreadable(refused)) == (
        "cannot be read: Permission denied (let the user that syncret runs as read it)"
    )


def why(path: str | Path) -> str:
    with pytest.raises((OSError, ValueError)) as caught:
        read_bounded(path, 10)
    assert isinstance(caught.value, OSError | ValueError)
    return str(unreadable(caught.value))
