"""Files that manifests name: which are read, and that no other is even opened."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from syncret.providers.errors import Malformed
from syncret.providers.kit.auth.manifest_files import LARGEST, ManifestFiles

CANARY = b"hunter2-canary"


@pytest.fixture
def mounts(tmp_path: Path) -> Path:
    folder = tmp_path / "mounts"
    folder.mkdir()
    (folder / "token").write_bytes(CANARY + b"\n")
    (tmp_path / "outside").write_bytes(CANARY)
    return folder


def reader(mounts: Path, **environment: str) -> ManifestFiles:
    return ManifestFiles((str(mounts),), environment)


def error(files: ManifestFiles, path: Path | str) -> Malformed:
    with pytest.raises(Malformed) as caught:
        files(str(path), what="token")
    assert CANARY.decode() not in f"{caught.value!r} {caught.value.hint} {caught.value.__context__!r}"
    return caught.value


def test_a_file_is_read_anew_each_time(mounts: Path) -> None:
    files = reader(mounts)
    assert files(str(mounts / "token"), what="token").raw == CANARY
    (mounts / "token").write_bytes(b"renewed")
    assert files(str(mounts / "token"), what="token").raw == b"renewed"


def test_links_are_followed_as_the_kubelet_makes_them(mounts: Path) -> None:
    (mounts / "..2026_01").mkdir()
    (mounts / "..2026_01" / "jwt").write_bytes(CANARY)
    (mounts / "..data").symlink_to("..2026_01")
    (mounts / "jwt").symlink_to("..data/jwt")
    assert reader(mounts)(str(mounts / "jwt"), what="token").raw == CANARY


def test_a_folder_that_is_a_link_is_the_folder_it_leads_to(mounts: Path, tmp_path: Path) -> None:
    """As /var/run/secrets is /run/secrets."""
    (tmp_path / "run").symlink_to(mounts)
    for folder in (mounts, tmp_path / "run"):
        files = ManifestFiles((str(folder),), {})
        assert files(str(tmp_path / "run" / "token"), what="token").raw == CANARY
        assert files(str(mounts / "token"), what="token").raw == CANARY


@pytest.mark.parametrize(
    "name",
    [
        "../outside",
        "../mounts-of-others/token",
        "link",
        "/etc/passwd",
        "/proc/self/fd/1",
        "/nonexistent/file",
        ".",
    ],
)
def test_what_is_elsewhere_is_refused_alike_whether_it_exists_or_not(mounts: Path, name: str) -> None:
    (mounts / "link").symlink_to("../outside")
    (mounts.parent / "mounts-of-others").mkdir()
    (mounts.parent / "mounts-of-others" / "token").write_bytes(CANARY)
    folder = mounts / "tokens"
    folder.mkdir()
    refused = error(ManifestFiles((str(folder),), {}), mounts / name)
    assert f"the token file {mounts / name} is outside of the folders" in refused.message
    assert str(folder) in refused.hint
    assert "manifestFiles" in refused.hint


def test_without_a_folder_no_file_is_read(mounts: Path) -> None:
    assert "outside" in error(ManifestFiles((), {}), mounts / "token").message


def fifo(path: Path) -> None:
    os.mkfifo(path)


def folder(path: Path) -> None:
    path.mkdir()


def unix_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(path))


@pytest.mark.parametrize("make", [fifo, folder, unix_socket])
def test_only_regular_files_are_opened(mounts: Path, make: Callable[[Path], None]) -> None:
    make(mounts / "special")
    assert error(reader(mounts), mounts / "special").message == (
        f"the token file {mounts / 'special'} is not a regular file"
    )


def test_a_device_is_not_opened_even_if_its_folder_is_allowed() -> None:
    assert "is not a regular file" in error(ManifestFiles(("/dev",), {}), "/dev/zero").message


def test_a_pipe_that_the_process_holds_is_not_waited_for() -> None:
    """As the standard output of a container."""
    reading, writing = os.pipe()
    try:
        assert "outside" in error(ManifestFiles(("/proc",), {}), f"/proc/self/fd/{reading}").message
    finally:
        os.close(reading)
        os.close(writing)


def test_a_link_that_is_changed_after_the_first_look(
    mounts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What counts is the file that is open, not the name it had before."""
    (mounts / "link").symlink_to("token")
    real = os.open

    def swapped(path: str, flags: int) -> int:
        if path.endswith("/link"):
            (mounts / "link").unlink()
            (mounts / "link").symlink_to(tmp_path / "outside")
        return real(path, flags)

    monkeypatch.setattr(os, "open", swapped)
    assert "outside" in error(reader(mounts), mounts / "link").message


def test_the_daemons_own_credentials_are_refused(mounts: Path) -> None:
    (mounts / "link").symlink_to("token")
    files = reader(mounts, AWS_WEB_IDENTITY_TOKEN_FILE=str(mounts / "token"))
    for name in ("token", "link"):
        assert "is the daemon's own token" in error(files, mounts / name).message


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(b" \n", "is empty", id="empty"),
        pytest.param(b"x" * (LARGEST + 1), f"is larger than {LARGEST} bytes", id="large"),
        pytest.param(None, "cannot be read: No such file or directory", id="missing"),
    ],
)
def test_what_is_no_token(mounts: Path, content: bytes | None, message: str) -> None:
    (mounts / "token").unlink()
    if content is not None:
        (mounts / "token").write_bytes(content)
    assert message in error(reader(mounts), mounts / "token").message


def test_a_path_that_no_file_can_have(mounts: Path) -> None:
    assert "NUL" in error(reader(mounts), f"{mounts}/a\0b").message


def test_nothing_stays_open(mounts: Path) -> None:
    fifo(mounts / "fifo")
    files = reader(mounts)
    before = os.listdir("/proc/self/fd")  # noqa: PTH208  # a list of names
    for name in ("token", "fifo", "missing"):
        try:
            files(str(mounts / name), what="token")
        except Malformed:
            continue
    assert os.listdir("/proc/self/fd") == before  # noqa: PTH208
