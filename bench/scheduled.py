"""A restart with a hundred thousand objects, none of them due: the longest stall of the loop, and the memory.

The home is the simulated cluster, filled as a journal fills it. A heartbeat of a millisecond measures the
longest time in which the loop could serve nothing else: while the list is taken in, while all objects are
looked at once, and again after a change of the store on which all of them depend. That is processor time of
the loop's thread, because the machine may be busy with other things.
"""

import asyncio
import gc
import json
import re
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Final

from bench.cluster import GROUP, bench, external_secret, store
from bench.estate import worker
from bench.figures import Figure
from syncret.config.meta import Document, ObjectRef, shared
from syncret.config.settings import Settings
from syncret.daemon.app import EngineOverrides, run_engine
from syncret.daemon.cli.dispatch import NEW_OBJECTS
from syncret.daemon.core.ownership import created_by
from syncret.daemon.engine.clock import Clock
from syncret.daemon.engine.observer import Call, NullObserver
from syncret.daemon.homes.contract import StoredObject
from syncret.daemon.homes.memory.cluster import MemoryCluster
from syncret.daemon.homes.memory.plugins import admission_by
from syncret.daemon.process import trim_memory
from syncret.providers.registry import Registry

OBJECTS: Final = 100_000
PER_NAMESPACE: Final = 100
STORE_KEYS: Final = 200
BEAT: Final = 0.001
STALL_MS, MB = 50.0, 350.0
NAMES: Final = ("team-0000", "app-000000")
"""Namespace and name of the object that is copied."""
KEY: Final = "key-{:03d}"
KEYS: Final = (KEY.format(0), KEY.format(1))
"""What it reads."""


def measure(folder: Path, *, smoke: bool) -> Iterator[Figure]:
    """In processes of their own, because memory is measured as the size of a process."""
    del folder
    objects = 1000 if smoke else OBJECTS
    for secrets, what in ((False, "ExternalSecrets"), (True, "ExternalSecrets and their Secrets")):
        with worker("scheduled", objects=objects, secrets=secrets) as process:
            output, _ = process.communicate()
            assert process.returncode == 0
        result = json.loads(output)
        name = f"restart with {objects:,} {what}, nothing due"
        yield Figure(
            f"{name}: longest stall of the loop",
            f"<= {STALL_MS:g} ms",
            f"{result['stall']:.0f} ms of processor time ({result['wall']:.0f} ms by the clock)",
            result["stall"] <= STALL_MS,
        )
        yield Figure(
            f"{name}: RSS",
            f"<= {MB:g} MB",
            f"{result['rss']:.0f} MB ({result['home']:.0f} MB before the engine starts)",
            result["rss"] <= MB,
        )


class Heartbeat:
    """The longest time between two turns of the loop, in milliseconds."""

    def __init__(self) -> None:
        self.stall = 0.0
        self.wall = 0.0

    async def beat(self) -> None:
        used, passed = time.thread_time(), time.perf_counter()
        while True:
            await asyncio.sleep(BEAT)
            used_now, passed_now = time.thread_time(), time.perf_counter()
            self.stall = max(self.stall, 1000 * (used_now - used))
            self.wall = max(self.wall, 1000 * (passed_now - passed - BEAT))
            used, passed = used_now, passed_now


def _external_secret(*, orphan: bool) -> Document:
    """Of two keys of a cluster's store. An orphan does not ask for its Secret."""
    namespace, name = NAMES
    document = external_secret(name, "bench", KEYS[0])
    document["metadata"]["namespace"] = namespace
    document["spec"]["secretStoreRef"]["kind"] = "ClusterSecretStore"
    document["spec"]["refreshInterval"] = "24h"
    document["spec"]["data"].append({"secretKey": "password", "remoteRef": {"key": KEYS[1]}})
    if orphan:
        document["spec"]["target"] = {"creationPolicy": "Orphan"}
    return document


def _store(**labels: str) -> Document:
    document = store("bench", *map(KEY.format, range(STORE_KEYS)))
    return document | {"kind": "ClusterSecretStore", "metadata": {"name": "bench", "labels": labels}}


