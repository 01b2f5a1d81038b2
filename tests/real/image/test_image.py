"""The container image: built from the Dockerfile on a base made here, run as its user on a read-only root.

There is no container engine in these tests. buildah builds, and the run is what an engine does itself: a
mount namespace in which the image's root is read-only, with folders in memory over it; the image's user,
environment and command; no capability.
"""

import json
import os
import signal
import socket
import stat
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from syncret.providers.aws.sdk import ENDPOINTS
from tests.support.debian import ROOT, missing_tools
from tests.support.image import BASE, IMAGE, TOOLS, Storage

WRITABLE = ("run/syncret", "secrets", "var/lib/syncret")
MOST_MEGABYTES_OVER_BASE = (
    176  # 45 are what every store needs, 18 the clients of AWS and Vault, 50 CEL, 10 OpenPGP, 31 1Password
)
DEADLINE = 60.0

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(bool(why := missing_tools(*TOOLS, "unshare")), reason=why),
]


@dataclass(frozen=True)
class Image:
    """A built image and its root, mounted."""

    config: dict[str, Any]
    root: Path
    megabytes: float
    base_megabytes: float


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Image]:
    storage = Storage(tmp_path_factory.mktemp("storage"))
    storage.make_base()
    storage.build()
    container = storage.buildah("from", IMAGE)
    base_facts, facts = (
        json.loads(storage.buildah("inspect", "--type=image", name)) for name in (BASE, IMAGE)
    )
    root = Path(storage.buildah("mount", container))
    try:
        yield Image(
            config=facts["OCIv1"]["config"],
            root=root,
            megabytes=_megabytes(facts),
            base_megabytes=_megabytes(base_facts),
        )
    finally:
        storage.buildah("umount", container)
        storage.remove()


def _megabytes(facts: dict[str, Any]) -> float:
    sizes: list[int] = [layer["size"] for layer in json.loads(facts["Manifest"])["layers"]]
    return sum(sizes) / 1e6


@contextmanager
def running(
    image: Image, manifests: Path, log: Path, **environment: str
) -> Generator[subprocess.Popen[bytes]]:
    """The image's command, as its user, on its read-only root; killed at the end where it still runs."""
    uid, gid = image.config["User"].split(":")
    root = image.root
    command = [*image.config["Entrypoint"], *image.config["Cmd"]]
    user = f"--reuid={uid} --regid={gid} --clear-groups --no-new-privs --bounding-set=-all"
    script = [
        "set -eu",
        f"mount --bind {root} {root}",
        f"mount -o remount,bind,ro {root}",
        f"mount -t proc proc {root}/proc",
        f"mount --bind /dev {root}/dev",
        f"mount --bind {manifests} {root}/manifests",
        *(f"mount -t tmpfs -o mode=0700,uid={uid},gid={gid} tmpfs {root}/{folder}" for folder in WRITABLE),
        f"exec /usr/sbin/chroot {root} setpriv {user} {' '.join(command)}",
    ]
    settings = dict(variable.split("=", 1) for variable in image.config["Env"])
    with log.open("wb") as output:
        process = subprocess.Popen(
            ["unshare", "--mount", "sh", "-c", "\n".join(script)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=settings | environment,
        )
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()


def ask(address: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(f"http://{address}", timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()
    except OSError as error:
        return 0, str(error)


def test_the_image_says_who_it_is_and_how_it_stops(image: Image) -> None:
    assert image.config["User"] == "65532:65532"
    assert image.config["StopSignal"] == "SIGTERM"
    assert [*image.config["Entrypoint"], *image.config["Cmd"]] == ["syncret", "run"]
    assert not [variable for variable in image.config["Env"] if variable.startswith("PIP_")]


def test_the_image_is_small_and_carries_no_installer(image: Image) -> None:
    print(f"\nimage: {image.megabytes:.0f} MB, of which the base {image.base_megabytes:.0f} MB")
    assert image.megabytes - image.base_megabytes <= MOST_MEGABYTES_OVER_BASE
    installed = {path.name for path in image.root.glob("opt/syncret/lib/python3*/site-packages/*")}
    assert "syncret" in installed
    assert installed.isdisjoint({"pip", "setuptools"})
    described = {
        path.name for path in image.root.glob("opt/syncret/lib/python3*/site-packages/botocore/data/*")
    }
    assert described >= ENDPOINTS.keys(), "the services of AWS that are called"


def test_it_runs_without_rights_on_a_read_only_root(image: Image, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    log = tmp_path / "log"
    quickstart = ROOT / "config" / "samples" / "quickstart"
    with running(image, quickstart, log, SYNCRET_LISTEN=address) as process:
        deadline = time.monotonic() + DEADLINE
        while (ready := ask(f"{address}/readyz"))[0] != 200:
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, (ready, log.read_text())
            time.sleep(0.1)
        inside = Path(f"/proc/{process.pid}/root")
        status = dict(
            line.split(":\t", 1) for line in Path(f"/proc/{process.pid}/status").read_text().splitlines()
        )
        assert status["Uid"].split() == ["65532"] * 4
        assert {int(status[f"Cap{name}"], 16) for name in ("Inh", "Prm", "Eff", "Bnd", "Amb")} == {0}
        assert os.statvfs(inside).f_flag & os.ST_RDONLY

        files = [path for path in (inside / "secrets").rglob("*") if path.is_file()]
        assert files
        assert {(path.stat().st_uid, stat.S_IMODE(path.stat().st_mode)) for path in files} == {(65532, 0o600)}
        assert ask(f"{address}/healthz")[0] == 200
        assert "externalsecret_sync_calls_total" in ask(f"{address}/metrics")[1]

        process.send_signal(signal.SIGTERM)
        assert process.wait(DEADLINE) == 0, log.read_text()
    print(f"\nsyncret run, in the image:\n{log.read_text()}")
