"""Runs one scenario step by step: the real engine on virtual time, with a cluster in memory."""

import asyncio
from base64 import b64encode
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

from syncret.config.errors import Problem
from syncret.config.meta import Document, ObjectRef, member
from syncret.config.settings import Settings
from syncret.daemon.app import EngineOverrides, RunningEngine, run_engine
from syncret.daemon.core.conditions import seconds, stamp
from syncret.daemon.core.plan.actions import Action, output_change
from syncret.daemon.engine.clock import Clock
from syncret.daemon.engine.observer import Call, NullObserver, Operation
from syncret.daemon.engine.virtual_time import VirtualTimeLoop
from syncret.daemon.homes.contract import Home, HomeError, Invalid
from syncret.daemon.homes.memory.cluster import MemoryCluster
from syncret.daemon.homes.memory.metadata import counted_uids
from syncret.daemon.homes.memory.plugins import admission_by
from syncret.daemon.simulate.scenario import API_VERSION, Fault, Scenario, Step, store_ref
from syncret.daemon.simulate.secret_apis import SimulatedSecretApis
from syncret.providers.contract import Provider
from syncret.providers.fake.manager import Seed
from syncret.providers.fake.simulation import simulated
from syncret.providers.pushes import PushItem, RemoteTarget
from syncret.providers.registry import Registry

HIDDEN_METADATA: Final = ("managedFields",)
"""Metadata that `kubectl get` hides by default."""

READS: Final[tuple[Operation, ...]] = ("read", "find")


def run_scenario(
    scenario: Scenario,
    registry: Registry,
    *,
    now: float,
    home_of: Callable[[MemoryCluster], Home] = lambda cluster: cluster,
) -> Document:
    """Run a scenario and return its result. `now` is the initial time, unless the scenario sets one.

    `home_of`: what the engine has for a home; the scenario's commands are carried out on the cluster itself.
    """
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        return runner.run(_run(scenario, registry, now, home_of))


async def _run(
    scenario: Scenario, registry: Registry, now: float, home_of: Callable[[MemoryCluster], Home]
) -> Document:
    start = seconds(scenario.spec.now) if scenario.spec.now else now
    clock = Clock(start)
    cluster = MemoryCluster(now=clock.now, new_uid=counted_uids(), admission=admission_by(registry))
    recorder = StepRecorder()
    settings = Settings(
        spread=False,
        batch_window=0.0,
        requests_per_second=1e6,
        burst=1_000_000,
        allow_generic_targets="unsafe-allow-generic-targets" in scenario.spec.flags,
    )
    stand_ins = {
        store_ref(name): [Seed(e.key, e.value, e.version) for e in entries]
        for name, entries in scenario.spec.providers.items()
    }

    def substitute(store: ObjectRef, provider: Provider[Any]) -> Provider[Any]:
        return simulated(provider, stand_ins.get(store))

    secret_apis = SimulatedSecretApis(scenario.spec.secret_apis, recorder.secret_called, registry.secret_apis)
    hooks = EngineOverrides(
        observer=recorder,
        applied=recorder.applied,
        faults=recorder.fault,
        substitute=substitute,
        secret_apis=lambda _: secret_apis,
    )
    async with run_engine(
        home_of(cluster), registry=registry, settings=settings, clock=clock, hooks=hooks
    ) as running:
        simulation = _Simulation(cluster, recorder, clock, running)
        steps = [await simulation.step(step) for step in scenario.spec.steps]
    return {
        "apiVersion": API_VERSION,
        "kind": "SimulationResult",
        "metadata": {"name": scenario.metadata.name},
        "steps": steps,
    }


