"""A folder of links through `..data`: live at once for who watches the folder, and back."""

import os
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from syncret.daemon.delivery.links import LinksTarget
from syncret.daemon.delivery.making import Permissions
from syncret.daemon.delivery.paths import Refused, Trust, opened
from syncret.daemon.files.syscalls import OPEN_FOLDER

PAIR = {"server.pem": b"cert 1", "server.key": b"key 1"}
NEXT = {"server.pem": b"cert 2", "chain.pem": b"chain 2"}


@pytest.fixture
def web(tmp_path: Path) -> Path:
    path = tmp_path / "web"
    path.mkdir(mode=0o755)
    return path


@pytest.fixture
def target(web: Path) -> Iterator[LinksTarget]:
    folder = os.open(web, OPEN_FOLDER)
    try:
        with opened(str(web), Trust.of_process()) as place:
            yield LinksTarget(place, folder, Permissions(mode=0o440, folder_mode=0o750))
    finally:
        os.close(folder)


def shown(web: Path) -> dict[str, bytes]:
    """What a reader of the folder sees."""
    return {path.name: path.read_bytes() for path in web.iterdir() if not path.name.startswith("..")}


def deliver(target: LinksTarget, files: dict[str, bytes], generation: int) -> None:
    target.stage(files, ours=True)
    target.swap(generation)


def test_a_set_goes_live_through_data(target: LinksTarget, web: Path) -> None:
    staged = target.stage(PAIR, ours=False)
    assert shown(web) == {}
    assert not target.is_live(staged)
    target.swap(1)
    assert target.is_live(staged)
    assert shown(web) == PAIR == target.live()
    assert target.is_right(PAIR)
    assert (web / "..data").readlink() == Path("..g1")
    assert (web / "server.pem").readlink() == Path("..data/server.pem")
    assert stat.S_IMODE((web / "server.pem").stat().st_mode) == 0o440


def test_names_come_and_go_with_the_set(target: LinksTarget, web: Path) -> None:
    deliver(target, PAIR, 1)
    deliver(target, NEXT, 2)
    assert shown(web) == NEXT
    assert (web / "..g1" / "server.key").read_bytes() == b"key 1"
    target.discard_previous()
    assert {path.name for path in web.iterdir()} == {"..data", "..g2", *NEXT}


def test_a_set_goes_back(target: LinksTarget, web: Path) -> None:
    deliver(target, PAIR, 1)
    deliver(target, NEXT, 2)
    target.lead_to(1)
    assert shown(web) == PAIR
    assert target.is_right(PAIR)


def test_the_first_set_goes_back_to_nothing(target: LinksTarget, web: Path) -> None:
    deliver(target, PAIR, 1)
    target.lead_to(0)
    target.discard_previous()
    assert list(web.iterdir()) == []


def test_a_swap_that_was_interrupted_is_gone_on_with(target: LinksTarget, web: Path) -> None:
    deliver(target, PAIR, 1)
    staged = target.stage(NEXT, ours=True)
    (web / "..syncret-next").rename(web / "..g2")
    (web / "..data_tmp").symlink_to("..g2")
    assert shown(web) == PAIR
    target.swap(2)
    assert target.is_live(staged)
    assert shown(web) == NEXT


def test_a_generation_that_never_came_to_be_is_replaced(target: LinksTarget, web: Path) -> None:
    (web / "..g1").mkdir()
    (web / "..g1" / "stale").write_bytes(b"")
    deliver(target, PAIR, 1)
    assert shown(web) == PAIR


@pytest.mark.parametrize("name", ["server.pem", "..data"])
def test_drift_is_seen_and_mended(target: LinksTarget, web: Path, name: str) -> None:
    deliver(target, PAIR, 1)
    (web / name).unlink()
    (web / name).write_bytes(b"edited")
    assert not target.is_right(PAIR)
    deliver(target, PAIR, 2)
    assert target.is_right(PAIR)
    assert shown(web) == PAIR


def test_what_somebody_else_put_there_is_refused(target: LinksTarget, web: Path) -> None:
    (web / "theirs").write_bytes(b"")
    with pytest.raises(Refused, match="holds what syncret did not write"):
        target.stage(PAIR, ours=False)
    assert [path.name for path in web.iterdir()] == ["theirs"]


def test_data_that_leads_elsewhere_is_not_followed(target: LinksTarget, web: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "server.pem").write_bytes(b"precious")
    (web / "..data").symlink_to("../elsewhere")
    assert target.live() is None
    deliver(target, PAIR, 1)
    assert shown(web) == PAIR
    assert (tmp_path / "elsewhere" / "server.pem").read_bytes() == b"precious"


@pytest.mark.slow  # thousands of swaps under a reader
def test_no_reader_ever_misses_a_name_that_stays(target: LinksTarget, web: Path) -> None:
    deliver(target, PAIR, 1)
    stop = threading.Event()
    failures: list[OSError] = []

    def read() -> None:
        while not stop.is_set():
            try:
                folder = os.open(web / "..data", os.O_RDONLY | os.O_DIRECTORY)
            except OSError as error:
                failures.append(error)
                continue
            os.close(folder)

    reader = threading.Thread(target=read)
    reader.start()
    for generation in range(2, 60):
        deliver(target, PAIR, generation)
    stop.set()
    reader.join()
    assert failures == []
