"""Dynamic exports: what an expression costs, a first pass, what is asked for, and hostile expressions."""

import asyncio
import gc
import os
import sys
import time
from collections.abc import AsyncGenerator, Callable, Collection, Generator, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Final

from bench.figures import Figure
from syncret.config.meta import Document, GroupKind
from syncret.config.settings import Exports, Settings
from syncret.daemon.app import EngineOverrides, run_engine
from syncret.daemon.core.exports.cel.messages import Evaluation, Text
from syncret.daemon.core.exports.evaluation import check_all, evaluate_all
from syncret.daemon.engine.clock import Clock
from syncret.daemon.engine.work import WorkThreads
from syncret.daemon.homes.memory.cluster import MemoryCluster
from syncret.daemon.homes.memory.plugins import admission_by
from syncret.providers.registry import Registry
from syncret.providers.secret_apis import (
    CallIdentity,
    CredentialName,
    SecretApisContext,
    SecretCall,
    SecretCalls,
    SecretReader,
)
from syncret.providers.values import SecretBytes, SecretMap

_CONNECTION: Final = (
    "'DefaultEndpointsProtocol=https;AccountName=%s;AccountKey=%s'.format([self.metadata.name, secret.key1])"
)
_ID: Final = "self.status.id"
_STATUS: Final[Document] = {
    "id": "/subscriptions/1/resourceGroups/rg/providers/Microsoft.Storage/storageAccounts/acct",
    "primaryEndpoints": {
        name: f"https://acct.{name}.core.windows.net/" for name in ("blob", "file", "queue")
    },
}
_SECONDS: Final = 12
_MEMORY: Final = 200e6
_STALL: Final = 0.05
_BEAT: Final = 0.002
_LEFT: Final = 1.1
_HOSTILE: Final = (
    "string(self.s.replace('a', self.s).replace('a', self.s).size())",
    "string([self.s]" + ".map(a, a + a)" * 25 + "[0].size())",
    "string(self.l.map(x, self.l.map(y, self.s)).size())",
    "string(self.l.all(x, self.l.all(y, self.l.all(z, x + y + z >= 0))))",
    "self.s.matches('(a+)+$') ? self.s : self.s",
)


class _Apis:
    """Secret APIs that answer at once, and count."""

    def __init__(self) -> None:
        self.calls = 0

    def plan(self, kind: GroupKind, resource: Document, names: Collection[str] | None) -> SecretCalls | None:
        del kind, resource
        apis = {"key1": "listKeys", "admin": "listAdmin", "user": "listUser"}
        asked = [
            SecretCall(api, frozenset({name}), ()) for name, api in apis.items() if name in (names or apis)
        ]
        return SecretCalls({}, asked)

    def credentials(self, resource: Document) -> Sequence[CredentialName]:
        del resource
        return ()

    def open(self, context: SecretApisContext) -> AbstractAsyncContextManager[SecretReader]:
        del context
        return self._opened()

    @asynccontextmanager
    async def _opened(self) -> AsyncGenerator[SecretReader, None]:
        yield self

    async def read(self, call: SecretCall, identity: CallIdentity) -> SecretMap:
        del identity
        self.calls += 1
        return {name: SecretBytes(b"a-key") for name in call.names}


def measure(folder: Path, *, smoke: bool) -> Iterator[Figure]:
    """All figures."""
    del folder
    yield from _evaluation(20 if smoke else 500)
    yield from asyncio.run(_first_pass(20 if smoke else 10_000))
    yield from asyncio.run(_calls(10 if smoke else 1_000))
    yield from asyncio.run(_hostile(6 if smoke else 1_000))


def _evaluation(rounds: int) -> Iterator[Figure]:
    """Checked once, warm; the hop to the worker process and back is in it."""
    threads = WorkThreads()
    texts = (Text(for_secret=True, source=_CONNECTION), Text(for_secret=False, source=_ID))
    resource = b'{"metadata": {"name": "acct"}, "status": {"id": "/a"}}'
    try:
        check_all([texts], threads.new_work())
        for name, at_once, used, goal in (
            ("an expression, in batches of 20", 20, texts[:1], 60e-6),
            ("a resource of two expressions, in batches of 20", 20, texts, 300e-6),
            ("a resource of two expressions, alone", 1, texts, 300e-6),
        ):
            asked = [Evaluation(resource, {"key1": "k"}, used)] * at_once
            evaluate_all(asked, threads.new_work())
            best = float("inf")
            for _ in range(5):
                begin = time.perf_counter()
                for _ in range(rounds):
                    evaluate_all(asked, threads.new_work())
                best = min(best, (time.perf_counter() - begin) / rounds / at_once)
            yield Figure(
                f"evaluation: {name}", f"{goal * 1e6:.0f} us", f"{best * 1e6:.0f} us", met=best <= goal
            )
    finally:
        threads.close()


def _resource(number: int, *entries: tuple[str, str]) -> Document:
    """A storage account with these exports, as list and expression."""
    spec: dict[str, list[Document]] = {}
    for place, (field, value) in enumerate(entries):
        spec.setdefault(field, []).append({"name": f"o{number}-{place}", "key": "k", "value": value})
    return {
        "apiVersion": "storage.azure.com/v1",
        "kind": "StorageAccount",
        "metadata": {"name": f"a{number}", "namespace": f"team-{number % 20}"},
        "spec": {"location": "westeurope", "operatorSpec": spec},
        "status": _STATUS,
    }


