"""The host home: a manifest that is empty, cut off or missing for a moment is not a deletion."""

import asyncio
import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from syncret.config.meta import ObjectRef
from syncret.daemon.homes.filesystem.home import HostHome, HostSettings
from syncret.daemon.homes.filesystem.manifests.snapshot import QUIET
from tests.unit.daemon.homes.filesystem.homes import (
    ES,
    ES_YAML,
    GIVEN,
    MADE,
    SECRET_YAML,
    STORE,
    STORE_YAML,
    Opener,
    Problems,
    existing,
    made,
    made_anew,
    uid_at_start,
    until,
)

GRACE = HostSettings(manifests=()).deletion_grace
ALL = ES_YAML % "1h" + "---\n" + STORE_YAML + "---\n" + SECRET_YAML


def named(number: int) -> ObjectRef:
    return ES._replace(name=f"app{number}")


def many(folder: Path, count: int) -> list[ObjectRef]:
    """So many ExternalSecrets in files of their own."""
    for number in range(count):
        text = (ES_YAML % "1h").replace("name: app", f"name: app{number}")
        (folder / f"{number:02}.yaml").write_text(text)
    return [named(number) for number in range(count)]


async def there(home: HostHome, refs: list[ObjectRef]) -> list[str]:
    return [ref.name for ref in refs if await home.get(ref) is not None]


Later = Callable[[float], None]


@pytest.fixture
async def later(monkeypatch: pytest.MonkeyPatch) -> Later:
    """Lets so many seconds pass at once, as the event loop sees it."""
    loop = asyncio.get_running_loop()
    time, passed = loop.time, [0.0]
    monkeypatch.setattr(loop, "time", lambda: time() + sum(passed))
    return passed.append


def texts_of(folder: Path) -> dict[Path, str]:
    return {file: file.read_text() for file in folder.iterdir()}


def mounted_over(folder: Path, disk: Path) -> Callable[[], None]:
    """An empty disk in the place of a folder, until what is returned is called."""
    aside = folder.with_name("aside")
    folder.rename(aside)
    folder.symlink_to(disk)

    def back() -> None:
        folder.unlink()
        aside.rename(folder)

    return back


async def test_an_empty_file_deletes_after_the_grace_period(
    opened: Opener, later: Later, manifests: Path, problems: Problems, tmp_path: Path
) -> None:
    (manifests / "all.yaml").write_text(ALL)
    async with opened() as home:
        await home.create(made(await existing(home, ES), a="1"))
        (manifests / "all.yaml").write_text("")
        await home.look()
        assert home.waiting_deletions == 3
        assert f"{manifests}/all.yaml: holds no manifests any more; the 3 objects" in str(problems)
        later(GRACE / 2)
        await home.look()
        assert (tmp_path / "out/default/made/a").exists()
        later(GRACE / 2)
        await home.look()
        assert await there(home, [ES, STORE, GIVEN, MADE]) == []
        assert not (tmp_path / "out/default/made").exists()
        assert (home.waiting_deletions, problems.last) == (0, ())


async def test_what_is_put_back_in_time_is_the_same_object(
    opened: Opener, later: Later, manifests: Path, problems: Problems
) -> None:
    (manifests / "all.yaml").write_text(ALL)
    async with opened() as home:
        before = [await existing(home, ref) for ref in (ES, STORE, GIVEN)]
        (manifests / "all.yaml").write_text("# nothing yet\n")
        await home.look()
        (manifests / "all.yaml").write_text(ALL)
        later(GRACE / 2)
        await home.look()
        later(GRACE)
        await home.look()
        assert [await existing(home, ref) for ref in (ES, STORE, GIVEN)] == before
        assert (home.waiting_deletions, problems.last) == (0, ())


async def test_a_folder_that_is_emptied_and_filled_again_loses_nothing(
    opened: Opener, later: Later, manifests: Path, problems: Problems
) -> None:
    refs = many(manifests, 6)
    texts = texts_of(manifests)
    async with opened() as home:
        before = [await existing(home, ref) for ref in refs]
        for file in texts:
            file.unlink()
        await home.look()
        assert f"{manifests}: 6 of 6 objects are not defined any more" in str(problems)
        for file, text in texts.items():
            file.write_text(text)
            later(1)
            await home.look()
        assert [await existing(home, ref) for ref in refs] == before
        assert problems.last == ()


async def test_most_objects_are_deleted_after_the_grace_period_and_one_file_at_once(
    opened: Opener, later: Later, manifests: Path
) -> None:
    refs = many(manifests, 8)
    async with opened() as home:
        (manifests / "00.yaml").unlink()
        await home.look()
        assert await there(home, refs) == [f"app{number}" for number in range(1, 8)]
        for number in range(1, 7):
            (manifests / f"{number:02}.yaml").unlink()
        await home.look()
        assert len(await there(home, refs)) == 7
        later(GRACE)
        await home.look()
        assert await there(home, refs) == ["app7"]


