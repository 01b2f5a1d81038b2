"""What a Delivery meets on the disks it writes to: the old set stays, nothing is left, it is tried again."""

import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Final, TypeAlias

import pytest

from tests.real.e2e.manifests import written
from tests.real.e2e.process import Daemon, daemon, until
from tests.support import injected
from tests.support.disks import filled, image_mounted, immutable, small_disk

pytestmark = pytest.mark.slow

KEYS: Final = 3
MANIFEST: Final = """\
apiVersion: v1
kind: Secret
metadata: {{name: tls}}
stringData: {{{data}}}
---
apiVersion: syncret.dev/v1alpha1
kind: Delivery
metadata: {{name: web}}
spec:
  sources: [{{secret: tls}}]
  to:
  - directory: {{path: {first}/tls}}
  - directory: {{path: {second}/tls}}
  reload: {{exec: [/usr/bin/dash, -c, echo told >> {log}]}}
  debounce: {{quiet: 0s, atMost: 0s}}
  minInterval: 0s
"""


class Host:
    """A daemon with a Delivery to two folders, and how often was told of a set."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.first, self.second = folder / "first", folder / "second"
        self.log = folder / "log"
        self.daemon: Daemon

    def write(self, value: str) -> None:
        data = ", ".join(f"key-{number}: {value}-{number}" for number in range(KEYS))
        text = MANIFEST.format(data=data, first=self.first, second=self.second, log=self.log)
        written(self.folder / "manifests", all=text)

    def sets(self) -> list[set[str]]:
        """The values in each folder, without the numbers of their keys."""
        return [
            {each.read_text().rpartition("-")[0] for each in (place / "tls").iterdir()}
            for place in (self.first, self.second)
        ]

    def live(self, value: str) -> bool:
        """Whether that is in each folder, and was told."""
        return self.sets() == [{value}, {value}] and self.reason() == "Delivered"

    def staged(self) -> list[str]:
        """What is beside the live sets, but for the ones before them."""
        names = [each.name for place in (self.first, self.second) for each in place.iterdir()]
        return [name for name in names if "next" in name]

    def reason(self) -> str:
        found: str = self.daemon.status("web")["reason"]
        return found

    def told(self) -> int:
        return len(self.log.read_text().splitlines())


Fault: TypeAlias = Callable[[Host], AbstractContextManager[None]]


@contextmanager
def full(host: Host) -> Generator[None, None, None]:
    with filled(host.second):
        yield


@contextmanager
def frozen(host: Host) -> Generator[None, None, None]:
    with immutable(host.first):
        yield


def refusing(call: str, error: str, *, when_staging: bool) -> Fault:
    """A fault of the second folder."""

    def fault(host: Host) -> AbstractContextManager[None]:
        staged = [host.second / "..syncret-next.tls" / f"key-{number}" for number in range(KEYS)]
        places = staged if when_staging else [host.second]
        return injected.failing(host.daemon.process.pid, call, error, *places)

    return fault


needs_strace = pytest.mark.skipif(bool(injected.NEEDS), reason=injected.NEEDS)


@pytest.mark.parametrize(
    ("fault", "reason", "said"),
    [
        pytest.param(full, "StageFailed", "No space left", id="ENOSPC while staging"),
        pytest.param(frozen, "StageFailed", "Operation not permitted", id="an immutable folder"),
        pytest.param(
            refusing("write", "EDQUOT", when_staging=True),
            *("StageFailed", "quota exceeded"),
            marks=needs_strace,
            id="EDQUOT while staging",
        ),
        pytest.param(
            refusing("fsync", "EIO", when_staging=True),
            *("StageFailed", "Input/output error"),
            marks=needs_strace,
            id="EIO at the fsync of a staged file",
        ),
        pytest.param(
            refusing("renameat2", "EROFS", when_staging=False),
            *("SwapFailed", "Read-only file system"),
            marks=needs_strace,
            id="EROFS at the swap",
        ),
        pytest.param(
            refusing("renameat2", "EACCES", when_staging=False),
            *("SwapFailed", "Permission denied"),
            marks=needs_strace,
            id="EACCES at the swap",
        ),
    ],
)
def test_what_a_disk_refuses_leaves_the_old_set_and_is_tried_again(
    tmp_path: Path, fault: Fault, reason: str, said: str
) -> None:
    host = Host(tmp_path)
    host.first.mkdir()
    with small_disk(host.second, "64k") as disk:
        disk.chmod(0o755)
        host.write("old")
        with daemon(tmp_path, tmp_path / "manifests") as host.daemon:
            assert host.sets() == [{"old"}, {"old"}]
            with fault(host):
                host.write("new")
                host.daemon.until(lambda: host.reason() == reason, reason)
                assert said in host.daemon.status("web")["message"]
                assert host.sets() == [{"old"}, {"old"}]
                assert host.staged() == []
                assert host.told() == 1
            host.daemon.until(lambda: host.reason() == "Delivered", "delivered, once it can be")
            assert host.sets() == [{"new"}, {"new"}]
            assert host.told() == 2


@contextmanager
def bound(folder: Path, point: Path) -> Generator[None, None, None]:
    point.mkdir()
    mounted = subprocess.run(["mount", "--bind", folder, point], check=False, capture_output=True)
    if mounted.returncode != 0:
        pytest.skip("nothing can be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", point], check=True)


@contextmanager
def bound_for_itself(folder: Path, point: Path) -> Generator[None, None, None]:
    """A program with mounts of its own, as a container or a unit has them."""
    point.mkdir()
    script = f"mount --bind {folder} {point} && echo done && exec sleep 600"
    command = ["unshare", "--mount", "sh", "-c", script]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as program:
        try:
            assert program.stdout is not None
            if program.stdout.readline() != b"done\n":
                pytest.skip("nothing can be mounted here")
            yield
        finally:
            program.kill()


@pytest.mark.parametrize("mounting", [bound, bound_for_itself])
def test_who_has_a_set_mounted_keeps_it_and_explain_says_so(
    tmp_path: Path, mounting: Callable[[Path, Path], AbstractContextManager[None]]
) -> None:
    host, point = Host(tmp_path), tmp_path / "elsewhere"
    host.first.mkdir()
    host.second.mkdir()
    host.write("old")
    said = f"{host.second}/tls is mounted at {point}"

    def warnings() -> list[str]:
        told = host.daemon.ask("explain", "Delivery/web").stdout
        return [line for line in told.splitlines() if "is mounted at" in line]

    with daemon(tmp_path, tmp_path / "manifests") as host.daemon:
        assert warnings() == []
        with mounting(host.second / "tls", point):
            [warning] = warnings()
            assert said in warning
            assert "(use layout: links)" in warning
            assert ("by sleep, process" in warning) == (mounting is bound_for_itself)
            host.write("new")
            host.daemon.until(lambda: host.live("new"), "delivered")
            if mounting is bound:
                assert {each.read_text() for each in point.iterdir()} == {f"old-{key}" for key in range(KEYS)}
            [warning] = warnings()
            assert said in warning
        assert warnings() == []


CUTS: Final = 8


@pytest.mark.skipif(shutil.which("mkfs.ext4") is None, reason="needs mkfs.ext4")
def test_after_a_power_cut_each_set_is_the_old_or_the_new_one(tmp_path: Path) -> None:
    """What the daemon asked no disk to keep is gone: the file of a file system is copied at some moment."""
    seed = int(os.environ.get("SYNCRET_SEED", str(time.time_ns())))
    chance = random.Random(seed)  # noqa: S311  # moments, not keys
    image = tmp_path / "image"
    with image.open("wb") as file:
        file.truncate(16 << 20)
    subprocess.run(["mkfs.ext4", "-q", image], check=True)
    host = Host(tmp_path)
    with image_mounted(image, tmp_path / "disk") as disk:
        host.first, host.second, host.log = disk / "first", disk / "second", disk / "log"
        host.first.mkdir()
        host.second.mkdir()
        host.write("0")
        with daemon(disk, tmp_path / "manifests") as host.daemon:
            for cut in range(1, CUTS + 1):
                old, new = str(cut - 1), str(cut)
                host.daemon.until(lambda old=old: host.live(old), "settled")  # type: ignore[misc]
                host.write(new)
                is_settled = cut % 4 == 0
                if is_settled:
                    host.daemon.until(lambda new=new: host.live(new), "settled")  # type: ignore[misc]
                else:
                    time.sleep(chance.uniform(0, 0.6))
                left = tmp_path / f"left-{cut}"
                with stopped(host.daemon.process.pid):
                    shutil.copyfile(image, left)
                after_the_cut(left, tmp_path / f"after-{cut}", {new} if is_settled else {old, new}, seed)
                left.unlink()


def after_the_cut(image: Path, folder: Path, expected: set[str], seed: int) -> None:
    """In each folder is a whole set of one of these values, as another boot finds it."""
    with image_mounted(image, folder) as disk:
        host = Host(folder.parent)
        host.first, host.second = disk / "first", disk / "second"
        sets = host.sets()
        assert all(len(each) == 1 and each <= expected for each in sets), f"{sets}, SYNCRET_SEED={seed}"
        assert all(len(list((each / "tls").iterdir())) == KEYS for each in (host.first, host.second))


@contextmanager
def stopped(pid: int) -> Generator[None, None, None]:
    """The process between two of its calls, in each of its threads."""
    os.kill(pid, signal.SIGSTOP)
    try:
        until(
            lambda: all(
                "T (stopped)" in each.read_text() for each in Path(f"/proc/{pid}/task").glob("*/status")
            ),
            "stopped",
        )
        yield
    finally:
        os.kill(pid, signal.SIGCONT)
