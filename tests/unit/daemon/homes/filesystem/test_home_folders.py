"""The host home: manifests of folders, as they come, change and go."""

import asyncio
import contextlib
import gc
import os
import sys
import threading
from base64 import b64encode
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Final

import pytest

from syncret.config.errors import Severity
from syncret.config.meta import Document, ObjectRef
from syncret.config.settings import BoundFolder
from syncret.config.text.yaml_lines import Lines
from syncret.daemon.homes.contract import StorageUnavailable
from syncret.daemon.homes.filesystem.home import HostHome
from syncret.daemon.homes.filesystem.manifests.field_lines import LARGEST
from syncret.daemon.homes.filesystem.manifests.reader import Content, FileContent, ManifestReader
from tests.support.homes import delete_by_name
from tests.unit.daemon.homes.filesystem.homes import (
    ES,
    ES_YAML,
    GIVEN,
    MADE,
    SECRET_YAML,
    STORE,
    STORE_YAML,
    VALUE,
    Opener,
    Problems,
    data_of,
    encoded,
    existing,
    files,
    is_anywhere,
    made,
    uid_at_start,
    until,
)


def vanish(folder: Path, *, instead: bool = False) -> None:
    """Move a folder away; `instead`: and put an empty one in its place."""
    folder.rename(folder.with_name("aside"))
    if instead:
        folder.mkdir()


async def test_a_manifest_secret_stays_in_memory(opened: Opener, manifests: Path, tmp_path: Path) -> None:
    (manifests / "given.yaml").write_text(SECRET_YAML)
    async with opened() as home:
        assert await data_of(home, GIVEN) == encoded(user="anna", password=VALUE)
        assert is_anywhere(tmp_path, VALUE) == ["given.yaml"]


async def test_keys_that_controllers_merged_survive_a_new_version_of_the_manifest(
    opened: Opener, manifests: Path, tmp_path: Path
) -> None:
    (manifests / "given.yaml").write_text(SECRET_YAML)
    async with opened() as home:
        given = (await existing(home, GIVEN)).document
        given["data"]["merged"] = b64encode(b"m").decode()
        await home.update(given)
        out = tmp_path / "out/default/given"
        assert files(out) == {"user": "anna", "password": VALUE, "merged": "m"}
        (manifests / "given.yaml").write_text(SECRET_YAML.replace("user: anna", "login: berta"))
        await home.look()
        assert files(out) == {"login": "berta", "password": VALUE, "merged": "m"}
    async with opened() as home:
        assert await data_of(home, GIVEN) == encoded(login="berta", password=VALUE, merged="m")
        assert files(out) == {"login": "berta", "password": VALUE, "merged": "m"}
        (manifests / "given.yaml").unlink()
        await home.look()
        assert await home.get(GIVEN) is None
        assert not out.exists()


async def test_edits_are_applied_and_renames_change_nothing(opened: Opener, manifests: Path) -> None:
    (manifests / "app.yaml").write_text(ES_YAML % "1h")
    async with opened() as home:
        before = await existing(home, ES)
        (manifests / "app.yaml").rename(manifests / "renamed.yaml")
        await home.look()
        assert await existing(home, ES) == before
        (manifests / "renamed.yaml").write_text(ES_YAML % "2h")
        await home.look()
        after = (await existing(home, ES)).document
        assert after["metadata"]["generation"] == 2
        assert after["metadata"]["uid"] == before.uid


async def test_a_refused_version_leaves_the_last_good_one(
    opened: Opener, manifests: Path, problems: Problems
) -> None:
    (manifests / "app.yaml").write_text(ES_YAML % "1h")
    async with opened() as home:
        before = await existing(home, ES)
        (manifests / "app.yaml").write_text(ES_YAML % "[1, 2]")
        await home.look()
        assert await existing(home, ES) == before
        assert f"{manifests}/app.yaml:5: spec.refreshInterval" in str(problems)
    async with opened() as home:
        assert await existing(home, ES) == before
        (manifests / "app.yaml").write_text(ES_YAML % "1h")
        await home.look()
        assert problems.last == ()


