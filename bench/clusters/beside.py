"""Ours and the operator on the same API server and the same Vault, one after the other: BENCH=peer.

The operator is release 0.20.4, at its defaults and tuned for speed. Takes a quarter of an hour.
"""

import asyncio
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

from bench.clusters.estate import (
    KEYS,
    collection,
    each,
    external_secret,
    fill,
    floor,
    give_stores,
    requests_of,
)
from bench.clusters.processes import (
    CALLS,
    DEFAULT,
    TUNED_OPERATOR,
    US,
    Contender,
    Running,
    cpu_of,
    ours,
    rss_of,
    total,
)
from bench.clusters.watching import following, new_objects
from bench.figures import Figure, p99
from tests.support.servers.kube.crds import install
from tests.support.servers.kube.running import KubeApi, kube_api

OBJECTS: Final = 2000
MANY: Final = 5000
PROBES: Final = 40
CONTENDERS: Final = (US, DEFAULT, TUNED_OPERATOR)

WITHIN: Final = 1.3
"""Times the floor."""

REQUESTS: Final = 1.05
"""Requests for each one that is needed: some are made once."""

MEANWHILE, AT_REST = 0.5, 0.04
CPU: Final = 8.0
MEGABYTES, MEGABYTES_OF_ALL = 80.0, 170.0
RESTART: Final = 2.0
OLDEST: Final = 5.0
REFRESHED: Final = 100
HUNG, WELL, IN_EACH = 20, 10, 5
EVERY: Final = 2.0
WINDOW: Final = 30.0
SETTLES: Final = 25.0
TAKEOVER: Final = 15.0


class Scale(NamedTuple):
    """How much is measured."""

    objects: int = OBJECTS
    many: int = MANY
    probes: int = PROBES
    window: float = WINDOW
    settles: float = SETTLES


class First(NamedTuple):
    """A first sync."""

    seconds: float
    cpu: float
    rss: float
    calls: float
    requests: float
    """To the API server, for each object."""
    during: Sequence[float]
    """Seconds until what was created meanwhile was ready."""
    at_rest: Sequence[float]


class Restart(NamedTuple):
    """A start on objects of which none is due."""

    seconds: float
    reads: float
    """Reads of single objects."""
    writes: float
    calls: float
    rss: float


def measure(folder: Path, *, smoke: bool) -> Iterator[Figure]:
    """Three contenders, each on namespaces of its own."""
    if shutil.which("go") is None:
        yield Figure("the operator beside us", "", "not measured: needs Go")
        return
    scale = Scale(40, 60, 4, 6.0, 4.0) if smoke else Scale()
    api = kube_api()
    install(api)
    bare = asyncio.run(floor(api, scale.objects))
    firsts = [asyncio.run(_first(_place(folder, "first"), api, one, scale)) for one in CONTENDERS]
    yield from _of_firsts(firsts, bare, scale)
    refreshes = [asyncio.run(_refresh(_place(folder, "refresh"), api, one, scale)) for one in CONTENDERS]
    figure = "; ".join(f"{each:.2f}" for each in refreshes)
    yield Figure(
        "- API requests for each refresh that finds nothing new", "1", figure, refreshes[0] <= REQUESTS
    )
    yield from _of_restarts(folder, api, scale)
    ages = [asyncio.run(_hung(_place(folder, "hung"), api, one, scale)) for one in CONTENDERS]
    yield Figure(
        f"{HUNG} of {HUNG + WELL} Vault stores hang, values of the others every {EVERY:g} s: the oldest",
        "<= 5 s",
        "; ".join(f"{each:.1f} s" for each in ages),
        ages[0] <= OLDEST,
    )
    gap = asyncio.run(_taken_over(_place(folder, "takeover"), api, scale))
    yield Figure(
        f"kill -9 of the active one of three replicas: values every {EVERY:g} s are late by at most",
        f"<= {TAKEOVER:g} s",
        f"{gap:.1f} s",
        gap <= TAKEOVER + EVERY,
    )


def _place(folder: Path, name: str) -> Path:
    """A folder that is new for each process."""
    number = len(list(folder.iterdir()))
    place = folder / f"{name}-{number}"
    place.mkdir()
    return place


