"""A real Vault: how few requests many objects cost, how fast they go, what a store's client weighs."""

import asyncio
import gc
import os
import shutil
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

import aiohttp
import yaml

from bench.cluster import bench
from bench.figures import Figure
from syncret.config.settings import Settings
from syncret.daemon.one_pass import one_pass
from syncret.providers.registry import Registry
from syncret.providers.values import RemoteKey
from syncret.providers.vault.auth_spec import VaultAuth
from syncret.providers.vault.client import VaultClient
from syncret.providers.vault.connection import open_store
from tests.real.vault.support import Mount
from tests.support.opened import Given, context
from tests.support.servers.gate import gate
from tests.support.servers.vault.running import vault

KEYS: Final = 200
OBJECTS: Final = 2000
READS: Final = 4000
STORES: Final = 400
AT_ONCE: Final = 32
ROUNDS: Final = 5
PROCESSES: Final = 3
SHARE: Final = 0.6
WEIGHT: Final = 0.15
WRITE_SECONDS: Final = 1.8
"""16 rounds of 128 objects, each of which takes so long to be written, are a pass of about half a minute."""
PROCESS_SECONDS: Final = 0.6
PACED: Final = """\
  annotations:
    syncret.dev/requests-per-second: "100000"
    syncret.dev/burst: "100000"
"""
OTHERS: Final = {"token/lookup-self", "token/revoke-self"}
"""The probe of the store, and its logout: one each."""

STORE: Final = """\
apiVersion: v1
kind: Secret
metadata:
  name: login
stringData:
  secret-id: {secret_id}
---
apiVersion: external-secrets.io/v1
kind: SecretStore
metadata:
  name: vault
  annotations:
    syncret.dev/requests-per-second: "100000"
    syncret.dev/burst: "100000"
spec:
  provider:
    vault:
      server: {server}
      path: {mount}
      auth:
        appRole: {{path: {login}, roleId: {role_id}, secretRef: {{name: login, key: secret-id}}}}
"""
OBJECT: Final = """\
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata:
  name: app-{number}
spec:
  secretStoreRef: {{name: vault}}
  data:
    - {{secretKey: user, remoteRef: {{key: key-{key}, property: user}}}}
    - {{secretKey: password, remoteRef: {{key: key-{key}, property: password}}}}
"""


def measure(folder: Path, *, smoke: bool) -> Iterator[Figure]:
    """On a server that is built now, or that of VAULT_BIN."""
    if shutil.which("go") is None and not os.environ.get("VAULT_BIN"):
        yield Figure("Vault", "", "not measured: needs Go, or VAULT_BIN")
        return
    objects, reads, stores, rounds = (100, 200, 10, 1) if smoke else (OBJECTS, READS, STORES, ROUNDS)
    mount = Mount(vault())
    for number in range(KEYS):
        secret = {"user": f"user-{number}", "password": "x" * 32, "port": 5432}
        mount.server.write(f"{mount.path}/data/key-{number}", data=secret)
    auth, given = mount.app_role()
    weight = asyncio.run(_weight(mount, auth, given, stores))  # first: later memory is reused, not new
    passed = asyncio.run(_passed(folder, mount, auth, given, objects))
    data = sum("/data/" in path for path in passed)
    logins = sum(path.endswith("/login") for path in passed)
    others = {path.rpartition("/v1/auth/")[2] for path in passed} & OTHERS
    yield Figure(
        f"{objects} ExternalSecrets on {KEYS} Vault keys: requests",
        f"<= {KEYS} reads + 1 login",
        f"{data} reads + {logins} login (and {', '.join(sorted(others))})",
        data <= KEYS and logins == 1 and len(passed) == data + logins + len(others),
    )
    passed, seconds = asyncio.run(_slow_pass(mount, auth, given, objects))
    data = sum("/data/" in path for path in passed)
    logins = sum(path.endswith("/login") for path in passed)
    yield Figure(
        f"{objects} ExternalSecrets on {KEYS} Vault keys, a pass of {seconds:.0f} s: requests",
        f"<= {KEYS} reads + 1 login",
        f"{data} reads + {logins} login",
        data <= KEYS and logins == 1,
    )
    passed, seconds = asyncio.run(_whole_process(folder / "process", mount, auth, given))
    data = sum("/data/" in path for path in passed)
    yield Figure(
        f"`syncret sync` of {KEYS} files from Vault, whole process",
        f"<= {PROCESS_SECONDS} s, {KEYS} reads",
        f"{seconds:.2f} s, {data} reads",
        seconds <= PROCESS_SECONDS and data == KEYS,
    )
    bare, ours = asyncio.run(_speeds(mount, auth, given, reads, rounds))
    yield Figure("bare aiohttp loop on the same keys: reads/s", "", f"{bare:,.0f}")
    share = ours / bare
    yield Figure(
        "Vault client: reads/s", f">= {SHARE:.0%} of bare", f"{ours:,.0f} ({share:.0%})", share >= SHARE
    )
    yield Figure("client memory per Vault store", f"<= {WEIGHT} MB", f"{weight:.3f} MB", weight <= WEIGHT)


