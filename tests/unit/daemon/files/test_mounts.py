"""Where something is mounted besides its own path, told from tables as the kernel writes them."""

from pathlib import Path

import pytest

from syncret.daemon.files import mounts
from syncret.daemon.files.mounts import Elsewhere, Mount, mounted_elsewhere, parse

HOST = """\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
23 22 8:2 /@data /srv rw,relatime shared:2 - btrfs /dev/sda2 rw
24 22 0:21 / /proc rw,relatime shared:3 - proc proc rw
"""


def line(root: str, point: str, device: str = "8:2") -> str:
    return f"40 22 {device} {root} {point} rw,relatime - btrfs /dev/sda2 rw\n"


@pytest.fixture
def processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in the place of /proc; a process is a folder with its table and its name."""
    monkeypatch.setattr(mounts, "_PROCESSES", tmp_path)
    return tmp_path


def runs(processes: Path, number: str, table: str, called: str = "syncret") -> None:
    folder = processes / number
    folder.mkdir()
    (folder / "mountinfo").write_text(table)
    (folder / "comm").write_text(f"{called}\n")


def test_names_are_plain_and_those_of_removed_folders_too() -> None:
    table = line("/a\\040b//deleted", "/mnt/c\\134d") + "short\n"
    assert parse(table) == [Mount("8:2", "/a b", "/mnt/c\\d")]


@pytest.mark.parametrize(
    ("more", "points"),
    [
        pytest.param("", [], id="nowhere"),
        pytest.param(line("/@data/tls", "/opt/app"), ["/opt/app"], id="the folder"),
        pytest.param(line("/@data/tls/key", "/opt/key"), ["/opt/key"], id="a file of it"),
        pytest.param(line("/@data/old", "/opt/app"), ["/opt/app"], id="what was there before"),
        pytest.param(line("/@data/old//deleted", "/opt/app"), ["/opt/app"], id="removed since"),
        pytest.param(line("/@data", "/opt/srv"), [], id="its folder, where a new one is seen"),
        pytest.param(line("/@data/tls-2", "/opt/app"), [], id="a name that begins alike"),
        pytest.param(line("/@data/tls", "/opt/app", "8:1"), [], id="another file system"),
    ],
)
def test_what_shows_a_folder_is_found(processes: Path, more: str, points: list[str]) -> None:
    runs(processes, "self", HOST + more)
    assert mounted_elsewhere("/srv/tls", "old") == [Elsewhere(point) for point in points]


def test_a_later_mount_hides_an_earlier_one(processes: Path) -> None:
    runs(processes, "self", HOST + line("/upper", "/srv", "8:3") + line("/upper/tls", "/opt/app", "8:3"))
    assert mounted_elsewhere("/srv/tls") == [Elsewhere("/opt/app")]


def test_on_the_root_file_system(processes: Path) -> None:
    runs(processes, "self", HOST + line("/etc/tls", "/opt/app", "8:1"))
    assert mounted_elsewhere("/etc/tls") == [Elsewhere("/opt/app")]


def test_other_processes_are_named_once_for_each_of_their_views(processes: Path) -> None:
    runs(processes, "self", HOST)
    runs(processes, "1", HOST, "systemd")
    for number in ("70", "71"):
        runs(processes, number, HOST + line("/@data/tls", "/tls"), "envoy")
    [found] = mounted_elsewhere("/srv/tls")
    assert found.point == "/tls"
    assert found.process in {"envoy, process 70", "envoy, process 71"}


def test_what_this_process_sees_too_is_nobody_elses(processes: Path) -> None:
    table = HOST + line("/@data/tls", "/opt/app")
    runs(processes, "self", table)
    runs(processes, "70", table + line("/x", "/tmp", "8:1"), "nginx")
    assert mounted_elsewhere("/srv/tls") == [Elsewhere("/opt/app")]


def test_a_process_that_has_ended_is_passed_over(processes: Path) -> None:
    runs(processes, "self", HOST)
    (processes / "70").mkdir()
    assert mounted_elsewhere("/srv/tls") == []


def test_the_real_table_is_read(tmp_path: Path) -> None:
    assert mounted_elsewhere(str(tmp_path / "tls")) == []
