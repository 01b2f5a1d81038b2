"""What stands at a path, within bounds: files, and pipes, whose writers may be slow, gone or none at all."""

import os
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from syncret.config.manifests import loader
from syncret.config.manifests.loader import read_bounded, unreadable


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
    monkeypatch.setattr(loader, "PATIENCE", 0.02)
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


def test_a_pipe_that_nobody_writes_to_is_given_up(pipe: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loader, "PATIENCE", 0.02)
    assert (
        why(pipe)
        == "is a pipe that no process writes to (start the process that writes to it, or name a file)"
    )


def test_what_cannot_be_read_is_told_with_a_remedy(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket"))
        assert why(tmp_path / "socket") == "is a socket, not a file (name a file)"
    assert why(tmp_path) == "cannot be read: Is a directory (name a file)"
    assert why(tmp_path / "missing") == "there is no such file or folder (correct the path, or create it)"
    assert why("a\0b") == "cannot be read: the name has a NUL (correct the name)"
    (tmp_path / "loop").symlink_to("loop")
    told = "cannot be read: Too many levels of symbolic links (repair or remove it)"
    assert why(tmp_path / "loop") == told
    refused = PermissionError(13, "Permission denied")
    assert str(unreadable(refused)) == (
        "cannot be read: Permission denied (let the user that syncret runs as read it)"
    )


def why(path: str | Path) -> str:
    with pytest.raises((OSError, ValueError)) as caught:
        read_bounded(path, 10)
    assert isinstance(caught.value, OSError | ValueError)
    return str(unreadable(caught.value))
