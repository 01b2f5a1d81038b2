"""The host home: objects that controllers write."""

import asyncio
import contextlib
import os
import resource
import stat
import threading
from collections.abc import Generator
from pathlib import Path

import pytest

from syncret.config.meta import Document, ObjectRef
from syncret.config.text.yaml import parse_text
from syncret.daemon.homes.contract import HomeError, StorageUnavailable
from syncret.daemon.homes.filesystem.output.root import OutputSettings
from syncret.daemon.homes.filesystem.state.database import read_state
from tests.support.homes import delete_by_name
from tests.unit.daemon.homes.filesystem.homes import (
    ES,
    ES_YAML,
    GIVEN,
    MADE,
    SECRET_YAML,
    VALUE,
    Opener,
    Problems,
    data_of,
    encoded,
    existing,
    files,
    is_anywhere,
    made,
    tree,
)

MAP = ObjectRef("", "ConfigMap", "default", "made")


def config_map(value: str) -> Document:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "made", "namespace": "default"},
        "data": {"key": value},
    }


def identity(path: Path) -> tuple[int, int, int]:
    status = path.stat()
    return status.st_ino, status.st_mtime_ns, status.st_ctime_ns


async def test_a_secret_that_a_controller_creates_becomes_files(opened: Opener, tmp_path: Path) -> None:
    async with opened() as home:
        created = await home.create(made(user="anna", password=VALUE))
        assert "data" not in created.document, "as it is announced"
        assert files(tmp_path / "out") == {"default/made/user": "anna", "default/made/password": VALUE}
        assert await data_of(home, MADE) == encoded(user="anna", password=VALUE)
        await home.update(made(user="berta"))
        assert files(tmp_path / "out") == {"default/made/user": "berta"}
        await delete_by_name(home, MADE)
        assert files(tmp_path / "out") == {}
        assert not (tmp_path / "out/default/made").exists()