async def _synced(*, secrets: bool) -> list[StoredObject]:
    """One ExternalSecret with what belongs to it, as a first sync leaves them; the store comes first."""
    namespace, name = NAMES
    refs = [
        ObjectRef(GROUP, "ClusterSecretStore", "", "bench"),
        ObjectRef("", "Namespace", "", namespace),
        ObjectRef(GROUP, "ExternalSecret", namespace, name),
        ObjectRef("", "Secret", namespace, name),
    ]
    async with bench(manifests=[_store(), _external_secret(orphan=not secrets)]) as one:
        await one.running.engine.wait_idle()
        found = [await one.cluster.get(ref) for ref in refs[: 4 if secrets else 3]]
    return [each for each in found if each is not None]


class Pattern:
    """An object whose copies differ in some words.

    A copy is read in one piece, as a row of a state file is: what `bytes.join` allocates for a moment would
    lie as holes between a hundred thousand of them.
    """

    def __init__(self, original: StoredObject, words: Iterable[str]) -> None:
        self._original = original
        self._version = f'"resourceVersion":"{original.resource_version}"'
        found = "|".join(map(re.escape, [*words, self._version]))
        self._pieces = re.split(f"({found})".encode(), original.data)
        self._scratch = BytesIO(bytes(2 * len(original.data)))

    def copy(self, words: Mapping[str, str], version: int) -> StoredObject:
        """The object with these words in the place of the original's, keys of the mapping."""
        new = {old.encode(): word.encode() for old, word in words.items()}
        new[self._version.encode()] = f'"resourceVersion":"{version}"'.encode()
        self._scratch.seek(0)
        size = sum(self._scratch.write(new.get(piece, piece)) for piece in self._pieces)
        self._scratch.seek(0)
        ref = self._original.ref
        return StoredObject(
            ref=shared(ref.group, ref.kind, words.get(ref.namespace, ""), words[ref.name]),
            uid=words[self._original.uid],
            resource_version=str(version),
            generation=self._original.generation,
            data=self._scratch.read(size),
        )


def _copies(originals: Sequence[StoredObject], objects: int) -> Iterator[StoredObject]:
    """The store once, the namespaces, and as many of the others as there are to be."""
    label = created_by(*NAMES)
    uids = [each.uid for each in originals]
    namespace, *others = (Pattern(each, [*NAMES, *KEYS, label, *uids]) for each in originals[1:])
    version = max(int(each.resource_version) for each in originals)
    yield originals[0]
    for number in range(objects):
        names = (f"team-{number // PER_NAMESPACE:04d}", f"app-{number:06d}")
        keys = (KEY.format(2 * number % STORE_KEYS), KEY.format((2 * number + 1) % STORE_KEYS))
        words = dict(zip((*NAMES, *KEYS, label), (*names, *keys, created_by(*names)), strict=True))
        words |= {uid: f"{place:08d}{uid[8:24]}{number:012d}" for place, uid in enumerate(uids)}
        for pattern in others if number % PER_NAMESPACE else (namespace, *others):
            version += 1
            yield pattern.copy(words, version)


def _rss() -> float:
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


class Calls(NullObserver):
    """Counts the calls of providers."""

    def __init__(self) -> None:
        self.calls = 0

    def called(self, call: Call) -> None:  # noqa: ARG002  # the protocol's
        self.calls += 1


async def _work(objects: int, *, secrets: bool) -> None:
    """The process that is measured."""
    originals = await _synced(secrets=secrets)
    clock, registry, observer, heart = Clock(), Registry(), Calls(), Heartbeat()
    cluster = MemoryCluster(now=clock.now, admission=admission_by(registry))
    for copy in _copies(originals, objects):
        cluster.restore(copy)
    gc.collect()
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS)  # as the command does
    home, version = _rss(), cluster.version
    beating = asyncio.create_task(heart.beat(), name="heartbeat")
    hooks = EngineOverrides(observer=observer)
    async with run_engine(
        cluster, registry=registry, settings=Settings(), clock=clock, hooks=hooks
    ) as running:
        await running.engine.first_pass.wait()
        trim_memory()  # as the daemon does
        rss = _rss()
        assert running.engine.queue.stats().scheduled == objects + 1
        assert cluster.version == version
        await cluster.apply(_store(changed="yes"))
        await running.engine.wait_idle()
        beating.cancel()
    assert not observer.calls
    print(json.dumps({"stall": heart.stall, "wall": heart.wall, "home": home, "rss": rss}))


if __name__ == "__main__":
    asyncio.run(_work(**json.loads(sys.argv[1])))
