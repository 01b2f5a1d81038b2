"""A host with a cache and a secret manager that can be away; a reboot takes what it delivered."""

import asyncio
import json
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from syncret.config.meta import Document, ObjectRef, member
from syncret.config.resources.kinds import DELIVERY, EXTERNAL_SECRET, SECRET
from syncret.config.settings import Cache
from syncret.daemon.app import EngineOverrides, RunningEngine, run_engine
from syncret.daemon.cache.cache import OfflineCache
from syncret.daemon.delivery.reconciler import DeliveryReconciler, OnHost
from syncret.daemon.engine.clock import Clock
from syncret.daemon.homes.filesystem.home import HostHome, HostSettings
from syncret.daemon.homes.filesystem.output.root import OutputSettings
from syncret.daemon.homes.memory.plugins import admission_by
from syncret.providers.errors import Unavailable
from tests.unit.daemon.cache.conftest import Disk
from tests.unit.daemon.delivery.world import FakeUnits
from tests.unit.daemon.engine.life import WithManager
from tests.unit.daemon.engine.support import Manager, Recorder, settings

ES: Final = EXTERNAL_SECRET.ref("default", "database")
TARGET: Final = SECRET.ref("default", "database")
WEB: Final = DELIVERY.ref("default", "web")
DAY: Final = 86400.0


class Away(list[Exception]):
    """Each call ends without an answer, however many there are."""

    def __bool__(self) -> bool:
        return True

    def pop(self, index: object = 0) -> Exception:
        del index
        return Unavailable("no answer", problem="manager: no answer")


class Host:
    """The folders of the host, its manager, and what was told."""

    def __init__(self, folder: Path) -> None:
        folder.chmod(0o755)
        self.disk = Disk(self._folder(folder / "state"))
        self.manifests, self.srv = folder / "manifests", folder / "srv"
        for each in (self.manifests, self.srv):
            each.mkdir(mode=0o755)
        self.out = folder / "out"
        self.manager = Manager({"password": "first"})
        self.units = FakeUnits()
        self.store_interval = 300.0
        self.events: list[tuple[str, str]] = []
        self.home: HostHome
        self.cache: OfflineCache
        self.running_engine: RunningEngine

    def _folder(self, path: Path) -> Path:
        path.mkdir(mode=0o700)
        return path

    @property
    def settings(self) -> Cache:
        return self.disk.settings

    @settings.setter
    def settings(self, settings: Cache) -> None:
        self.disk.settings = settings

    def reboot(self, *, after: float = 0.0) -> None:
        """What is in memory is gone."""
        self.disk.later(after)
        shutil.rmtree(self.out, ignore_errors=True)

    def away(self) -> None:
        """The manager does not answer any more."""
        self.manager.open_errors = self.manager.errors = Away()

    def back(self) -> None:
        self.manager.open_errors, self.manager.errors = [], []

    @asynccontextmanager
    async def running(self, *, without_cache: bool = False) -> AsyncGenerator["Host", None]:
        """One life of a daemon."""
        registry = WithManager(self.manager.provider())
        clock, seen = Clock(), Recorder()
        async with self.disk.opened() as self.cache:
            home = HostHome(
                HostSettings(
                    manifests=[str(self.manifests)],
                    output_dir=str(self.out),
                    state_file=str(self.disk.path.with_name("state.db")),
                    output=OutputSettings(fsync=False),
                    debounce=0.0,
                ),
                catalog=registry,
                admission=admission_by(registry),
                now=lambda: self.disk.clock,
                on_problems=lambda problems: None,
            )
            cache = home.cache = None if without_cache else self.cache
            async with home as self.home:
                host = OnHost(key=home.digest_key, fsync=False)
                hooks = EngineOverrides(
                    observer=seen,
                    events=self,
                    deliveries=lambda context: DeliveryReconciler(context, host, self.units),
                    cache=cache,
                )
                chosen = settings(
                    call_attempts=1, retry_min=100, retry_max=100, store_interval=self.store_interval
                )
                async with run_engine(
                    home, registry=registry, settings=chosen, clock=clock, hooks=hooks
                ) as self.running_engine:
                    await self.settle()
                    yield self
        assert not seen.bugs

    def event(self, ref: ObjectRef, *, warning: bool, reason: str, message: str) -> None:
        del warning, message
        self.events.append((ref.kind, reason))

    def write(self, *documents: Document) -> None:
        """Put manifests into the folder, as the administrator would."""
        for document in documents:
            path = self.manifests / f"{document['kind']}-{document['metadata']['name']}.json"
            path.write_text(json.dumps(document))
            path.chmod(0o644)

    async def settle(self) -> None:
        await self.running_engine.engine.wait_idle()

    async def refresh(self, ref: ObjectRef = ES) -> None:
        """Have an object tried now."""
        self.running_engine.context.memory.request_refresh(ref)
        self.running_engine.engine.refresh(ref)
        await self.settle()

    async def looked_at(self, ref: ObjectRef = WEB) -> None:
        """What the next look would find."""
        self.running_engine.engine.refresh(ref, asked=False)
        await self.settle()

    async def until_delivered(self) -> None:
        """Until programs that wait for this host may start."""
        async with asyncio.timeout(30):
            await self.running_engine.engine.delivered.wait()

    def file(self, name: str = "password") -> str | None:
        """What the home has written."""
        path = self.out / "default" / "database" / name
        return path.read_text() if path.exists() else None

    def delivered(self, name: str = "password") -> str | None:
        """What a program reads."""
        path = self.srv / "db" / name
        return path.read_text() if path.exists() else None

    def status(self, ref: ObjectRef) -> Document:
        stored = self.running_engine.inventory.get(ref)
        return {} if stored is None else member(stored.document, "status")

    def ready(self, ref: ObjectRef = ES) -> tuple[str, str, str]:
        """Status, reason and message of the condition."""
        conditions = self.status(ref)["conditions"]
        [found] = [each for each in conditions if each["type"] == "Ready"]
        return found["status"], found["reason"], found["message"]