async def test_what_is_dropped_is_told_in_each_life_and_refuses_nothing(
    opened: Opener, manifests: Path, problems: Problems
) -> None:
    dropped = (ES_YAML % "1h").replace("spec:", "spec:\n  refreshIntervall: 5m")
    (manifests / "app.yaml").write_text(
        dropped.replace("external-secrets.io/v1", "external-secrets.io/v1beta1")
    )
    (manifests / "store.yaml").write_text(STORE_YAML)
    for _ in range(2):
        async with opened() as home:
            for _ in range(2):
                assert [(each.problem.severity, each.problem.path) for each in problems.last] == [
                    (Severity.WARNING, "apiVersion"),
                    (Severity.WARNING, "spec.refreshIntervall"),
                ]
                await home.look()
            assert f"{manifests}/app.yaml:5: spec.refreshIntervall: unknown field" in str(problems)
            await existing(home, ES)
        problems.last = ()


async def test_a_refused_document_tells_each_thing_once(
    opened: Opener, manifests: Path, problems: Problems
) -> None:
    wrong = (ES_YAML % "soon").replace("spec:", "spec:\n  refreshIntervall: 5m")
    (manifests / "app.yaml").write_text(wrong)
    async with opened():
        assert sorted(each.problem.path for each in problems.last) == [
            "spec.refreshInterval",
            "spec.refreshIntervall",
        ]


async def test_a_store_whose_values_are_unknown_is_not_in_force(
    opened: Opener, manifests: Path, problems: Problems
) -> None:
    """Its values are in the manifest alone: a broken manifest must not turn into wrong values."""
    (manifests / "store.yaml").write_text(STORE_YAML)
    uid = await uid_at_start(opened, STORE)
    (manifests / "store.yaml").write_text("a: [")
    async with opened() as home:
        assert await home.get(STORE) is None
        assert problems.last
    (manifests / "store.yaml").write_text(STORE_YAML)
    assert await uid_at_start(opened, STORE) == uid


async def test_a_folder_that_vanished_deletes_nothing(
    opened: Opener, manifests: Path, problems: Problems, tmp_path: Path
) -> None:
    (manifests / "app.yaml").write_text(ES_YAML % "1h")
    async with opened() as home:
        before = await existing(home, ES)
        vanish(manifests)
        await home.look()
        assert await existing(home, ES) == before
        assert "stays in force" in str(problems)
    async with opened() as home:
        assert await existing(home, ES) == before


@pytest.mark.parametrize("dry", [True, False])
async def test_who_asks_hears_of_written_objects_that_go(
    opened: Opener,
    manifests: Path,
    tmp_path: Path,
    dry: bool,  # noqa: FBT001  # a column
) -> None:
    (manifests / "app.yaml").write_text(ES_YAML % "1h")
    async with opened() as home:
        await home.create(made(await existing(home, ES), a="1"))
    (manifests / "app.yaml").unlink()
    went: dict[ObjectRef, Document] = {}
    async with opened(on_removed=went.__setitem__, dry=dry):
        assert went == {MADE: made(a="1")}
    assert bool(files(tmp_path / "out")) is dry


async def test_a_path_taken_out_of_the_settings_is_gone(
    opened: Opener, manifests: Path, tmp_path: Path
) -> None:
    (manifests / "app.yaml").write_text(ES_YAML % "1h")
    async with opened():
        pass
    async with opened(manifests=[str(tmp_path / "other")]) as home:
        assert await home.get(ES) is None