async def test_a_document_taken_out_of_a_file_is_deleted_once_the_file_is_quiet(
    opened: Opener, later: Later, manifests: Path, problems: Problems
) -> None:
    """A file that is cut at the end of a document looks the same as one that is meant to be shorter."""
    (manifests / "all.yaml").write_text(ALL)
    async with opened() as home:
        (manifests / "all.yaml").write_text(ES_YAML % "1h" + "---\n")
        await home.look()
        later(3)
        await home.look()
        assert await there(home, [ES, STORE, GIVEN]) == [ES.name, STORE.name, GIVEN.name]
        (manifests / "all.yaml").write_text(ES_YAML % "1h" + "---\n" + STORE_YAML)
        await home.look()
        later(3)
        await home.look()
        assert await there(home, [ES, STORE, GIVEN]) == [ES.name, STORE.name, GIVEN.name]
        later(QUIET)
        await home.look()
        assert await there(home, [ES, STORE, GIVEN]) == [ES.name, STORE.name]
        assert problems.last == ()


async def test_a_folder_that_was_made_anew_and_is_still_empty_deletes_nothing_yet(
    opened: Opener, later: Later, manifests: Path, problems: Problems
) -> None:
    (manifests / "app.yaml").write_text(ES_YAML % "1h")
    async with opened() as home:
        before = await existing(home, ES)
        (manifests / "app.yaml").unlink()
        made_anew(manifests)
        await home.look()
        assert await existing(home, ES) == before
        assert f"{manifests}: holds no manifests any more" in str(problems)
        later(GRACE)
        await home.look()
        assert await home.get(ES) is None


def _truncated(folder: Path) -> None:
    for file in folder.iterdir():
        file.write_text("")


def _removed(folder: Path) -> None:
    for file in folder.iterdir():
        file.unlink()


def _made_anew(folder: Path) -> None:
    _removed(folder)
    made_anew(folder)


@pytest.mark.parametrize("change", [_truncated, _removed, _made_anew])
async def test_what_vanished_while_nobody_ran_waits_as_well(
    opened: Opener, later: Later, manifests: Path, change: Callable[[Path], None]
) -> None:
    """Also a Secret and a store, whose content is in their manifests alone: they are the same afterwards."""
    refs = [*many(manifests, 4), STORE, GIVEN]
    (manifests / "store.yaml").write_text(STORE_YAML)
    (manifests / "given.yaml").write_text(SECRET_YAML)
    texts = texts_of(manifests)
    async with opened() as home:
        before = [await existing(home, ref) for ref in refs]
    change(manifests)
    async with opened() as home:
        assert home.waiting_deletions == 6
        assert await there(home, refs) == ["app0", "app1", "app2", "app3"]
        later(GRACE / 2)
        await home.look()
        assert home.waiting_deletions == 6
    for file, text in texts.items():
        file.write_text(text)
    async with opened() as home:
        assert [await existing(home, ref) for ref in refs] == before
        assert home.waiting_deletions == 0


async def test_what_could_not_stand_again_goes_with_the_rest(
    opened: Opener, later: Later, manifests: Path
) -> None:
    (manifests / "all.yaml").write_text(ALL)
    uid = await uid_at_start(opened, STORE)
    (manifests / "all.yaml").write_text("")
    async with opened() as home:
        later(GRACE)
        await home.look()
        assert home.waiting_deletions == 0
    (manifests / "all.yaml").write_text(ALL)
    assert await uid_at_start(opened, STORE) != uid


async def test_what_comes_back_after_the_start_is_made_again_from_its_manifest(
    opened: Opener, manifests: Path
) -> None:
    (manifests / "all.yaml").write_text(ALL)
    async with opened():
        pass
    (manifests / "all.yaml").write_text("")
    async with opened() as home:
        assert await there(home, [ES, STORE, GIVEN]) == [ES.name]
        (manifests / "all.yaml").write_text(ALL)
        await home.look()
        assert await there(home, [ES, STORE, GIVEN]) == [ES.name, STORE.name, GIVEN.name]


@pytest.mark.parametrize(
    "changes",
    [{"once": True, "allow_empty": True}, {"deletion_grace": 0.0}],
    ids=["one-pass-that-may", "no-grace"],
)
async def test_one_pass_believes_what_it_sees(
    opened: Opener, manifests: Path, changes: dict[str, object]
) -> None:
    (manifests / "all.yaml").write_text(ALL)
    async with opened(**changes):
        pass
    (manifests / "all.yaml").write_text("")
    async with opened(**changes) as home:
        assert await there(home, [ES, STORE, GIVEN]) == []


