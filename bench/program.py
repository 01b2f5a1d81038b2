"""`syncret exec` with a value from Vault, whole process; and a sidecar on Vault that has nothing to do."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Final

from bench.estate import INSTALLED, Estate, daemon
from bench.figures import Figure
from bench.vault import manifests_of
from syncret.providers.vault.auth_spec import VaultAuth
from tests.real.vault.support import Mount
from tests.support.opened import Given
from tests.support.servers.vault.running import vault

ROUNDS: Final = 15
EXEC_SECONDS: Final = 0.35
OBJECTS: Final = 20
RSS_MB: Final = 60.0
IDLE_PERCENT: Final = 0.3
WATCHED: Final = 60.0
"""Longer than the interval in which folders are looked at again."""

SCRIPT: Final = """\
import hvac, os, sys, warnings
warnings.simplefilter('ignore')
server, mount, path, role, secret = sys.argv[1:]
client = hvac.Client(server)
client.auth.approle.login(role, secret, mount_point=path)
read = client.secrets.kv.v2.read_secret_version(path="key-0", mount_point=mount)
value = read["data"]["data"]["password"]
client.auth.token.revoke_self()
os.environ["PASSWORD"] = value
os.execvp("true", ["true"])
"""
"""A script that does the same with Vault's own client for Python."""

DELIVERY: Final = """\
---
apiVersion: syncret.dev/v1alpha1
kind: Delivery
metadata: {{name: web}}
spec: {{sources: [{{secret: app-0}}], to: [{{directory: {{path: {path}, layout: links}}}}]}}
"""


def measure(folder: Path, *, smoke: bool) -> Iterator[Figure]:
    """On a server that is built now, or that of VAULT_BIN."""
    if shutil.which("go") is None and not os.environ.get("VAULT_BIN"):
        yield Figure("exec and sidecar on Vault", "", "not measured: needs Go, or VAULT_BIN")
        return
    mount = Mount(vault())
    for number in range(OBJECTS):
        secret = {"user": f"user-{number}", "password": "x" * 32}
        mount.server.write(f"{mount.path}/data/key-{number}", data=secret)
    auth, given = mount.app_role()
    yield from _exec(folder, mount, auth, given, 2 if smoke else ROUNDS)
    yield from _sidecar(folder, manifests_of(mount, auth, given, mount.server.url, OBJECTS), smoke=smoke)


def _exec(folder: Path, mount: Mount, auth: VaultAuth, given: Given, rounds: int) -> Iterator[Figure]:
    """Ours and the script take turns, so that a busy moment hits both."""
    manifests = folder / "exec.yaml"
    manifests.write_text(manifests_of(mount, auth, given, mount.server.url, 1))
    role = auth.app_role
    assert role is not None
    login = (role.path, str(role.role_id), given.secrets["login"]["secret-id"].decode())
    script = [sys.executable, "-c", SCRIPT, mount.server.url, mount.path, *login]
    times: dict[str, list[float]] = {"ours": [], "bare": []}
    for _ in range(rounds):
        times["ours"].append(_seconds([*INSTALLED, "exec", "-f", str(manifests), "--", "true"]))
        times["bare"].append(_seconds(script))
    seconds, bare = median(times["ours"]), median(times["bare"])
    yield Figure(
        "`syncret exec -- true`, one secret from Vault, whole process",
        f"<= {EXEC_SECONDS} s",
        f"{seconds:.2f} s, {seconds / bare:.1f} x a script with hvac ({bare:.2f} s)",
        seconds <= EXEC_SECONDS,
    )


def _seconds(command: Sequence[str]) -> float:
    begin = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


def _sidecar(folder: Path, manifests: str, *, smoke: bool) -> Iterator[Figure]:
    host = Estate(Path(tempfile.mkdtemp(prefix="sidecar-", dir=folder)))
    host.manifests.mkdir()
    delivery = DELIVERY.format(path=host.folder / "delivered")
    manifest = host.manifests / "all.yaml"
    manifest.write_text(manifests + delivery)
    manifest.chmod(0o600)
    with daemon(host) as running:
        time.sleep(0.2 if smoke else 5.0)
        begin, used = time.monotonic(), running.cpu()
        time.sleep(1.0 if smoke else WATCHED)
        percent = 100 * (running.cpu() - used) / (time.monotonic() - begin)
        rss = running.rss()
    assert (host.folder / "delivered").exists()
    what = f"sidecar with {OBJECTS} objects on Vault and a Delivery, at rest"
    yield Figure(f"{what}, RSS", f"<= {RSS_MB:g} MB", f"{rss:.0f} MB", rss <= RSS_MB)
    yield Figure("- processor", f"< {IDLE_PERCENT:g} %", f"{percent:.2f} %", percent < IDLE_PERCENT)
