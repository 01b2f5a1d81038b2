"""Several sets written side by side, by threads that take many jobs at a time."""

import asyncio
import errno
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from syncret.config.meta import ObjectRef
from syncret.daemon.homes.contract import HomeError, Invalid, StorageUnavailable
from syncret.daemon.homes.filesystem.output.drift import Written
from syncret.daemon.homes.filesystem.output.group_commit import (
    MOST,
    THREADS,
    Batch,
    BatchExecutor,
    WriteSteps,
    run_interleaved,
    until,
)
from syncret.daemon.homes.filesystem.output.names import TEMPORARY
from syncret.daemon.homes.filesystem.output.root import OutputRoot, OutputSettings
from syncret.daemon.homes.filesystem.output.secret_folder import SecretFolder

Opener = Callable[..., OutputRoot]
Sets = Mapping[ObjectRef, Mapping[str, bytes]]

DURABLE = OutputSettings()
SETS: Sets = {
    ObjectRef("", "Secret", "default", "one"): {"user": b"anna", "password": b"1"},
    ObjectRef("", "Secret", "default", "two"): {"password": b"2"},
    ObjectRef("", "Secret", "other", "three"): {"password": b"3"},
}
ONE, TWO, THREE = SETS


def write_all(folder: SecretFolder, sets: Sets) -> dict[ObjectRef, Written | HomeError]:
    with Batch(folder.tree) as batch:
        outcomes = run_interleaved([folder.write(ref, data, batch) for ref, data in sets.items()])
    return dict(zip(sets, outcomes, strict=True))


def files(output: Path) -> dict[str, bytes]:
    """Every file but those of sets that were replaced a moment ago."""
    found = [path for path in output.rglob("*") if path.is_file() and TEMPORARY not in str(path)]
    return {str(path.relative_to(output)): path.read_bytes() for path in found}


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


WRITTEN = {
    "default/one/user": b"anna",
    "default/one/password": b"1",
    "default/two/password": b"2",
    "other/three/password": b"3",
}