HELD: Final = (
    "holds no manifests, so the 3 objects that are known from earlier passes would be deleted (they stay in "
    "force; correct the path, or say --allow-empty if nothing is wanted)"
)


@pytest.mark.parametrize(
    "text", ["", "# nothing", "apiVersion: apps/v1\nkind: Deployment\n"], ids=["empty", "comment", "foreign"]
)
async def test_one_pass_keeps_what_an_emptied_path_said(
    opened: Opener, manifests: Path, problems: Problems, text: str
) -> None:
    (manifests / "all.yaml").write_text(ALL)
    async with opened(once=True) as home:
        uid = (await existing(home, ES)).uid
    (manifests / "all.yaml").write_text(text)
    for _ in range(2):
        async with opened(once=True) as home:
            assert (await existing(home, ES)).uid == uid
            assert home.waiting_deletions == 3
        assert [str(each) for each in problems.last if each.problem.fatal] == [f"{manifests}: {HELD}"]
    problems.last = ()
    (manifests / "all.yaml").write_text(ALL)
    async with opened(once=True) as home:
        assert await there(home, [ES, STORE, GIVEN]) == [ES.name, STORE.name, GIVEN.name]
        assert (await existing(home, ES)).uid == uid
    assert not problems.last


async def test_one_pass_deletes_single_objects_as_long_as_others_are_there(
    opened: Opener, manifests: Path, problems: Problems
) -> None:
    (manifests / "app.yaml").write_text(ES_YAML % "1h")
    (manifests / "store.yaml").write_text(STORE_YAML)
    async with opened(once=True):
        pass
    (manifests / "store.yaml").unlink()
    async with opened(once=True) as home:
        assert await there(home, [ES, STORE]) == [ES.name]
    assert not problems.last


async def test_a_credential_is_no_manifest_of_an_emptied_path(
    opened: Opener, manifests: Path, tmp_path: Path, problems: Problems
) -> None:
    (tmp_path / "credentials").mkdir()
    (tmp_path / "credentials" / "vault.token").write_text("t")
    credentials = str(tmp_path / "credentials")
    (manifests / "app.yaml").write_text(ES_YAML % "1h")
    async with opened(once=True, credentials=credentials):
        pass
    (manifests / "app.yaml").unlink()
    async with opened(once=True, credentials=credentials) as home:
        assert await there(home, [ES]) == [ES.name]
    assert "so the object that is known from earlier passes would be deleted (it stays in" in str(problems)


async def test_the_daemon_deletes_when_the_time_has_come(opened: Opener, manifests: Path) -> None:
    """Nothing happens to the file in the meantime: no event asks for the look that deletes."""
    (manifests / "app.yaml").write_text(ES_YAML % "1h")
    async with opened(deletion_grace=0.2) as home:
        task = asyncio.create_task(home.run())
        (manifests / "app.yaml").write_text("")
        await until(home, ES, there=False)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def test_another_folder_under_the_path_is_known_at_the_next_start(
    opened: Opener, later: Later, manifests: Path, problems: Problems, small_disk: Path
) -> None:
    """Although all that was there is a Secret, which no start remembers whole: a disk that is not mounted."""
    (manifests / "given.yaml").write_text(SECRET_YAML)
    async with opened():
        pass
    back = mounted_over(manifests, small_disk)
    async with opened() as home:
        later(GRACE)
        await home.look()
        assert "another, empty file system is mounted here now" in str(problems)
    back()
    async with opened() as home:
        assert (await existing(home, GIVEN)).document["metadata"]["uid"]


async def test_a_namespace_and_what_is_in_it_are_deleted_together(
    opened: Opener, manifests: Path, problems: Problems
) -> None:
    """The object goes with its namespace; that its own manifest is gone as well ended the daemon."""
    space = "apiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n"
    inside = (ES_YAML % "1h").replace("name: app", "name: app, namespace: team")
    (manifests / "keep.yaml").write_text(STORE_YAML)
    (manifests / "a.yaml").write_text(space)
    (manifests / "b.yaml").write_text(inside)
    async with opened(deletion_grace=0.0) as home:
        ref = ES._replace(namespace="team")
        assert await home.get(ref) is not None
        (manifests / "a.yaml").unlink()
        (manifests / "b.yaml").unlink()
        await home.look()
        assert await home.get(ref) is None
        assert await home.get(ObjectRef("", "Namespace", "", "team")) is None
        assert not problems.last
