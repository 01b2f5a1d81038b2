"""The offline cache: how long it takes until 1,000 outputs are back that a reboot took."""

import asyncio
import json
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from bench.figures import Figure
from syncret.config.settings import Cache, Settings
from syncret.daemon.app import EngineOverrides, run_engine
from syncret.daemon.cache.key import new_key
from syncret.daemon.cache.opening import open_cache
from syncret.daemon.engine.clock import Clock
from syncret.daemon.homes.opening import open_home
from syncret.providers.registry import Registry

MANY: Final = 1000
GOAL: Final = 1.0
MEMORY: Final = Path("/dev/shm")  # noqa: S108  # a folder in memory, as /run is


def measure(folder: Path, *, smoke: bool) -> Iterator[Figure]:
    """How long the start takes that puts everything back, beside the same start with all files there."""
    many = 20 if smoke else MANY
    with tempfile.TemporaryDirectory(dir=MEMORY) as memory:
        settings = _prepared(folder / "host", Path(memory) / "secrets", many)
        asyncio.run(_first_life(settings))
        there, restored = asyncio.run(_start(settings))
        assert restored == 0
        shutil.rmtree(settings.output_dir)
        seconds, restored = asyncio.run(_start(settings))
    assert restored == many
    yield Figure(
        f"restore of {many} values at a boot, without their manager",
        f"<= {GOAL:.0f} s",
        f"{seconds:.2f} s ({there:.2f} s with all files there)",
        seconds <= GOAL,
    )


def _prepared(folder: Path, output: Path, many: int) -> Settings:
    manifests = folder / "manifests"
    manifests.mkdir(parents=True)
    folder.chmod(0o700)
    key = folder / "key"
    key.write_bytes(new_key())
    key.chmod(0o600)
    data = [{"key": f"k{number}", "value": f"value-{number}" * 4} for number in range(many)]
    documents = [_document("SecretStore", "fake", {"provider": {"fake": {"data": data}}})]
    for number in range(many):
        entry = {"secretKey": "password", "remoteRef": {"key": f"k{number}"}}
        spec = {"secretStoreRef": {"name": "fake"}, "refreshInterval": "1h", "data": [entry]}
        documents.append(_document("ExternalSecret", f"es{number}", spec))
    (manifests / "all.yaml").write_text("\n---\n".join(map(json.dumps, documents)))
    return Settings(
        manifests=(str(manifests),),
        output_dir=str(output),
        state_file=str(folder / "state.db"),
        cache=Cache(key=f"file:{key}"),
    )


def _document(kind: str, name: str, spec: object) -> dict[str, object]:
    version = "external-secrets.io/v1"
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": spec}


async def _first_life(settings: Settings) -> None:
    registry, clock = Registry(), Clock()
    async with (
        open_cache(settings, clock.now) as opened,
        open_home(settings, registry, now=clock.now, on_problems=lambda _: None, cache=opened.cache) as home,
        run_engine(
            home,
            registry=registry,
            settings=settings,
            clock=clock,
            hooks=EngineOverrides(cache=opened.cache),
        ) as running,
    ):
        await running.engine.wait_idle()


async def _start(settings: Settings) -> tuple[float, int]:
    """Seconds until the home is open, and how many outputs were put back."""
    registry, clock = Registry(), Clock()
    begin = time.perf_counter()
    async with (
        open_cache(settings, clock.now) as opened,
        open_home(settings, registry, now=clock.now, on_problems=lambda _: None, cache=opened.cache),
    ):
        return time.perf_counter() - begin, opened.stats().restored