class StepRecorder(NullObserver):
    """Records the provider calls and the written outputs of one step, and injects its faults."""

    def __init__(self) -> None:
        self._faults: tuple[Fault, ...] = ()
        self.begin_step(())

    def begin_step(self, faults: Sequence[Fault]) -> None:
        """Reset the records for a new step with these faults."""
        self._faults = tuple(faults)
        self.reads = 0
        self.writes: list[Document] = []
        self.deletes: list[Document] = []
        self.changes: list[Document] = []

    def applied(self, run: ObjectRef, action: Action) -> None:
        """Record a write to an output."""
        del run
        change = output_change(action)
        if change is not None:
            _, kind, namespace, name = change.ref
            named = {"apiVersion": change.api_version, "kind": kind, "namespace": namespace, "name": name}
            self.changes.append({"action": str(change.verb), **named})

    def fault(self, operation: Operation, store: ObjectRef) -> str | None:
        """The error text of a call of that kind, if it fails now."""
        kind = "read" if operation in (*READS, "exists") else operation
        for fault in self._faults:
            if fault.operation == kind and (not fault.store or store_ref(fault.store) == store):
                return fault.error
        return None

    def secret_called(self) -> None:
        """Record a call of a resource's secret API."""
        self.reads += 1

    def called(self, call: Call) -> None:
        if call.operation in READS:
            self.reads += 1
        if call.failure is not None:
            return
        named = {"store": f"{call.store.kind}/{call.store.name}", "namespace": call.namespace}
        match call.item:
            case PushItem() as item:
                place = {"remoteKey": item.remote_key, "property": item.property}
                value = {"valueBase64": b64encode(item.value.raw).decode(), "metadata": item.metadata}
                self.writes.append(named | place | value)
            case RemoteTarget(remote_key, prop) if call.operation == "delete":
                self.deletes.append(named | {"remoteKey": remote_key, "property": prop})
            case _:
                pass


class _Simulation:
    """One simulated cluster and the records of its current step."""

    def __init__(
        self,
        cluster: MemoryCluster,
        recorder: StepRecorder,
        clock: Clock,
        running: RunningEngine,
    ) -> None:
        self._cluster = cluster
        self._recorder = recorder
        self._clock = clock
        self._running = running
        self._rejected: list[Document] = []

    async def step(self, step: Step) -> Document:
        """Make the changes of a step, run until idle, advance the clock, and report."""
        self._recorder.begin_step(step.faults)
        self._rejected = []
        for item in step.apply:
            await self._command(item, lambda item=item: self._cluster.apply(item))  # type: ignore[misc]  # a lambda with a default
        for patch in step.patch:
            named = {
                "apiVersion": patch.api_version,
                "kind": patch.kind,
                "metadata": {"name": patch.name, "namespace": patch.namespace},
            }
            await self._command(named, lambda patch=patch: self._cluster.patch(patch.ref, patch.merge))  # type: ignore[misc]  # as above
        for gone in step.delete:
            named = {
                "apiVersion": gone.api_version,
                "kind": gone.kind,
                "metadata": {"name": gone.name, "namespace": gone.namespace},
            }
            await self._command(named, lambda gone=gone: self._cluster.remove(gone.ref))  # type: ignore[misc]  # as above
        if not (step.apply or step.patch or step.delete):
            self._running.engine.requeue_all()
        await self._running.engine.wait_idle()
        if step.seconds:
            await asyncio.sleep(step.seconds)
            await self._running.engine.wait_idle()
        return {
            "now": stamp(self._clock.now()),
            "objects": await self._objects(),
            "changes": self._recorder.changes,
            "writes": self._recorder.writes,
            "deletes": self._recorder.deletes,
            "reads": self._recorder.reads,
            "rejected": self._rejected,
        }

    async def _command(self, document: Document, act: Callable[[], Awaitable[object]]) -> None:
        """Make one change; one that is refused changes nothing and is recorded."""
        try:
            await act()
        except HomeError as error:
            problems = (
                error.problems
                if isinstance(error, Invalid) and error.problems
                else (Problem(path="", message=str(error)),)
            )
            self._rejected.append(
                {"object": _names(document), "problems": [problem.as_document() for problem in problems]}
            )

    async def _objects(self) -> list[Document]:
        """All objects, by kind, namespace and name."""
        shown: list[Document] = []
        for kind in sorted(self._cluster.kinds()):
            for stored in await self._cluster.list(kind):
                document = stored.document
                for field in HIDDEN_METADATA:
                    document["metadata"].pop(field, None)
                shown.append(document)
        return shown


def _names(document: Document) -> Document:
    metadata = member(document, "metadata")
    return {
        "apiVersion": document.get("apiVersion", ""),
        "kind": document.get("kind", ""),
        "namespace": metadata.get("namespace") or "",
        "name": metadata.get("name", ""),
    }