async def test_a_stop_does_not_wait_for_thousands_of_files(
    opened: Opener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop, fsync = asyncio.get_running_loop(), os.fsync
    slow, stopped = asyncio.Event(), threading.Event()
    waits: list[int] = []

    def waited(fd: int) -> None:
        waits.append(fd)
        if len(waits) == 100:
            loop.call_soon_threadsafe(slow.set)
            stopped.wait(60)
        fsync(fd)

    large = {**made(), "data": encoded(**{f"k{number}": "new" for number in range(2000)})}
    async with opened(output=OutputSettings()) as home:
        await home.create(made(user="anna"))
        monkeypatch.setattr(os, "fsync", waited)
        writing = asyncio.create_task(home.update(large))
        async with asyncio.timeout(60):
            await slow.wait()
        writing.cancel()
        await asyncio.sleep(0)
        stopped.set()
        with pytest.raises(asyncio.CancelledError):
            await writing
        assert len(waits) < 300
        assert files(tmp_path / "out") == {"default/made/user": "anna"}


async def test_drift_of_files_is_what_a_controller_observes(opened: Opener, tmp_path: Path) -> None:
    async with opened() as home:
        before = await home.create(made(a="1", b="2"))
        (tmp_path / "out/default/made/a").write_text("edited")
        (tmp_path / "out/default/made/b").unlink()
        assert await data_of(home, MADE) == encoded(a="edited")
        repaired = await home.update(made(a="1", b="2"))
        assert repaired.resource_version != before.resource_version
        assert files(tmp_path / "out") == {"default/made/a": "1", "default/made/b": "2"}


async def test_files_that_are_gone_are_an_empty_secret(opened: Opener, tmp_path: Path) -> None:
    async with opened() as home:
        await home.create(made(a="1"))
        (tmp_path / "out/default/made").rename(tmp_path / "aside")
        assert await data_of(home, MADE) == {}
        await home.update(made(a="1"))
        assert files(tmp_path / "out") == {"default/made/a": "1"}


@pytest.mark.parametrize("instead", [True, False])
async def test_an_output_folder_that_is_moved_away_is_written_to_no_more(
    opened: Opener,
    tmp_path: Path,
    instead: bool,  # noqa: FBT001  # a column
) -> None:
    async with opened() as home:
        await home.create(made(a="1"))
        (tmp_path / "out").rename(tmp_path / "aside")
        if instead:
            (tmp_path / "out").mkdir()
        await home.inspect()
        assert await data_of(home, MADE) == {}
        await home.update(made(a="2"))
        assert files(tmp_path / "out") == {"default/made/a": "2"}
        assert files(tmp_path / "aside") == {"default/made/a": "1"}
        assert stat.S_IMODE((tmp_path / "out/default").stat().st_mode) == 0o700


async def test_a_link_in_the_place_of_the_output_folder_ends_the_home(opened: Opener, tmp_path: Path) -> None:
    async with opened() as home:
        await home.create(made(a="1"))
        (tmp_path / "out").rename(tmp_path / "aside")
        (tmp_path / "out").symlink_to("aside")
        with pytest.raises(StorageUnavailable, match="symbolic link"):
            await home.inspect()


async def test_a_folder_above_the_output_that_others_can_write_to_is_a_warning(
    opened: Opener, reachable: Path
) -> None:
    """Others could move the output folder away, and put one of theirs into its place."""
    async with opened(output_dir=str(reachable / "out")) as home:
        assert home.problems() == ()
    os.chmod(reachable, 0o777)  # noqa: PTH101, S103  # it does not block; what is tested
    async with opened(output_dir=str(reachable / "out")) as home:
        (warning,) = home.problems()
        assert not warning.problem.fatal
        assert warning.source == str(reachable / "out")
        assert f"the folder {reachable} may be written to by everyone" in warning.problem.message
        assert f"chmod o-w {reachable}" in warning.problem.hint
        await home.create(made(a="1"))
    os.chmod(reachable, 0o1777)  # noqa: PTH101, S103
    async with opened(output_dir=str(reachable / "out")) as home:
        assert home.problems() == ()


@contextlib.contextmanager
def no_more_files() -> Generator[None, None, None]:
    """As many files are open as may be."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    highest = max(int(fd.name) for fd in Path("/proc/self/fd").iterdir() if fd.is_symlink())
    resource.setrlimit(resource.RLIMIT_NOFILE, (highest + 1, hard))
    held: list[int] = []
    try:
        with contextlib.suppress(OSError):
            while True:
                held.append(os.open("/dev/null", os.O_RDONLY))
        yield
    finally:
        for fd in held:
            os.close(fd)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


async def test_files_that_cannot_be_opened_for_the_moment_do_not_look_empty(
    opened: Opener, tmp_path: Path
) -> None:
    """Whoever merges into the Secret would take all its other keys away."""
    async with opened() as home:
        await home.create(made(a="1", b="2"))
        with no_more_files(), pytest.raises(StorageUnavailable, match="too many files are open"):
            await home.get(MADE)
        assert await data_of(home, MADE) == encoded(a="1", b="2")


async def test_equal_content_is_no_write(opened: Opener, tmp_path: Path) -> None:
    async with opened() as home:
        created = await home.create(made(a="1"))
        before = identity(tmp_path / "out/default/made")
        assert (await home.update(made(a="1"))).resource_version == created.resource_version
        assert identity(tmp_path / "out/default/made") == before


async def test_other_objects_are_yaml_files(opened: Opener, tmp_path: Path) -> None:
    document: Document = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "made", "namespace": "default", "labels": {"a": "b"}},
        "data": {"key": VALUE},
    }
    async with opened() as home:
        await home.create(document)
        assert "key: " + VALUE in files(tmp_path / "out")["default/ConfigMap_made.yaml"]
    assert is_anywhere(tmp_path, VALUE) == ["ConfigMap_made.yaml"]
    async with opened() as home:
        assert (await existing(home, MAP)).document["data"] == {"key": VALUE}
        await delete_by_name(home, MAP)
        assert files(tmp_path / "out") == {}


@pytest.mark.parametrize("value", ["1e3", "y", "08", "0o17", "a\n--- b\n"])
async def test_texts_that_look_like_something_else_stay_texts(
    opened: Opener, tmp_path: Path, value: str
) -> None:
    document = config_map(value)
    async with opened() as home:
        await home.create(document)
        (parsed,) = parse_text((tmp_path / "out/default/ConfigMap_made.yaml").read_bytes())
        assert parsed.value == document
        assert (await existing(home, MAP)).document["data"] == {"key": value}


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"data: {key: 2001-99-99}", id="no-date"),
        pytest.param(b"data: {key: 0b_}", id="no-number"),
        pytest.param(b"? null\n: x", id="no-key"),
        pytest.param(b"a: &a [*a]", id="endless"),
        pytest.param(b"a: " + b"[" * 100_000, id="deep"),
        pytest.param(b"\xff", id="no-text"),
        pytest.param(b"a: {", id="no-yaml"),
        pytest.param(b"a: 1\n---\nb: 2", id="two-documents"),
        pytest.param(b"text", id="no-mapping"),
    ],
)
async def test_a_file_edited_into_nonsense_is_drift_like_any_other(
    opened: Opener, tmp_path: Path, content: bytes
) -> None:
    file = tmp_path / "out/default/ConfigMap_made.yaml"
    async with opened() as home:
        created = await home.create(config_map(VALUE))
        file.write_bytes(content)
        await home.inspect()
        mended = await home.update(config_map(VALUE))
        assert mended.uid == created.uid
        assert (await existing(home, MAP)).document["data"] == {"key": VALUE}


async def test_our_own_kinds_are_remembered_but_not_written_out(opened: Opener, tmp_path: Path) -> None:
    document: Document = {
        "apiVersion": "external-secrets.io/v1",
        "kind": "ExternalSecret",
        "metadata": {"name": "child", "namespace": "default"},
        "spec": {
            "secretStoreRef": {"name": "vault"},
            "data": [{"secretKey": "a", "remoteRef": {"key": "k"}}],
        },
    }
    async with opened() as home:
        child = await home.create(document)
    async with opened() as home:
        assert await existing(home, child.ref) == child
    assert files(tmp_path / "out") == {}


async def test_without_an_output_folder_outputs_are_in_memory(opened: Opener, tmp_path: Path) -> None:
    async with opened(output_dir=None, state_file=None) as home:
        await home.create(made(a=VALUE))
        assert await data_of(home, MADE) == encoded(a=VALUE)
    assert is_anywhere(tmp_path, VALUE) == []


@pytest.mark.parametrize("key", ["../../x", "a/b", "..", "a\0b"])
async def test_a_key_that_is_a_way_out_is_refused_whole(opened: Opener, tmp_path: Path, key: str) -> None:
    async with opened() as home:
        with pytest.raises(HomeError):
            await home.create({**made(), "data": encoded(**{"good": "1", key: "2"})})
        assert await home.get(MADE) is None
        assert files(tmp_path / "out") == {}
        await home.create(made(a="1"))


async def test_a_target_that_cannot_be_used_is_told_and_nothing_is_half_written(
    opened: Opener, tmp_path: Path
) -> None:
    async with opened() as home:
        (tmp_path / "out/default").mkdir()
        (tmp_path / "out/default/made").symlink_to(tmp_path)
        with pytest.raises(StorageUnavailable):
            await home.create(made(a="1"))
        assert await home.get(MADE) is None
        (tmp_path / "out/default/made").unlink()
        await home.create(made(a="1"))
    async with opened() as home:
        assert await data_of(home, MADE) == encoded(a="1")


@pytest.mark.parametrize("fsync", [True, False])
async def test_writes_to_one_object_do_not_mix(opened: Opener, tmp_path: Path, fsync: bool) -> None:  # noqa: FBT001  # a column
    async with opened(output=OutputSettings(fsync=fsync)) as home:
        await home.create(made(a="0", b="0"))
        await asyncio.gather(*(home.update(made(a=str(n), b=str(n))) for n in range(20)))
        written = files(tmp_path / "out")
        assert len(set(written.values())) == 1
        assert await data_of(home, MADE) == encoded(a="19", b="19")


async def test_what_is_owned_goes_with_its_owner(opened: Opener, manifests: Path, tmp_path: Path) -> None:
    (manifests / "app.yaml").write_text(ES_YAML % "1h")
    async with opened() as home:
        await home.create(made(await existing(home, ES), a="1"))
        (manifests / "app.yaml").unlink()
        await home.look()
        assert await home.get(MADE) is None
        assert not (tmp_path / "out/default/made").exists()


@pytest.mark.parametrize("turns", range(0, 12, 3))
@pytest.mark.parametrize("first", [True, False], ids=["created", "updated"])
async def test_an_owner_that_goes_while_its_secret_is_written_takes_it_along(
    opened: Opener,
    manifests: Path,
    tmp_path: Path,
    turns: int,
    first: bool,  # noqa: FBT001  # a column
) -> None:
    (manifests / "app.yaml").write_text(ES_YAML % "1h")
    async with opened(output=OutputSettings(fsync=True)) as home:
        owner = await existing(home, ES)
        if not first:
            await home.create(made(owner, a="0"))
        write = asyncio.ensure_future((home.create if first else home.update)(made(owner, a="1")))
        for _ in range(turns):
            await asyncio.sleep(0)
        await delete_by_name(home, ES)
        with contextlib.suppress(HomeError):
            await write
        assert await home.get(MADE) is None
        assert not tree(tmp_path / "out/default")
    assert MADE not in dict(read_state(str(tmp_path / "state.db")).rows)


async def test_a_write_that_another_overtook_leaves_the_other_one(opened: Opener, manifests: Path) -> None:
    """A manifest comes while a controller creates the object of that name."""
    async with opened(output=OutputSettings(fsync=True)) as home:
        write = asyncio.ensure_future(
            home.create({**made(a="1"), "metadata": {"name": "given", "namespace": "default"}})
        )
        await asyncio.sleep(0)
        (manifests / "given.yaml").write_text(SECRET_YAML)
        await home.look()
        await asyncio.wait([write])
        assert (await data_of(home, GIVEN)).items() >= encoded(user="anna", password=VALUE).items()


async def test_a_cancelled_write_leaves_a_whole_set(opened: Opener, tmp_path: Path) -> None:
    async with opened(output=OutputSettings(fsync=True)) as home:
        await home.create(made(a="0", b="0"))
        for turns in range(12):
            write = asyncio.ensure_future(home.update(made(a=str(turns), b=str(turns))))
            for _ in range(turns):
                await asyncio.sleep(0)
            write.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await write
            assert len(set(files(tmp_path / "out").values())) == 1
        await home.update(made(a="x", b="x"))
        assert await data_of(home, MADE) == encoded(a="x", b="x")


async def test_what_earlier_runs_left_and_what_cannot_be_looked_at_is_told_until_it_is_over(
    opened: Opener, tmp_path: Path, problems: Problems
) -> None:
    stubborn = tmp_path / "out/default/..syncret-1a-0"
    (stubborn / "folder").mkdir(parents=True)
    (tmp_path / "state").mkdir()
    async with opened(state_file=str(tmp_path / "state/state.db")) as home:
        assert [each.source for each in problems.last] == [str(stubborn)]
        (tmp_path / "state").rename(tmp_path / "aside")
        (tmp_path / "state").symlink_to(tmp_path / "state")
        await home.inspect()
        assert {each.source for each in problems.last} == {str(stubborn), str(tmp_path / "state/state.db")}
        (tmp_path / "state").unlink()
        (tmp_path / "aside").rename(tmp_path / "state")
        (stubborn / "folder").rmdir()
        await home.inspect()
        assert problems.last == ()
