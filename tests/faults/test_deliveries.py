"""What a Delivery meets on the disks it writes to: the old set stays, nothing is left, it is tried again."""

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Final, TypeAlias

import pytest

from tests.real.e2e.manifests import written
from tests.real.e2e.process import Daemon, daemon
from tests.support import injected
from tests.support.disks import filled, small_disk

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