async def test_an_object_that_was_deleted_comes_back_while_its_manifest_stands(
    opened: Opener, manifests: Path
) -> None:
    (manifests / "app.yaml").write_text(ES_YAML % "1h")
    async with opened() as home:
        before = await existing(home, ES)
        await delete_by_name(home, ES)
        assert await home.get(ES) is None
        await home.look()
        await home.look()
        assert (await existing(home, ES)).uid != before.uid


async def test_an_output_folder_among_the_manifests_is_not_read(
    opened: Opener, manifests: Path, problems: Problems
) -> None:
    """Written files may well look like manifests."""
    async with opened(output_dir=str(manifests / "out")) as home:
        await home.create({**made(), "data": encoded(**{"app.yaml": ES_YAML % "1h"})})
        await home.look()
        assert await home.get(ES) is None
        assert not problems.last


async def test_the_folder_of_manifests_cannot_be_the_output_folder(opened: Opener, manifests: Path) -> None:
    with pytest.raises(StorageUnavailable, match="manifests are read from this folder"):
        async with opened(output_dir=str(manifests)):
            pass


@pytest.fixture
async def running(opened: Opener) -> AsyncGenerator[HostHome, None]:
    async with opened() as home:
        task = asyncio.create_task(home.run())
        yield home
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def test_the_folders_are_followed(running: HostHome, manifests: Path) -> None:
    (manifests / "app.yaml").write_text(ES_YAML % "1h")
    await until(running, ES)
    (manifests / "deep/er").mkdir(parents=True)
    (manifests / "deep/er/given.yaml").write_text(SECRET_YAML)
    await until(running, GIVEN)
    (manifests / "app.yaml").unlink()
    await until(running, ES, there=False)


async def test_a_folder_that_comes_back_is_followed(
    running: HostHome, manifests: Path, tmp_path: Path
) -> None:
    vanish(manifests, instead=True)
    await asyncio.sleep(0.1)
    (manifests / "app.yaml").write_text(ES_YAML % "1h")
    await until(running, ES)


