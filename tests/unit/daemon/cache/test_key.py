"""Where the key comes from, and which are refused."""

import base64
import os
from pathlib import Path

import pytest

from syncret.daemon.cache.errors import CacheUnusable
from syncret.daemon.cache.key import find_keys, new_key

RAW = bytes(range(32))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    tmp_path.chmod(0o700)
    return tmp_path


def written(path: Path, content: bytes, mode: int = 0o600) -> Path:
    path.write_bytes(content)
    path.chmod(mode)
    return path


@pytest.mark.parametrize("content", [RAW, base64.b64encode(RAW) + b"\n"], ids=["bytes", "base64"])
def test_a_key_is_read_from_a_file(folder: Path, content: bytes) -> None:
    path = written(folder / "key", content)
    assert find_keys(f"file:{path}", None) == (RAW, None)


def test_the_former_key_lies_beside_it(folder: Path) -> None:
    written(folder / "key", RAW)
    written(folder / "key-old", b"o" * 32)
    assert find_keys(f"file:{folder}/key", None).former == b"o" * 32


def test_a_credential_is_taken_as_systemd_gives_it(folder: Path) -> None:
    written(folder / "cache-key", RAW, 0o440)
    assert find_keys("credential:cache-key", str(folder)).current == RAW


def test_a_new_key_can_be_read(folder: Path) -> None:
    path = written(folder / "key", new_key())
    assert len(find_keys(f"file:{path}", None).current) == 32


@pytest.mark.parametrize(
    ("content", "mode", "why"),
    [
        pytest.param(RAW, 0o640, "may be read by others", id="readable by a group"),
        pytest.param(b"short", 0o600, "holds no key", id="too short"),
        pytest.param(b"", 0o600, "holds no key", id="empty"),
    ],
)
def test_a_bad_file_is_refused_with_the_reason(folder: Path, content: bytes, mode: int, why: str) -> None:
    path = written(folder / "key", content, mode)
    with pytest.raises(CacheUnusable, match=why):
        find_keys(f"file:{path}", None)


def test_a_link_is_not_followed(folder: Path) -> None:
    written(folder / "real", RAW)
    (folder / "key").symlink_to("real")
    with pytest.raises(CacheUnusable):
        find_keys(f"file:{folder}/key", None)


def test_a_folder_that_others_write_to_is_refused(folder: Path) -> None:
    written(folder / "key", RAW)
    folder.chmod(0o777)
    with pytest.raises(CacheUnusable, match="may be written to by everyone"):
        find_keys(f"file:{folder}/key", None)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_key_of_somebody_else_is_refused(folder: Path) -> None:
    path = written(folder / "key", RAW)
    os.chown(path, 12345, -1)
    with pytest.raises(CacheUnusable, match="belongs to another user"):
        find_keys(f"file:{path}", None)


@pytest.mark.parametrize("credentials", [None, "/nonexistent"], ids=["no credentials", "no such credential"])
def test_a_missing_credential_is_named(credentials: str | None) -> None:
    with pytest.raises(CacheUnusable, match="cache-key"):
        find_keys("credential:cache-key", credentials)