@asynccontextmanager
async def _running(
    cluster: MemoryCluster, apis: _Apis, registry: Registry, *, seconds: float = 2.0
) -> AsyncGenerator[None]:
    hooks = EngineOverrides(secret_apis=lambda _: apis)
    settings = Settings(exports=Exports(evaluation_timeout=seconds))
    async with run_engine(
        cluster, registry=registry, settings=settings, clock=Clock(), hooks=hooks
    ) as running:
        await running.engine.first_pass.wait()
        yield


async def _cluster(resources: Sequence[Document], registry: Registry) -> MemoryCluster:
    cluster = MemoryCluster(now=time.time, admission=admission_by(registry))
    for each in resources:
        await cluster.apply(each)
    return cluster


async def _first_pass(count: int) -> list[Figure]:
    registry, apis = Registry(), _Apis()
    entries = (("dynamicSecrets", _CONNECTION), ("dynamicConfigMaps", _ID))
    cluster = await _cluster([_resource(number, *entries) for number in range(count)], registry)
    begin = time.perf_counter()
    async with _running(cluster, apis, registry):
        seconds, memory = time.perf_counter() - begin, _memory()
    made = sum(len(cluster.snapshot(GroupKind("", kind))) for kind in ("Secret", "ConfigMap"))
    if made != 2 * count:
        raise AssertionError(f"{made} outputs of {2 * count}")
    what = f"first pass of {count} resources x 2 expressions"
    return [
        Figure(what, f"{_SECONDS} s", f"{seconds:.1f} s", met=seconds <= _SECONDS),
        Figure(
            f"{what}: daemon and workers",
            f"{_MEMORY / 1e6:.0f} MB",
            f"{memory / 1e6:.0f} MB",
            met=memory <= _MEMORY,
        ),
    ]


async def _calls(count: int) -> list[Figure]:
    found: list[Figure] = []
    for name, value, each in (
        ("no secret", _ID, 0),
        ("one name", "secret.key1", 1),
        ("admin and user credentials", "secret.admin + secret.user", 2),
    ):
        registry, apis = Registry(), _Apis()
        resources = [_resource(number, ("dynamicSecrets", value)) for number in range(count)]
        async with _running(await _cluster(resources, registry), apis, registry):
            figure = f"{apis.calls}"
        found.append(
            Figure(
                f"secret calls for {count} resources that use {name}",
                str(each * count),
                figure,
                met=apis.calls == each * count,
            )
        )
    return found


async def _hostile(count: int) -> list[Figure]:
    """What they do to the loop, and what is left of their memory."""
    registry, apis = Registry(), _Apis()
    entries = [("dynamicSecrets", each) for each in _HOSTILE]
    resources = [_resource(number, *entries) for number in range(max(1, count // len(entries)))]
    for each in resources:
        each["s"], each["l"] = "a" * 3_000, [1] * 400
    resources.append(_resource(count, ("dynamicSecrets", "'fine'")))
    cluster = await _cluster(resources, registry)
    await _calls(1)  # what every daemon with exports has loaded
    gc.collect()
    before = _memory(own=True)
    with _bare_loop() as worst_bare:
        watching = asyncio.create_task(_worst_stall())
        async with _running(cluster, apis, registry, seconds=0.5):
            served = len(cluster.snapshot(GroupKind("", "Secret")))
        watching.cancel()
        bare = worst_bare()
    gc.collect()
    after = _memory(own=True)
    worst = await watching
    return [
        Figure(
            f"longest stall of the loop under {count} hostile expressions",
            f"{_STALL * 1e3:.0f} ms",
            f"{worst * 1e3:.0f} ms (a process beside it that only sleeps: {bare * 1e3:.0f} ms)",
            met=worst <= _STALL,
        ),
        Figure(
            "memory of the daemon afterwards, of that before",
            "110 %",
            f"{after / before * 100:.0f} %",
            met=after <= _LEFT * before,
        ),
        Figure("a resource among them is served", "yes", "yes" if served else "no", met=served > 0),
    ]


async def _worst_stall() -> float:
    """How much later than asked the latest of all sleeps ended, until cancelled; no more is kept of them."""
    worst = 0.0
    loop = asyncio.get_running_loop()
    try:
        while True:
            begin = loop.time()
            await asyncio.sleep(_BEAT)
            worst = max(worst, loop.time() - begin - _BEAT)
    except asyncio.CancelledError:
        return worst


_BARE: Final = f"""\
import select, sys, time
worst = 0.0
while True:
    begin = time.perf_counter()
    ended = select.select([sys.stdin], [], [], {_BEAT})[0]
    if ended:
        break
    worst = max(worst, time.perf_counter() - begin - {_BEAT})
print(worst)
"""


@contextmanager
def _bare_loop() -> Generator[Callable[[], float]]:
    """The same in a process that does nothing else: how late the machine itself is. Calling it ends it."""
    with Popen([sys.executable, "-c", _BARE], stdin=PIPE, stdout=PIPE, text=True) as process:
        yield lambda: float(process.communicate("\n")[0])


def _memory(*, own: bool = False) -> int:
    """Bytes of this process, and of its worker processes."""
    processes = [os.getpid()]
    if not own:
        children = Path(f"/proc/{os.getpid()}/task").glob("*/children")
        processes += [int(number) for each in children for number in each.read_text().split()]
    return sum(map(_resident, processes))


def _resident(process: int) -> int:
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    return 0