async def test_objects_remember_their_manifest_also_after_a_restart(
    opened: Opener, manifests: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("syncret.daemon.homes.filesystem.manifests.folders._RACY_NS", 0)
    file = manifests / "app.yaml"
    file.write_text(STORE_YAML + "---\n" + ES_YAML % "1h")
    for _ in range(2):
        async with opened() as home:
            assert [str(home.manifest_of(ref)) for ref in (STORE, ES)] == [f"{file}:1", f"{file}:6"]
            assert home.manifest_of(MADE) is None


async def test_a_refused_manifest_is_known_by_its_place(opened: Opener, manifests: Path) -> None:
    (manifests / "store.yaml").write_text(STORE_YAML.replace("{fake:", "{vault: {}, fake:"))
    async with opened() as home:
        place = home.manifest_of(STORE)
        assert await home.get(STORE) is None
        assert place is not None
        assert (str(place), place.is_valid) == (f"{manifests}/store.yaml:1", False)


TEMPLATED: Final = """\
  target:
    template:
      data:
        url: |
          first
          {{ .gone }}
"""
FIELD: Final = "spec.target.template.data.url"


async def test_the_line_of_a_field_is_found_in_the_manifest(opened: Opener, manifests: Path) -> None:
    file = manifests / "app.yaml"
    file.write_text(STORE_YAML + "---\n" + ES_YAML % "1h" + TEMPLATED)
    async with opened() as home:
        places = [
            await home.field_place(ES, "spec.data[0]"),
            await home.field_place(ES, FIELD),
            await home.field_place(ES, FIELD, 2),
            await home.field_place(ES, "dataTo[0]"),
        ]
        assert list(map(str, places)) == [f"{file}:{line}" for line in (12, 16, 18, 6)]
        assert await home.field_place(MADE, "spec") is None


@pytest.mark.parametrize(
    "now",
    [
        pytest.param("# another document\na: 1\n", id="something else"),
        pytest.param(None, id="nothing"),
        pytest.param(ES_YAML % "2h" + TEMPLATED, id="a newer version"),
        pytest.param(ES_YAML % "1h" + TEMPLATED + "#" * LARGEST, id="a large file"),
        pytest.param(ES_YAML % "1h" + TEMPLATED + "#" * 40_000, id="a large document"),
    ],
)
async def test_a_file_that_changed_meanwhile_gives_no_wrong_line(
    opened: Opener, manifests: Path, now: str | None
) -> None:
    file = manifests / "app.yaml"
    file.write_text(ES_YAML % "1h" + TEMPLATED)
    async with opened() as home:
        if now is None:
            file.unlink()
        else:
            file.write_text(now)
        assert str(await home.field_place(ES, FIELD, 2)) == f"{file}:1"


async def test_a_pipe_in_the_place_of_a_manifest_holds_up_nothing(opened: Opener, manifests: Path) -> None:
    file = manifests / "app.yaml"
    file.write_text(ES_YAML % "1h")
    async with opened() as home:
        file.unlink()
        os.mkfifo(file)
        async with asyncio.timeout(60):
            assert str(await home.field_place(ES, "spec.data[0]")) == f"{file}:1"


async def test_lines_of_refused_manifests_are_not_looked_up_on_the_loop(
    opened: Opener, manifests: Path, problems: Problems, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The text is parsed once more for that: fifty large ones would hold up everybody else for seconds."""
    threads: set[str] = set()

    def looked_up(lines: Lines, places: Sequence[tuple[str, int]]) -> Sequence[int]:
        threads.add(threading.current_thread().name)
        return of_all(lines, places)

    of_all = Lines.of_all
    monkeypatch.setattr(Lines, "of_all", looked_up)
    windows = "".join(f"    - {{schedule: '{n % 60} 0 * * *', duration: 1h}}\n" for n in range(201))
    (manifests / "a.yaml").write_text(
        ES_YAML % "1h" + f"  syncWindows:\n    kind: deny\n    windows:\n{windows}"
    )
    async with opened():
        [problem] = [each.problem for each in problems.last]
    assert (problem.path, problem.line) == ("spec.syncWindows.windows", 10)
    assert threads
    assert threading.main_thread().name not in threads


async def test_documents_that_were_applied_are_not_kept(opened: Opener, manifests: Path) -> None:
    """They may hold values, and of ten thousand they are megabytes."""
    (manifests / "a.yaml").write_text(ES_YAML % "1h")
    (manifests / "b.yaml").write_text(SECRET_YAML)
    async with opened() as home:
        assert await home.get(GIVEN) is not None
        gc.collect()
        assert [each for each in gc.get_objects() if isinstance(each, Content)] == []


async def test_a_manifest_with_very_many_mistakes_is_told_by_the_first(
    opened: Opener, manifests: Path, problems: Problems
) -> None:
    wrong = "".join(f"    - {{secretKey: k{n}}}\n" for n in range(500))
    head = ES_YAML.partition("  data:")[0]
    (manifests / "a.yaml").write_text(head % "1h" + "  data:\n" + wrong)
    async with opened():
        told = [each.problem.message for each in problems.last]
    assert len(told) == 101
    assert told[-1] == "has 400 more problems"


async def test_large_files_are_read_in_short_turns(
    opened: Opener, manifests: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else each system call of the event loop would wait for the thread that reads."""
    usual, intervals = sys.getswitchinterval(), list[float]()
    read = ManifestReader.read

    def timed(
        reader: ManifestReader, file: str, data: bytes, folder: BoundFolder | None = None
    ) -> FileContent:
        intervals.append(sys.getswitchinterval())
        return read(reader, file, data, folder)

    monkeypatch.setattr(ManifestReader, "read", timed)
    async with opened() as home:
        (manifests / "a.yaml").write_text(ES_YAML % "1h" + "#" * 300_000)
        await home.look()
        assert await home.get(ES) is not None
    assert intervals[-1] < usual
