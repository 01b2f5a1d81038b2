"""A host with Deliveries: manifests in a folder, files where programs read them, units that record."""

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from syncret.config.meta import Document, ObjectRef, member
from syncret.config.resources.kinds import DELIVERY
from syncret.config.settings import BoundFolder
from syncret.daemon.app import EngineOverrides, RunningEngine, run_engine
from syncret.daemon.core.delivery.phases import Outcome
from syncret.daemon.core.delivery.step import Step
from syncret.daemon.core.delivery.timing import StartLimit
from syncret.daemon.delivery.credentials.offers import Offers
from syncret.daemon.delivery.reconciler import DeliveryReconciler, OnHost
from syncret.daemon.delivery.units import Action, ActionResult, UnitState
from syncret.daemon.engine.clock import Clock
from syncret.daemon.homes.filesystem.home import HostHome, HostSettings
from syncret.daemon.homes.filesystem.output.root import OutputSettings
from syncret.daemon.homes.memory.plugins import admission_by
from syncret.providers.registry import Registry
from tests.unit.daemon.engine.support import Recorder, settings

NAME = DELIVERY.ref("default", "web")


def secret(name: str = "tls", **data: str) -> Document:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "stringData": data}


def delivery(name: str = "web", **spec: Any) -> Document:  # noqa: ANN401  # any field
    base = {"sources": [{"secret": "tls"}], "debounce": {"quiet": "0s", "atMost": "0s"}, "minInterval": "0s"}
    return {
        "apiVersion": DELIVERY.api_version,
        "kind": "Delivery",
        "metadata": {"name": name},
        "spec": {**base, **spec},
    }


class FakeUnits:
    """Units that record what is requested of them."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []
        self.started: list[str] = []
        self.outcome: Callable[[], Outcome] = lambda: Outcome.DONE
        self.check = Outcome.DONE
        self.when_started: Callable[[], object] = lambda: None
        """Called at the moment of each check: what it would find."""
        self.when_asked: Callable[[], object] = lambda: None
        """Called at the moment of each request: what a reader would find."""
        self.state = UnitState(
            load="loaded",
            active="active",
            sub="running",
            result="success",
            invocation="1",
            start_limit=StartLimit(10, 5),
        )

    async def show(self, unit: str) -> UnitState | None:
        del unit
        return self.state

    async def reload(
        self,
        unit: str,
        action: Action,
        *,
        timeout: float,  # noqa: ASYNC109  # as the protocol
        revive: bool = False,
    ) -> ActionResult:
        del timeout, revive
        self.asked.append((unit, action))
        if action == "restart":
            self.state = replace(self.state, invocation=f"{self.state.invocation}+")
        self.when_asked()
        outcome = self.outcome()
        return ActionResult(outcome=outcome, message="" if outcome is Outcome.DONE else f"{unit} did not")

    async def start(self, unit: str, *, timeout: float) -> ActionResult:  # noqa: ASYNC109  # as the protocol
        del timeout
        self.started.append(unit)
        self.when_started()
        return ActionResult(outcome=self.check)


class World:
    """A host with its folders, and what the daemon reported and requested."""

    def __init__(self, folder: Path) -> None:
        self.manifests = folder / "manifests"
        self.srv = folder / "srv"
        self.state = folder / "state.db"
        self.units = FakeUnits()
        self.events: list[tuple[str, str]] = []
        self.messages: list[str] = []
        """What the events said."""
        self.steps: list[Step] = []
        self.keep_state = False
        self.bound: tuple[BoundFolder, ...] = ()
        self.offers: Offers | None = None
        self.outputs = folder / "outputs"
        self.manifests.mkdir(mode=0o755)
        self.srv.mkdir(mode=0o755)
        self.home: HostHome
        self.engine: RunningEngine

    @asynccontextmanager
    async def running(
        self, *, once: bool = False, dry: bool = False, in_container: bool = False
    ) -> AsyncGenerator["World", None]:
        """One run of the daemon."""
        registry, clock, seen = Registry(), Clock(), Recorder()
        chosen = HostSettings(
            manifests=[str(self.manifests), *(each.path for each in self.bound)],
            bound=self.bound,
            state_file=str(self.state) if self.keep_state else None,
            output=OutputSettings(fsync=False),
            debounce=0.0,
            dry=dry,
        )
        home = HostHome(
            chosen,
            catalog=registry,
            admission=admission_by(registry),
            now=clock.now,
            on_problems=lambda problems: None,
        )
        async with home as self.home:
            host = OnHost(
                key=home.digest_key,
                fsync=False,
                bound=self.bound,
                once=once,
                dry=dry,
                in_container=in_container,
                took_step=self.steps.append,
                offers=self.offers,
                outputs=str(self.outputs),
            )
            hooks = EngineOverrides(
                observer=seen,
                events=self,
                deliveries=lambda context: DeliveryReconciler(context, host, self.units),
            )
            async with run_engine(
                home, registry=registry, settings=settings(), clock=clock, hooks=hooks
            ) as self.engine:
                await self.settle()
                yield self
        assert not seen.bugs

    def event(self, ref: ObjectRef, *, warning: bool, reason: str, message: str) -> None:
        del warning
        if ref.kind == DELIVERY.kind:
            self.messages.append(message)
            self.events.append((ref.name, reason))

    def write(self, *documents: Document) -> None:
        """Put manifests into the folder, as the administrator would."""
        for document in documents:
            path = self.manifests / f"{document['kind']}-{document['metadata']['name']}.json"
            path.write_text(json.dumps(document))
            path.chmod(0o644)

    async def apply(self, *documents: Document) -> None:
        """The same, and let the daemon deal with it."""
        self.write(*documents)
        await self.home.look()
        await self.settle()

    async def settle(self) -> None:
        await self.engine.engine.wait_idle()

    async def look_again(self, ref: ObjectRef = NAME) -> None:
        """What the next rescan would do."""
        self.engine.engine.refresh(ref, asked=False)
        await self.settle()

    async def refresh(self, ref: ObjectRef = NAME) -> None:
        """As `syncret refresh` does."""
        self.engine.context.memory.request_refresh(ref)
        await self.look_again(ref)

    def status(self, ref: ObjectRef = NAME) -> Document:
        stored = self.engine.inventory.get(ref)
        return {} if stored is None else member(stored.document, "status")

    def took(self) -> list[tuple[str, ...]]:
        """The steps that were reported since the last call: their names, results and actions."""
        steps = [(each.name, *filter(None, (each.result, each.action))) for each in self.steps]
        self.steps.clear()
        return steps

    def ready(self, ref: ObjectRef = NAME) -> tuple[str, str]:
        """Status and reason of the condition."""
        (condition,) = self.status(ref)["conditions"]
        return condition["status"], condition["reason"]

    def message(self, ref: ObjectRef = NAME) -> str:
        (condition,) = self.status(ref)["conditions"]
        message: str = condition["message"]
        return message

    def files(self, folder: str = "tls") -> dict[str, str]:
        """What a program reads."""
        path = self.srv / folder
        return {each.name: each.read_text() for each in sorted(path.iterdir())} if path.exists() else {}
