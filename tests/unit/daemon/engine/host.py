"""A host home on virtual time with all reconcilers at work: manifests in a folder, outputs in files.

It has no state file: that is written by a thread of its own, for which virtual time does not wait.
"""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from syncret.config.fields import Json
from syncret.config.meta import Document, ObjectRef
from syncret.daemon.app import EngineOverrides, RunningEngine, run_engine
from syncret.daemon.engine.clock import Clock
from syncret.daemon.homes.filesystem.home import HostHome, HostSettings
from syncret.daemon.homes.filesystem.output.root import OutputSettings
from syncret.daemon.homes.memory.plugins import admission_by
from syncret.providers.registry import Registry
from tests.unit.daemon.engine.support import Recorder, settings


class Host:
    """The home, its folders, and what was told. Nothing watches the folders: each look is asked for."""

    home: HostHome
    controllers: RunningEngine

    def __init__(self, folder: Path, clock: Clock) -> None:
        self.manifests = folder / "manifests"
        self.out = folder / "out" / "default"
        self.seen = Recorder()
        self.events: list[tuple[str, bool, str, str]] = []
        self._clock = clock

    @asynccontextmanager
    async def running(self, **changes: Json) -> AsyncGenerator["Host", None]:
        """One life of a daemon."""
        self.manifests.mkdir(exist_ok=True)
        registry = Registry()
        chosen = HostSettings(
            manifests=[str(self.manifests)],
            output_dir=str(self.out.parent),
            output=OutputSettings(fsync=False),
            debounce=0.0,
        )
        hooks = EngineOverrides(observer=self.seen, events=self)
        async with (
            HostHome(
                chosen,
                catalog=registry,
                admission=admission_by(registry),
                now=self._clock.now,
                on_problems=lambda problems: None,
            ) as self.home,
            run_engine(
                self.home, registry=registry, settings=settings(**changes), clock=self._clock, hooks=hooks
            ) as self.controllers,
        ):
            await self.settle()
            yield self
            assert not self.seen.bugs

    def event(self, ref: ObjectRef, *, warning: bool, reason: str, message: str) -> None:
        self.events.append((ref.name, warning, reason, message))

    async def apply(self, *documents: Document) -> None:
        """Put manifests into the folder."""
        for document in documents:
            name = f"{document['kind']}-{document['metadata']['name']}.yaml"
            (self.manifests / name).write_text(json.dumps(document))
        await self.home.look()
        await self.settle()

    async def inspect(self) -> None:
        """Let the home notice what somebody did to the written files."""
        await self.home.inspect()
        await self.settle()

    async def refresh(self, ref: ObjectRef) -> None:
        """As `syncret refresh` does."""
        self.controllers.context.memory.request_refresh(ref)
        assert self.controllers.engine.refresh(ref)
        await self.settle()

    async def settle(self) -> None:
        await self.controllers.engine.wait_idle()

    def updates(self) -> int:
        """How often an object was told to be updated."""
        return sum(event[2] == "Updated" for event in self.events)