# ---------------------------------------------------------------------------------------------- first sync
async def _first(folder: Path, api: KubeApi, one: Contender, scale: Scale) -> First:
    namespace = api.namespace()
    give_stores(api, namespace, "vault", "other")
    await fill(api, namespace, scale.objects)
    stores = ("vault", "other")
    meanwhile, later = (
        [(f"{when}-{number}", stores[number % 2]) for number in range(scale.probes)]
        for when in ("meanwhile", "later")
    )
    before = requests_of(api)
    async with following(api, namespace) as follower:
        begin = time.perf_counter()
        with one.started(folder, api, namespace) as running:
            await follower.until(lambda: len(follower.ready) >= scale.objects // 20)
            during = await new_objects(api, namespace, follower, meanwhile, 0.05)
            names = {f"app-{number}" for number in range(scale.objects)}
            await follower.until(lambda: names <= follower.ready.keys())
            seconds = max(follower.ready[name] for name in names) - begin
            cpu, rss = cpu_of(running.pid), rss_of(running.pid)
            calls = total(running.metrics(), CALLS)
            asked = requests_of(api) - before
            await asyncio.sleep(2)
            at_rest = await new_objects(api, namespace, follower, later, 0.25)
    count = sum(count for (_, _, verb), count in asked.items() if verb != "WATCH") - scale.probes
    return First(seconds, cpu, rss, calls, count / (scale.objects + scale.probes), during, at_rest)


def _of_firsts(firsts: Sequence[First], bare: float, scale: Scale) -> Iterator[Figure]:
    us, default, tuned = firsts
    yield Figure(
        f"cluster, {scale.objects} ExternalSecrets on {KEYS} Vault keys: first sync; the operator's; tuned",
        ">= 10 x its defaults",
        f"{us.seconds:.1f} s; {default.seconds:.1f} s ({default.seconds / us.seconds:.0f} x); "
        f"{tuned.seconds:.1f} s ({tuned.seconds / us.seconds:.1f} x)",
        default.seconds >= 10 * us.seconds,
    )
    yield Figure(
        "- against bare creations and status patches",
        "<= 1.3 x",
        "; ".join(f"{each.seconds / bare:.2f} x" for each in firsts) + f" ({bare:.1f} s)",
        us.seconds <= WITHIN * bare,
    )
    yield Figure(
        "- calls to Vault, logins and probes included",
        f"<= {KEYS} reads, 1 login for each store",
        "; ".join(f"{each.calls:g}" for each in firsts),
        us.calls <= KEYS + 6,
    )
    yield Figure(
        "- API requests for each object",
        "2",
        "; ".join(f"{each.requests:.2f}" for each in firsts),
        us.requests <= 2 * REQUESTS,
    )
    yield Figure(
        "- new objects meanwhile: p50, p99",
        "p99 <= 0.5 s",
        "; ".join(f"{median(each.during):.2f} s, {p99(each.during):.2f} s" for each in firsts),
        p99(us.during) <= MEANWHILE,
    )
    yield Figure(
        "- new objects at rest: p50, p99",
        "p99 <= 40 ms",
        "; ".join(
            f"{1000 * median(each.at_rest):.0f} ms, {1000 * p99(each.at_rest):.0f} ms" for each in firsts
        ),
        p99(us.at_rest) <= AT_REST,
    )
    yield Figure("- processor", "<= 8 s", "; ".join(f"{each.cpu:.1f} s" for each in firsts), us.cpu <= CPU)
    yield Figure("- RSS", "<= 80 MB", "; ".join(f"{each.rss:.0f} MB" for each in firsts), us.rss <= MEGABYTES)


# ------------------------------------------------------------------------------------------------ refreshes
async def _refresh(folder: Path, api: KubeApi, one: Contender, scale: Scale) -> float:
    """Requests for each status that a refresh wrote."""
    namespace = api.namespace()
    give_stores(api, namespace, "vault")
    await _often(api, namespace, ["vault"], REFRESHED)
    async with following(api, namespace) as follower:
        with one.started(folder, api, namespace):
            await follower.until(lambda: len(follower.ready) >= REFRESHED)
            await asyncio.sleep(EVERY)
            before = requests_of(api)
            await asyncio.sleep(scale.window)
            asked = requests_of(api) - before
    statuses = sum(
        count for (_, sub, verb), count in asked.items() if sub == "status" and verb in {"PUT", "PATCH"}
    )
    return sum(count for (_, _, verb), count in asked.items() if verb != "WATCH") / statuses


async def _often(api: KubeApi, namespace: str, stores: Sequence[str], in_each: int) -> list[str]:
    """Objects that are refreshed again and again; their names."""
    found = {f"{store}-{number}": store for store in stores for number in range(in_each)}
    requests = [
        ("POST", collection(namespace), external_secret(name, number, store=store, every=f"{EVERY:g}s"))
        for number, (name, store) in enumerate(found.items())
    ]
    await each(api, requests)
    return list(found)


# ------------------------------------------------------------------------------------------------- restarts
def _of_restarts(folder: Path, api: KubeApi, scale: Scale) -> Iterator[Figure]:
    """First ours syncs all objects, and the operator adds its finalizers; then each is started again."""
    namespace = api.namespace()
    give_stores(api, namespace, "vault")
    asyncio.run(fill(api, namespace, scale.many))
    _restart(_place(folder, "sync"), api, US, namespace, scale.many)
    found = [_restart(_place(folder, "restart"), api, US, namespace, scale.many)]
    _restart(_place(folder, "finalizers"), api, TUNED_OPERATOR, namespace, scale.many)
    found += [
        _restart(_place(folder, "restart"), api, one, namespace, scale.many)
        for one in (DEFAULT, TUNED_OPERATOR)
    ]
    yield Figure(
        f"cluster, restart with {scale.many} objects, nothing due: all looked at",
        "<= 2 s",
        "; ".join(f"{each.seconds:.1f} s" for each in found),
        found[0].seconds <= RESTART,
    )
    yield Figure(
        "- reads of single objects, writes, calls to Vault but for probes",
        "0, 0, 0",
        "; ".join(f"{each.reads:g}, {each.writes:g}, {each.calls:g}" for each in found),
        not (found[0].reads or found[0].writes or found[0].calls),
    )
    asyncio.run(fill(api, namespace, scale.many, first=scale.many))
    more = [
        _restart(_place(folder, "more"), api, one, namespace, 2 * scale.many) for one in (US, TUNED_OPERATOR)
    ]
    yield Figure(
        f"- RSS with {2 * scale.many} and their Secrets, half of them new; the operator's, tuned, none new",
        "<= 170 MB",
        "; ".join(f"{each.rss:.0f} MB" for each in more),
        more[0].rss <= MEGABYTES_OF_ALL,
    )


def _restart(folder: Path, api: KubeApi, one: Contender, namespace: str, objects: int) -> Restart:
    before = requests_of(api)
    begin = time.perf_counter()
    with one.started(folder, api, namespace) as running:
        running.wait_reconciled(objects)
        seconds = time.perf_counter() - begin
        calls = total(running.metrics(), CALLS, 'call="ReadSecretData"')
        asked = requests_of(api) - before
        rss = rss_of(running.pid)
    reads = sum(
        count for (resource, _, verb), count in asked.items() if verb == "GET" and resource != "secretstores"
    )
    writes = sum(count for (_, _, verb), count in asked.items() if verb in {"POST", "PUT", "PATCH", "DELETE"})
    return Restart(seconds, reads, writes, calls, rss)


# ---------------------------------------------------------------------------------- what does not answer
async def _hung(folder: Path, api: KubeApi, one: Contender, scale: Scale) -> float:
    """The oldest value of the stores that answer; as old as the window where one had none."""
    namespace = api.namespace()
    well, hung = (
        [f"{what}-{number}" for number in range(count)] for what, count in (("well", WELL), ("hung", HUNG))
    )
    give_stores(api, namespace, *well, hung=hung)
    await _often(api, namespace, hung, IN_EACH * 2)
    names = await _often(api, namespace, well, IN_EACH)
    async with following(api, namespace) as follower:
        with one.started(folder, api, namespace):
            await asyncio.sleep(scale.settles)
            begin = time.perf_counter()
            await asyncio.sleep(scale.window)
            return follower.oldest(names, begin, time.perf_counter())


async def _taken_over(folder: Path, api: KubeApi, scale: Scale) -> float:
    """The longest that a value was not refreshed, around the end of the active replica."""
    namespace = api.namespace()
    give_stores(api, namespace, "vault")
    names = await _often(api, namespace, ["vault"], IN_EACH)
    lease = ("--set", "leaderElection.enabled=true", "--set", f"leaderElection.namespace={namespace}")
    async with following(api, namespace) as follower:
        with ExitStack() as stack:
            replicas: dict[str, Running] = {}
            for name in ("one", "two", "three"):
                place = folder / name
                place.mkdir()
                replicas[name] = stack.enter_context(ours(place, api, namespace, *lease, POD_NAME=name))
            await follower.until(lambda: len(follower.ready) >= len(names))
            await asyncio.sleep(2 * EVERY)
            begin = time.perf_counter()
            os.kill(replicas[_holder(api, namespace)].pid, 9)
            await asyncio.sleep(max(scale.window, 1.5 * TAKEOVER))
            return follower.oldest(names, begin, time.perf_counter())


def _holder(api: KubeApi, namespace: str) -> str:
    """The pod that the Lease names."""
    path = f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/external-secrets-controller"
    found = api.get(path)
    return "" if found is None else str(found["spec"].get("holderIdentity") or "").partition("_")[0]
