"""Files of the daemon alone: what others may not be able to do, and what is said if they are."""

import os
import stat
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest

from syncret.daemon import private_paths
from syncret.daemon.private_paths import NotPrivate, check_folder, first_exposed, open_private

STRANGER = 12345


@pytest.fixture
def give_away(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], None]:
    """Let a path belong to another user; without root's privileges, let us be another user."""

    def give(path: Path) -> None:
        if os.geteuid() == 0:
            os.chown(path, STRANGER, STRANGER)
        else:
            monkeypatch.setattr(os, "geteuid", lambda: STRANGER)

    return give


@pytest.fixture
def private(tmp_path: Path) -> Path:
    folder = tmp_path / "private"
    folder.mkdir(0o755)
    return folder


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def opened(path: Path) -> None:
    os.close(open_private(str(path)))


def refusal(path: Path) -> NotPrivate:
    with pytest.raises(NotPrivate) as caught:
        opened(path)
    return caught.value


def test_a_new_file_is_its_owners_alone_whatever_the_umask(private: Path) -> None:
    before = os.umask(0)
    try:
        opened(private / "new")
    finally:
        os.umask(before)
    assert mode_of(private / "new") == 0o600


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o660])
def test_what_others_could_only_read_is_closed(private: Path, mode: int) -> None:
    """As a restored backup, or a file of a volume with an `fsGroup`."""
    path = private / "state"
    path.write_text("ours")
    path.chmod(mode)
    opened(path)
    assert (mode_of(path), path.read_text()) == (0o600, "ours")


@pytest.mark.parametrize("mode", [0o602, 0o606, 0o666])
def test_a_file_that_everyone_may_write_to_is_refused_and_left_alone(private: Path, mode: int) -> None:
    path = private / "state"
    path.touch()
    path.chmod(mode)
    refused = refusal(path)
    assert str(refused) == f"may be written to by everyone (mode {mode:04o})"
    assert f"chmod 600 {path}" in refused.hint
    assert mode_of(path) == mode


def test_a_link_is_not_followed(private: Path) -> None:
    (private / "victim").write_text("theirs")
    (private / "state").symlink_to("victim")
    refused = refusal(private / "state")
    assert str(refused) == "is a symbolic link"
    assert str(private / "victim") in refused.hint
    assert (private / "victim").read_text() == "theirs"


def test_a_fifo_is_not_waited_for(private: Path) -> None:
    os.mkfifo(private / "state")
    assert str(refusal(private / "state")) == "is not a regular file"


def test_the_file_of_another_user_is_refused(private: Path, give_away: Callable[[Path], None]) -> None:
    (private / "state").touch(0o600)
    give_away(private / "state")
    refused = refusal(private / "state")
    assert "belongs to another user (uid" in str(refused)
    assert "chown" in refused.hint


def test_nothing_stays_open_after_a_refusal(private: Path) -> None:
    (private / "state").touch()
    (private / "state").chmod(0o666)
    before = len(list(Path("/proc/self/fd").iterdir()))
    refusal(private / "state")
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_a_folder_of_another_user(private: Path, give_away: Callable[[Path], None]) -> None:
    give_away(private)
    with pytest.raises(NotPrivate, match=f"the folder {private} belongs to another user"):
        check_folder(private)


@pytest.mark.parametrize("mode", [0o700, 0o755, 0o775, 0o1777, 0o1773])
def test_folders_in_which_nobody_else_can_replace_a_file(private: Path, mode: int) -> None:
    private.chmod(mode)
    check_folder(private)


@pytest.mark.parametrize("mode", [0o777, 0o757, 0o2777, 0o702])
def test_a_folder_that_everyone_can_write_to(private: Path, mode: int) -> None:
    private.chmod(mode)
    with pytest.raises(NotPrivate, match=f"may be written to by everyone \\(mode {mode:04o}\\)") as caught:
        check_folder(private)
    assert f"chmod o-w {private}" in caught.value.hint


def test_a_folder_that_another_group_can_write_to(private: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    private.chmod(0o775)
    if private.stat().st_gid == 0:
        os.chown(private, -1, STRANGER)
    else:
        monkeypatch.setattr(os, "getegid", lambda: STRANGER)
    with pytest.raises(NotPrivate, match="may be written to by group") as caught:
        check_folder(private)
    assert f"chmod g-w {private}" in caught.value.hint


@pytest.mark.skipif(os.geteuid() != 0, reason="the folder has to be root's")
@pytest.mark.parametrize(
    ("container", "mount", "accepted"),
    [
        pytest.param(True, True, True, id="emptyDir"),
        pytest.param(True, False, False, id="a folder of the image"),
        pytest.param(False, True, False, id="a mount point of a host"),
    ],
)
def test_a_volume_of_a_container_is_out_of_reach_for_others(
    private: Path,
    monkeypatch: pytest.MonkeyPatch,
    container: bool,  # noqa: FBT001  # a column
    mount: bool,  # noqa: FBT001
    accepted: bool,  # noqa: FBT001
) -> None:
    private.chmod(0o2777)
    monkeypatch.setattr(private_paths, "_CONTAINER_MARKS", ())
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    if container:
        monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")

    def is_mount(path: Path) -> bool:
        return mount and path == private

    monkeypatch.setattr(Path, "is_mount", is_mount)
    with nullcontext() if accepted else pytest.raises(NotPrivate, match="may be written to by everyone"):
        check_folder(private)


def test_the_first_folder_on_the_way_is_named(reachable: Path) -> None:
    shared, inner = reachable / "shared", reachable / "shared" / "inner"
    inner.mkdir(parents=True)
    assert first_exposed(str(inner)) is None
    shared.chmod(0o777)
    found = first_exposed(str(inner))
    assert found is not None
    assert found.message.startswith(f"the folder {shared} may be written to by everyone (mode 0777)")
    assert not found.fatal


def test_behind_a_folder_that_others_cannot_enter_modes_do_not_matter(private: Path) -> None:
    private.chmod(0o700)
    (private / "open").mkdir()
    (private / "open").chmod(0o777)
    assert first_exposed(str(private / "open")) is None


def test_the_owner_of_the_outputs_is_trusted(private: Path, give_away: Callable[[Path], None]) -> None:
    give_away(private)
    owner = private.stat().st_uid
    assert first_exposed(str(private), owners=(owner, None)) is None
