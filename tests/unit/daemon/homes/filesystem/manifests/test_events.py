import asyncio
import shutil
import threading
import time
from collections.abc import AsyncGenerator, Callable, Collection
from contextlib import aclosing
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import watchfiles
from structlog.testing import capture_logs
from watchfiles.main import FileChange

from syncret.daemon.homes.filesystem.manifests import events
from syncret.daemon.homes.filesystem.manifests.events import folder_events
from tests.unit.daemon.homes.filesystem.homes import made_anew


async def following(times: AsyncGenerator[Collection[str], None]) -> Collection[str]:
    async with asyncio.timeout(60):
        return await anext(times)


async def touched(times: AsyncGenerator[Collection[str], None]) -> Collection[str]:
    """The next look that an event caused."""
    while not (files := await following(times)):
        pass
    return files


async def test_the_first_look_comes_at_once(tmp_path: Path) -> None:
    async with aclosing(folder_events([str(tmp_path)], rescan=60, debounce=0.02)) as times:
        assert await following(times) == set()


async def test_an_event_names_the_file(tmp_path: Path) -> None:
    async with aclosing(folder_events([str(tmp_path)], rescan=60, debounce=0.02)) as times:
        await following(times)
        (tmp_path / "a.yaml").write_text("x")
        assert str(tmp_path / "a.yaml") in await touched(times)


async def test_a_burst_of_events_is_few_looks(tmp_path: Path) -> None:
    async with aclosing(folder_events([str(tmp_path)], rescan=60, debounce=0.05)) as times:
        await following(times)
        for number in range(200):
            (tmp_path / f"{number}.yaml").write_text("x")
        seen: set[str] = set()
        count = 0
        while len(seen) < 200:
            seen |= set(await touched(times))
            count += 1
        assert count <= 10  # three where nothing else runs


async def test_looks_that_events_ask_for_are_apart(tmp_path: Path) -> None:
    """However fast a file changes, the looks keep their distance: that is their bound."""
    begun: list[float] = []
    async with aclosing(folder_events([str(tmp_path)], rescan=60, debounce=0.02)) as times:
        await following(times)
        for number in range(4):
            (tmp_path / "a.yaml").write_text(f"{number}")
            await touched(times)
            begun.append(time.monotonic())
    assert all(later - earlier >= 0.079 for earlier, later in pairwise(begun))


async def test_without_events_the_clock_tells(tmp_path: Path) -> None:
    async with aclosing(folder_events([str(tmp_path)], rescan=0.1, debounce=0.02)) as times:
        for _ in range(3):
            assert await following(times) == set()


async def test_events_that_cannot_be_had_leave_the_clock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_paths: str, **_options: object) -> AsyncGenerator[set[tuple[int, str]], None]:
        raise OSError("OS file watch limit reached")

    monkeypatch.setattr(watchfiles, "awatch", refused)
    async with aclosing(folder_events([str(tmp_path)], rescan=0.1, debounce=0.02)) as times:
        for _ in range(3):
            assert await following(times) == set()


async def test_events_are_asked_for_again_and_that_there_are_none_is_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusals = 3
    awatch: Callable[..., AsyncGenerator[set[FileChange], None]] = watchfiles.awatch  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]  # names trio

    def refused(*paths: str, **options: Any) -> AsyncGenerator[set[FileChange], None]:  # noqa: ANN401  # watchfiles' own
        nonlocal refusals
        refusals -= 1
        if refusals >= 0:
            raise OSError("OS file watch limit reached")
        return awatch(*paths, **options)

    monkeypatch.setattr(watchfiles, "awatch", refused)
    with capture_logs() as logs:
        async with (
            asyncio.timeout(60),
            aclosing(folder_events([str(tmp_path)], rescan=0.1, debounce=0.02)) as times,
        ):
            while refusals >= 0:
                await following(times)
            (tmp_path / "a.yaml").write_text("x")
            assert str(tmp_path / "a.yaml") in await touched(times)
    assert [line["reason"] for line in logs] == ["OS file watch limit reached"]


async def test_no_paths_and_missing_paths_are_no_error(tmp_path: Path) -> None:
    async with aclosing(folder_events([], rescan=0.1, debounce=0.02)) as times:
        assert [await following(times), await following(times)] == [set(), set()]
    async with aclosing(folder_events([str(tmp_path / "none")], rescan=0.1, debounce=0.02)) as times:
        assert [await following(times), await following(times)] == [set(), set()]


async def test_a_folder_that_is_replaced_is_watched_again(tmp_path: Path) -> None:
    folder = tmp_path / "manifests"
    folder.mkdir()
    async with aclosing(folder_events([str(folder)], rescan=60, debounce=0.02)) as times:
        await following(times)
        folder.rename(tmp_path / "aside")
        await following(times)
        folder.mkdir()
        (folder / "a.yaml").write_text("x")
        while not await following(times):  # looks that no event caused, until the new folder is watched
            (folder / "a.yaml").write_text("y")


async def test_a_folder_made_anew_under_its_old_number_is_watched_again(tmp_path: Path) -> None:
    folder = tmp_path / "manifests"
    folder.mkdir()
    async with aclosing(folder_events([str(folder)], rescan=60, debounce=0.02)) as times:
        await following(times)
        made_anew(folder)
        await following(times)
        while not (files := await following(times)):  # looks that no event caused, until it is watched
            (folder / "a.yaml").write_text("y")
        assert files == {str(folder / "a.yaml")}


async def test_a_file_that_an_editor_replaces_is_watched_again(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text("1")
    async with aclosing(folder_events([str(file)], rescan=60, debounce=0.02)) as times:
        await following(times)
        for number in range(3):
            (tmp_path / "new").write_text(str(number))
            (tmp_path / "new").rename(file)
            await following(times)


def swap(mount: Path, version: str, content: str) -> None:
    """Bring a mounted ConfigMap up to date as kubelet does: a new folder, and one rename of a link to it."""
    former = (mount / "..data").resolve() if (mount / "..data").exists() else None
    folder = mount / f"..{version}"
    folder.mkdir()
    (folder / "a.yaml").write_text(content)
    (mount / "..data_tmp").symlink_to(folder.name)
    (mount / "..data_tmp").rename(mount / "..data")
    if former is None:
        (mount / "a.yaml").symlink_to("..data/a.yaml")
    else:
        shutil.rmtree(former)


@pytest.mark.parametrize("below", ["", "a.yaml"], ids=["the-folder", "a-file-in-it"])
async def test_a_mounted_config_map_that_changes_is_heard_of_each_time(tmp_path: Path, below: str) -> None:
    swap(tmp_path, "1", "1")
    async with aclosing(folder_events([str(tmp_path / below)], rescan=60, debounce=0.02)) as times:
        await following(times)
        for version in ("2", "3", "4"):
            swap(tmp_path, version, version)
            await following(times)
            assert (tmp_path / "a.yaml").read_text() == version


async def test_a_file_system_that_hangs_stops_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = threading.Event()
    opened: list[bool] = []

    def hanging(path: str) -> tuple[int, int] | None:
        del path
        opened.append(gate.wait(60))
        return None

    monkeypatch.setattr(events, "_identity", hanging)
    async with aclosing(folder_events([str(tmp_path)], rescan=60, debounce=0.02)) as times:
        look = asyncio.ensure_future(following(times))
        await asyncio.sleep(0.05)
        assert not look.done()
        gate.set()
        await look
    assert all(opened)
