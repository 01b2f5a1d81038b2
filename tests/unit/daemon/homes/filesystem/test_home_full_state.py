"""The host home with a state file that cannot be written: nothing is delivered of which no record is kept."""

from pathlib import Path

import pytest

from syncret.daemon.homes.contract import NotDurable, StorageUnavailable
from syncret.daemon.homes.filesystem.state.database import read_state
from tests.support.disks import no_room_for_the_state
from tests.unit.daemon.homes.filesystem.homes import (
    ES,
    ES_YAML,
    GIVEN,
    MADE,
    SECRET_YAML,
    Opener,
    Problems,
    data_of,
    encoded,
    existing,
    files,
    made,
)


async def test_files_stay_as_they_are_while_their_record_cannot_be_kept(
    opened: Opener, tmp_path: Path
) -> None:
    async with opened() as home:
        before = await home.create(made(a="1"))
        with no_room_for_the_state():
            with pytest.raises(StorageUnavailable, match=r"state\.db: the state file") as caught:
                await home.update(made(a="2"))
            assert not isinstance(caught.value, NotDurable)
            assert files(tmp_path / "out") == {"default/made/a": "1"}
            assert (await existing(home, MADE)).resource_version == before.resource_version
        await home.update(made(a="3"))
        assert files(tmp_path / "out") == {"default/made/a": "3"}
    async with opened() as home:
        assert await data_of(home, MADE) == encoded(a="3")


async def test_an_object_whose_record_cannot_be_kept_is_not_made(opened: Opener, tmp_path: Path) -> None:
    async with opened() as home:
        with no_room_for_the_state():
            with pytest.raises(StorageUnavailable):
                await home.create(made(a="1"))
            assert await home.get(MADE) is None
            assert files(tmp_path / "out") == {}
    assert MADE not in dict(read_state(str(tmp_path / "state.db")).rows)


async def test_a_record_that_was_announced_in_vain_is_taken_back(opened: Opener, tmp_path: Path) -> None:
    async with opened() as home:
        await home.create(made(a="1"))
        (tmp_path / "out/default/made/folder").mkdir()
        with pytest.raises(StorageUnavailable):
            await home.update(made(a="2"))
        (tmp_path / "out/default/made/folder").rmdir()
        before = await existing(home, MADE)
    async with opened() as home:
        assert await existing(home, MADE) == before


async def test_a_status_that_cannot_be_kept_stands_until_the_process_ends(
    opened: Opener, manifests: Path
) -> None:
    (manifests / "app.yaml").write_text(ES_YAML % "1h")
    async with opened() as home:
        await home.check_durable()
        seen = await existing(home, ES)
        with no_room_for_the_state():
            with pytest.raises(NotDurable) as caught:
                await home.update_status(seen, {"refreshTime": "2026-01-01T00:00:00Z"})
            assert caught.value.stored == await existing(home, ES)
            for _ in range(2):
                with pytest.raises(StorageUnavailable):
                    await home.check_durable()
        await home.check_durable()
    async with opened() as home:
        assert (await existing(home, ES)).document["status"] == {"refreshTime": "2026-01-01T00:00:00Z"}


async def test_a_manifest_whose_record_cannot_be_kept_is_applied_later(
    opened: Opener, manifests: Path, tmp_path: Path, problems: Problems
) -> None:
    (manifests / "given.yaml").write_text(SECRET_YAML)
    async with opened() as home:
        merged = (await existing(home, GIVEN)).document
        merged["data"]["more"] = encoded(more="1")["more"]
        await home.update(merged)
        with no_room_for_the_state():
            (manifests / "given.yaml").write_text(SECRET_YAML.replace("anna", "berta"))
            await home.look()
            assert "state file" in str(problems)
            assert files(tmp_path / "out")["default/given/user"] == "anna"
    async with opened():
        assert files(tmp_path / "out")["default/given/user"] == "berta"
        assert files(tmp_path / "out")["default/given/more"] == "1"