class Disk:
    """Real calls, remembered in their order: what was waited for, what got its name. Some inodes fail."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, int | str]] = []
        self.broken: set[int] = set()
        self._fsync = os.fsync
        self._rename = os.rename

    def fsync(self, fd: int) -> None:
        inode = os.fstat(fd).st_ino
        self.calls.append(("fsync", inode))
        if inode in self.broken:
            self.broken.remove(inode)  # the kernel tells of it once
            raise OSError(errno.EIO, "the disk failed")
        self._fsync(fd)

    def rename(self, source: str, name: str, *, src_dir_fd: int, dst_dir_fd: int) -> None:
        self._rename(source, name, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)
        self.calls.append(("name", name))

    def place(self, call: str, what: int | str) -> int:
        return self.calls.index((call, what))


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Disk]:
    watched = Disk()
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", watched.fsync)
        patched.setattr(os, "rename", watched.rename)
        yield watched


@pytest.mark.parametrize("fsync", [True, False], ids=["durable", "quick"])
def test_all_sets_are_written(open_tree: Opener, output: Path, *, fsync: bool) -> None:
    outcomes = write_all(SecretFolder(open_tree(OutputSettings(fsync=fsync))), SETS)
    assert all(isinstance(each, Written) and each.changed for each in outcomes.values())
    assert files(output) == WRITTEN


def test_a_set_gets_its_name_once_it_is_on_the_disk(open_tree: Opener, output: Path, disk: Disk) -> None:
    write_all(SecretFolder(open_tree(DURABLE)), SETS)
    for ref, data in SETS.items():
        folder = output / ref.namespace / ref.name
        named = disk.place("name", ref.name)
        for path in (folder, *(folder / key for key in data)):
            assert disk.place("fsync", path.stat().st_ino) < named
        assert named < disk.place("fsync", (output / ref.namespace).stat().st_ino)


def test_all_files_are_waited_for_before_the_first_gets_its_name(open_tree: Opener, disk: Disk) -> None:
    write_all(SecretFolder(open_tree(DURABLE)), SETS)
    acts = [act for act, _ in disk.calls]
    assert acts[acts.index("name") :].count("fsync") == 2  # the two namespaces, once for all names in them


def test_what_stands_already_waits_for_nothing(open_tree: Opener, disk: Disk) -> None:
    folder = SecretFolder(open_tree(DURABLE))
    write_all(folder, SETS)
    disk.calls.clear()
    outcomes = write_all(folder, SETS)
    assert not any(isinstance(each, Written) and each.changed for each in outcomes.values())
    assert disk.calls == []


def test_one_that_is_refused_leaves_the_others_alone(open_tree: Opener, output: Path) -> None:
    bad = ObjectRef("", "Secret", "default", "bad")
    outcomes = write_all(SecretFolder(open_tree(DURABLE)), {bad: {"a/b": b"x"}, **SETS})
    assert isinstance(outcomes[bad], Invalid)
    assert files(output) == WRITTEN


def test_a_file_that_the_disk_loses_fails_its_own_set(
    open_tree: Opener, output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = SecretFolder(open_tree(DURABLE))
    write_all(folder, SETS)
    fsync = os.fsync

    def failing(fd: int) -> None:
        if Path(f"/proc/self/fd/{fd}").readlink().name == "lost":
            raise OSError(errno.EIO, "the disk failed")
        fsync(fd)

    monkeypatch.setattr(os, "fsync", failing)
    outcomes = write_all(folder, {ONE: {"lost": b"x"}, TWO: {"password": b"new"}})
    assert isinstance(outcomes[ONE], StorageUnavailable)
    assert "default/one" in str(outcomes[ONE])
    assert files(output) == {**WRITTEN, "default/two/password": b"new"}
    folder.tree.remove_sets(now=True)
    assert not list(output.rglob("..*"))


def test_a_namespace_that_the_disk_loses_fails_all_that_got_a_name_in_it(
    open_tree: Opener, output: Path, disk: Disk
) -> None:
    folder = SecretFolder(open_tree(DURABLE))
    write_all(folder, SETS)
    disk.broken.add((output / "default").stat().st_ino)
    outcomes = write_all(folder, {ref: {"password": b"new"} for ref in SETS})
    for ref in (ONE, TWO):
        assert isinstance(outcomes[ref], StorageUnavailable)
        assert f"default/{ref.name}" in str(outcomes[ref])
    assert isinstance(outcomes[THREE], Written)


def test_a_bug_in_one_leaves_nothing_half_done(open_tree: Opener, output: Path) -> None:
    folder = SecretFolder(open_tree(DURABLE))

    def bug() -> WriteSteps[Written]:
        yield
        raise ZeroDivisionError

    with Batch(folder.tree) as batch:
        writes = [folder.write(ref, data, batch) for ref, data in SETS.items()]
        with pytest.raises(ZeroDivisionError):
            run_interleaved([*writes, bug()])
    assert files(output) == {}
    assert not list(output.rglob("..*"))


@pytest.mark.parametrize("keys", [1, 63, 64, 65, 300])
def test_few_files_are_open_at_once(open_tree: Opener, output: Path, keys: int) -> None:
    folder = SecretFolder(open_tree(DURABLE))
    before = open_files()
    data = {f"key-{n}": b"%d" % n for n in range(keys)}
    with Batch(folder.tree) as batch:
        writes = [folder.write(ObjectRef("", "Secret", "n", f"s{n}"), data, batch) for n in range(3)]
        for write in writes:
            next(write)
        assert open_files() - before <= 64 + 3 + 1
        run_interleaved(writes)
    assert open_files() == before
    assert len(files(output)) == 3 * keys


class Work:
    """Remembers batches; a negative number fails, zero is a bug, and a gate may hold the threads up."""

    def __init__(self) -> None:
        self.batches: list[Sequence[int]] = []
        self.begun = threading.Event()
        self.gate = threading.Event()
        self.gate.set()

    def __call__(self, jobs: Sequence[int]) -> list[Exception | None]:
        self.begun.set()
        self.gate.wait()
        if 0 in jobs:
            raise ZeroDivisionError
        self.batches.append(jobs)
        return [ValueError(str(job)) if job < 0 else None for job in jobs]


class Stopping(dict[str, bytes]):
    """A set, while the files of which the daemon stops."""

    def __init__(self, count: int, stop: threading.Event) -> None:
        super().__init__({f"k{number}": b"new" for number in range(count)})
        self._stop = stop

    def items(self) -> Any:  # noqa: ANN401  # in a dict it is a view
        for count, item in enumerate(super().items()):
            if count == 100:
                self._stop.set()
            yield item


@pytest.mark.parametrize("old", [{}, {"k0": b"old", "k1": b"new"}], ids=["none before", "one before"])
def test_a_set_that_is_given_up_leaves_the_old_one(
    open_tree: Opener, output: Path, old: Mapping[str, bytes]
) -> None:
    folder, stop = SecretFolder(open_tree(DURABLE)), threading.Event()
    if old:
        write_all(folder, {ONE: old})

    def write(batch: Batch) -> WriteSteps[None]:
        yield from folder.write(ONE, Stopping(1000, stop), batch)

    with Batch(folder.tree) as batch:
        (outcome,) = run_interleaved([until(stop, write)(batch)])
    assert isinstance(outcome, StorageUnavailable)
    assert {path.name: path.read_bytes() for path in output.rglob("*") if path.is_file()} == old
    assert not list(output.rglob(f"{TEMPORARY}*"))


async def test_who_is_cancelled_gives_the_job_up() -> None:
    work, given_up = Work(), threading.Event()
    hands = BatchExecutor(work)
    work.gate.clear()
    asking = asyncio.ensure_future(hands.submit(1, given_up.set))
    await asyncio.sleep(0.05)
    assert not given_up.is_set()
    asking.cancel()
    await asyncio.sleep(0.05)
    assert given_up.is_set()
    assert not asking.done()
    work.gate.set()
    with pytest.raises(asyncio.CancelledError):
        await asking


async def test_what_is_asked_for_together_is_shared_among_the_threads() -> None:
    work = Work()
    hands = BatchExecutor(work)
    await asyncio.gather(*map(hands.submit, range(1, 9)))
    assert sorted(job for batch in work.batches for job in batch) == list(range(1, 9))
    assert [len(batch) for batch in work.batches] == [8 // THREADS] * THREADS


async def test_what_comes_while_all_are_busy_makes_the_next_batches() -> None:
    work = Work()
    hands = BatchExecutor(work)
    work.gate.clear()
    first = [asyncio.ensure_future(hands.submit(job)) for job in range(1, THREADS + 1)]
    await asyncio.sleep(0.05)
    later = [asyncio.ensure_future(hands.submit(job)) for job in range(100, 100 + THREADS * MOST + 5)]
    await asyncio.sleep(0.05)
    assert work.batches == []
    work.gate.set()
    await asyncio.gather(*first, *later)
    sizes = [len(batch) for batch in work.batches]
    assert sum(sizes) == len(first) + len(later)
    assert max(sizes) == MOST


async def test_a_failure_is_that_of_its_own_job() -> None:
    hands = BatchExecutor(Work())
    outcomes = await asyncio.gather(*map(hands.submit, (1, -2, 3)), return_exceptions=True)
    assert [type(each) for each in outcomes] == [type(None), ValueError, type(None)]


async def test_a_bug_is_told_to_all_of_the_batch_and_the_thread_goes_on() -> None:
    hands = BatchExecutor(Work())
    with pytest.raises(ZeroDivisionError):
        await hands.submit(0)
    for _ in range(2 * THREADS):
        await hands.submit(1)


async def test_who_is_cancelled_waits_until_the_job_is_done() -> None:
    work = Work()
    hands = BatchExecutor(work)
    work.gate.clear()
    asking = asyncio.ensure_future(hands.submit(-1))
    await asyncio.to_thread(work.begun.wait)
    asking.cancel()
    await asyncio.sleep(0.05)
    assert not asking.done()
    work.gate.set()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert work.batches == [[-1]]


@pytest.mark.parametrize("turns", range(6))
async def test_who_is_cancelled_while_the_job_ends_waits_for_nothing_else(turns: int) -> None:
    loop, work = asyncio.get_running_loop(), Work()

    def cancel(left: int) -> None:
        if left:
            loop.call_soon(cancel, left - 1)
        else:
            asking.cancel()

    def ends(jobs: Sequence[int]) -> list[Exception | None]:
        outcomes = work(jobs)
        loop.call_soon_threadsafe(cancel, turns)
        return outcomes

    asking = asyncio.ensure_future(BatchExecutor(ends).submit(1))
    with suppress(asyncio.CancelledError):
        async with asyncio.timeout(60):
            await asking
    assert work.batches == [[1]]


async def test_a_disk_that_hangs_takes_no_thread_from_others() -> None:
    """Names of servers are looked up in the loop's own threads, of which a small machine has five."""
    work = Work()
    work.gate.clear()
    with ThreadPoolExecutor(THREADS) as others:
        asyncio.get_running_loop().set_default_executor(others)
        hands = BatchExecutor(work)
        hanging = [asyncio.ensure_future(hands.submit(job)) for job in range(1, THREADS + 1)]
        await asyncio.sleep(0.05)
        try:
            async with asyncio.timeout(60):
                assert await asyncio.to_thread(sum, (1, 2)) == 3
        finally:
            work.gate.set()
            await asyncio.gather(*hanging)
