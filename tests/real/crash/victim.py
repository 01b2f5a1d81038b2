"""A process to be killed: writes Secrets and reports statuses for ever, and says what was acknowledged.

    python -m tests.real.crash.victim FOLDER fsync|no-fsync

Each round writes a new version of every Secret, whose keys all carry the number of the round, and reports
the round as the status of its ExternalSecret. A line `<index> <round>` is printed once both are acknowledged.
"""

import asyncio
import os
import sys
import time
from base64 import b64encode
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from syncret.config.meta import Document, ObjectRef
from syncret.daemon.homes.contract import AlreadyExists, HomeProblem
from syncret.daemon.homes.filesystem.home import HostHome, HostSettings
from syncret.daemon.homes.filesystem.output.root import OutputSettings
from syncret.daemon.homes.memory.plugins import admission_by
from syncret.providers.registry import Registry

OBJECTS: Final = 1000
KEYS: Final = ("user", "password", "tls.crt", "tls.key")
WORKERS: Final = 32
OWNER: Final = 12345 if os.geteuid() == 0 else None
"""Root gives the files away, so that a file that is only half owned can be told."""

_MANIFEST: Final = """apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {{name: s{0}}}
spec: {{secretStoreRef: {{name: x}}, data: [{{secretKey: a, remoteRef: {{key: b}}}}]}}
"""


def content(key: str, number: int) -> bytes:
    """What the file of a key holds in one round: of a length that tells a torn write."""
    return f"{number} {key} ".encode() + b"." * (1000 + number % 100)


def settings_of(folder: Path, *, fsync: bool) -> HostSettings:
    return HostSettings(
        manifests=[str(folder / "manifests")],
        output_dir=str(folder / "out"),
        state_file=str(folder / "state.db"),
        output=OutputSettings(fsync=fsync, uid=OWNER, gid=OWNER),
    )


def home_of(folder: Path, *, fsync: bool) -> HostHome:
    registry = Registry()
    return HostHome(
        settings_of(folder, fsync=fsync),
        catalog=registry,
        admission=admission_by(registry),
        now=time.time,
        on_problems=_stop,
    )


def write_manifests(folder: Path) -> None:
    (folder / "manifests").mkdir()
    documents = "---\n".join(_MANIFEST.format(index) for index in range(OBJECTS))
    (folder / "manifests/all.yaml").write_text(documents)


def resource(index: int) -> ObjectRef:
    return ObjectRef("external-secrets.io", "ExternalSecret", "default", f"s{index}")


def secret(index: int) -> ObjectRef:
    return ObjectRef("", "Secret", "default", f"s{index}")


def _stop(problems: Sequence[HomeProblem]) -> None:
    sys.exit("\n".join(map(str, problems)))


async def _sync(home: HostHome, index: int, number: int) -> None:
    owner = await home.get(resource(index))
    assert owner is not None
    reference = {
        "apiVersion": "external-secrets.io/v1",
        "kind": "ExternalSecret",
        "name": f"s{index}",
        "uid": owner.uid,
    }
    document: Document = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": f"s{index}", "namespace": "default", "ownerReferences": [reference]},
        "data": {key: b64encode(content(key, number)).decode() for key in KEYS},
    }
    try:
        await home.create(document)
    except AlreadyExists:
        await home.update(document)
    await home.update_status(owner, {"round": number})
    os.write(1, b"%d %d\n" % (index, number))


async def _work(home: HostHome, indexes: Iterator[int], number: int) -> None:
    for index in indexes:
        await _sync(home, index, number)


async def main(folder: Path, *, fsync: bool) -> None:
    async with home_of(folder, fsync=fsync) as home:
        os.write(1, b"ready\n")
        number = time.time_ns()
        while True:
            number += 1
            indexes = iter(range(OBJECTS))
            async with asyncio.TaskGroup() as group:
                for worker in range(WORKERS):
                    group.create_task(_work(home, indexes, number), name=f"worker-{worker}")


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        asyncio.run(main(Path(sys.argv[1]), fsync=sys.argv[2] == "fsync"))