def manifests_of(mount: Mount, auth: VaultAuth, given: Given, server: str, objects: int) -> str:
    """A store and so many objects."""
    role = auth.app_role
    assert role is not None
    store = STORE.format(
        secret_id=given.secrets["login"]["secret-id"].decode(),
        server=server,
        mount=mount.path,
        login=role.path,
        role_id=role.role_id,
    )
    return store + "".join(OBJECT.format(number=number, key=number % KEYS) for number in range(objects))


async def _slow_pass(mount: Mount, auth: VaultAuth, given: Given, objects: int) -> tuple[list[str], float]:
    """One pass over a home that takes its time to write: the paths that were asked, and how long it took.

    Without spread, as in the bench of shared reads.
    """
    async with gate(mount.server.url) as between:
        documents = list(yaml.safe_load_all(manifests_of(mount, auth, given, between.url, objects)))
        for document in documents:
            document["metadata"]["namespace"] = "team"
        begin = time.perf_counter()
        async with bench(spread=False, manifests=documents, write_seconds=WRITE_SECONDS) as one:
            await one.running.engine.wait_idle()
            assert all(run.failure is None for run in one.witness.runs)
            return [each.path for each in between.passed], time.perf_counter() - begin


async def _passed(folder: Path, mount: Mount, auth: VaultAuth, given: Given, objects: int) -> list[str]:
    """One pass over a folder of manifests: the paths that were asked."""
    async with gate(mount.server.url) as between:
        manifests = folder / "manifests"
        manifests.mkdir(parents=True)
        (manifests / "all.yaml").write_text(manifests_of(mount, auth, given, between.url, objects))
        settings = Settings(
            manifests=(os.fspath(manifests),),
            output_dir=os.fspath(folder / "out"),
            state_file="",
            fsync=False,
        )
        result = await one_pass(settings, Registry())
        assert not result.problems, result.problems
        assert not result.failures, result.failures
        return [each.path for each in between.passed]


async def _whole_process(
    folder: Path, mount: Mount, auth: VaultAuth, given: Given
) -> tuple[list[str], float]:
    """The command, with the bucket that it has by default: the paths that were asked, and the best time.

    They are counted in a run of their own: what counts them would take its part of the machine.
    """
    best = float("inf")
    for number in range(PROCESSES):
        command = _sync_command(folder / str(number), _files(mount, auth, given, mount.server.url))
        begin = time.perf_counter()
        await _run(command)
        best = min(best, time.perf_counter() - begin)
    async with gate(mount.server.url) as between:
        await _run(_sync_command(folder / "counted", _files(mount, auth, given, between.url)))
        return [each.path for each in between.passed], best


def _files(mount: Mount, auth: VaultAuth, given: Given, server: str) -> str:
    """Manifests that make one file of each key."""
    lines = manifests_of(mount, auth, given, server, KEYS).replace(PACED, "").splitlines(keepends=True)
    return "".join(line for line in lines if "secretKey: user" not in line)


def _sync_command(folder: Path, manifests: str) -> list[str]:
    """What makes files of these manifests."""
    folder.mkdir(parents=True)
    file = folder / "all.yaml"
    file.write_text(manifests)
    return [str(Path(sys.executable).parent / "syncret"), "sync", f"-f={file}", f"--output-dir={folder}/out"]


async def _run(command: list[str]) -> None:
    done = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.DEVNULL)
    assert await done.wait() == 0


async def _speeds(
    mount: Mount, auth: VaultAuth, given: Given, reads: int, rounds: int
) -> tuple[float, float]:
    """The best of some rounds of each, in turns."""
    token = mount.server.token(mount.policy)
    best_bare = best_ours = 0.0
    async with (
        aiohttp.ClientSession(headers={"X-Vault-Token": token}) as session,
        open_store(mount.spec(auth), context(given)) as client,
    ):

        async def bare(number: int) -> None:
            url = f"{mount.server.url}/v1/{mount.path}/data/key-{number % KEYS}"
            async with session.get(url) as response:
                await response.json()

        async def ours(number: int) -> None:
            await client.fetch([RemoteKey(f"key-{number % KEYS}")])

        for _ in range(rounds):
            best_bare = max(best_bare, await _speed(bare, reads))
            best_ours = max(best_ours, await _speed(ours, reads))
    return best_bare, best_ours


async def _speed(read: Callable[[int], Awaitable[None]], reads: int) -> float:
    numbers = iter(range(reads))

    async def work() -> None:
        for number in numbers:
            await read(number)

    begin = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for _ in range(AT_ONCE):
            group.create_task(work())
    return reads / (time.perf_counter() - begin)


async def _weight(mount: Mount, auth: VaultAuth, given: Given, stores: int) -> float:
    """Resident memory in MB of one more open client that has read once, connection included."""

    async def opened(stack: AsyncExitStack, number: int) -> VaultClient:
        client = await stack.enter_async_context(open_store(mount.spec(auth), context(given)))
        await client.fetch([RemoteKey(f"key-{number}")])
        return client

    async with AsyncExitStack() as stack:
        for number in range(max(1, stores // 10)):
            await opened(stack, number % KEYS)
        gc.collect()
        before = _resident()
        for number in range(stores):
            await opened(stack, number % KEYS)
        gc.collect()
        return (_resident() - before) / stores


def _resident() -> float:
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024
