"""A simulated cluster with all reconcilers at work, and short ways to act on it and to look at it."""

import asyncio
from base64 import b64decode
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from random import Random
from typing import Any, TypeVar, cast

from syncret.config.fields import Json
from syncret.config.meta import Document, ObjectRef, member
from syncret.daemon.app import EngineOverrides, RunningEngine, run_engine
from syncret.daemon.core.plan.actions import Action, OutputChange, output_change
from syncret.daemon.engine.clock import Clock
from syncret.daemon.engine.held_writes import HeldRecord
from syncret.daemon.engine.observer import Operation
from syncret.daemon.homes.contract import (
    Home,
    HomeError,
    NotDurable,
    StorageUnavailable,
    StoredObject,
)
from syncret.daemon.homes.memory.cluster import MemoryCluster
from syncret.daemon.homes.memory.lagging import Lag, LaggingHome
from syncret.daemon.homes.memory.plugins import admission_by
from syncret.daemon.ops.control import explanation
from syncret.daemon.ops.metrics import Metrics
from syncret.daemon.ops.view import View
from syncret.daemon.supervisor import sources_of
from syncret.providers import builtin
from syncret.providers.contract import Generator, Provider
from syncret.providers.registry import Registry
from tests.unit.daemon.engine.support import GROUP, Manager, Recorder, ref, settings

HOUR = 3600.0
SECRET = "Secret"

Made = TypeVar("Made", StoredObject, StoredObject | None)


class WithManager(Registry):
    """Everything that is built in, and the manager and the generators of the test."""

    def __init__(self, provider: Provider[Any], generators: Iterable[Generator[Any]] = ()) -> None:
        self._own = {generator.kind: generator for generator in generators}
        super().__init__(
            stores={**builtin.STORES, provider.name: "tests:none"},
            generators={**builtin.GENERATORS, **dict.fromkeys(self._own, "tests:none")},
            entry_points=lambda _: (),
        )
        self._one = provider

    def provider(self, name: str) -> Provider[Any]:
        return self._one if name == self._one.name else super().provider(name)

    def generator_type(self, kind: str) -> Generator[Any]:
        return self._own.get(kind) or super().generator_type(kind)


class Troubled:
    """A home whose writes of a kind can be made to fail: each error once.

    While it is `full`, writes are made and cannot be kept, as on a host whose state file cannot be written.
    """

    def __init__(self, home: Home) -> None:
        self._home = home
        self.written: list[OutputChange] = []
        self.troubles: dict[str, list[HomeError]] = {}
        self.marks = True
        self.full = False
        self._owes = False

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  # whatever else a home has
        return getattr(self._home, name)

    def _trouble(self, kind: str) -> None:
        if self.troubles.get(kind):
            raise self.troubles[kind].pop(0)

    def _kept(self, made: Made) -> Made:
        self._owes = self.full
        if self.full:
            raise NotDurable("no space is left", made, hint="free some space")
        return made

    async def check_durable(self) -> None:
        self._owes = self._owes and self.full
        if self._owes:
            raise StorageUnavailable("no space is left", hint="free some space")

    async def create(self, document: Document, *, field_manager: str = "") -> StoredObject:
        self._trouble(document["kind"])
        return self._kept(await self._home.create(document, field_manager=field_manager))

    async def update(self, document: Document, *, field_manager: str = "") -> StoredObject:
        self._trouble(document["kind"])
        return self._kept(await self._home.update(document, field_manager=field_manager))

    async def delete(self, seen: StoredObject) -> StoredObject | None:
        self._trouble(seen.ref.kind)
        return self._kept(await self._home.delete(seen))

    async def set_finalizers(self, seen: StoredObject, finalizers: Sequence[str]) -> StoredObject:
        return self._kept(await self._home.set_finalizers(seen, finalizers))

    async def update_status(self, seen: StoredObject, status: Mapping[str, Any]) -> StoredObject | None:
        return self._kept(await self._home.update_status(seen, status))

    def may_mark(self, ref: ObjectRef) -> bool:
        return self.marks and self._home.may_mark(ref)

    def applied(self, run: ObjectRef, action: Action) -> None:
        """Keep what was written, as `simulate` shows it."""
        change = output_change(action)
        if change is not None:
            self.written.append(change)


class Life:
    """The cluster, its secret manager, and what was told. With `lag` the daemon's home lags behind it."""

    usual_lag: Lag | None = None
    """For the tests that do not say."""

    def __init__(
        self,
        clock: Clock,
        *,
        admitting: bool = True,
        generators: Iterable[Generator[Any]] = (),
        lag: Lag | None = None,
        seed: int = 1,
    ) -> None:
        self.clock = clock
        self.manager = Manager({"k": "v"})
        self.registry = WithManager(self.manager.provider(), generators)
        self.cluster = (
            MemoryCluster(now=clock.now, admission=admission_by(self.registry))
            if admitting
            else MemoryCluster(now=clock.now)
        )
        lag = lag or self.usual_lag
        chance = Random(seed)  # noqa: S311  # a test
        self.home: Home = self.cluster if lag is None else LaggingHome(self.cluster, lag=lag, chance=chance)
        self.target = Troubled(self.home)
        self.seen = Recorder()
        self.faults: dict[Operation, str] = {}
        self.held: HeldRecord | None = None
        self.events: list[tuple[str, bool, str, str]] = []

    @asynccontextmanager
    async def running(self, *, marks: bool = True, **changes: Json) -> AsyncGenerator["Life", None]:
        """The controllers at work, until the block is left: one life of a daemon."""
        self.target.marks = marks
        hooks = EngineOverrides(
            applied=self.target.applied,
            observer=self.seen,
            events=self,
            faults=self._fault,
            held=self.held,
        )
        home = cast("Home", self.target)
        async with run_engine(
            home, registry=self.registry, settings=settings(**changes), clock=self.clock, hooks=hooks
        ) as self.controllers:
            await self.settle()
            yield self

    controllers: RunningEngine

    @asynccontextmanager
    async def observing(self, held: HeldRecord) -> AsyncGenerator["Life", None]:
        """As `running`, of a daemon that writes nothing while `held` is on."""
        self.held = held
        try:
            async with self.running():
                yield self
        finally:
            self.held = None

    def event(self, ref: ObjectRef, *, warning: bool, reason: str, message: str) -> None:
        self.events.append((ref.name, warning, reason, message))

    def _fault(self, operation: Operation, store: ObjectRef) -> str | None:
        return self.faults.get(operation)

    # ------------------------------------------------------------------------------------------------- acts
    async def apply(self, *documents: Document) -> None:
        for document in documents:
            await self.cluster.apply(document)
        await self.settle()

    async def patch(self, ref: ObjectRef, **merge: Json) -> None:
        await self.cluster.patch(ref, merge)
        await self.settle()

    async def delete(self, ref: ObjectRef) -> None:
        await self.cluster.remove(ref)
        await self.settle()

    async def settle(self) -> None:
        await self.controllers.engine.wait_idle()

    async def wait(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
        await self.settle()

    # ------------------------------------------------------------------------------------------------- looks
    async def get(self, ref: ObjectRef) -> Document | None:
        stored = await self.cluster.get(ref)
        return None if stored is None else stored.document

    async def existing(self, ref: ObjectRef) -> Document:
        document = await self.get(ref)
        assert document is not None, ref
        return document

    async def data(self, name: str, namespace: str = "default") -> dict[str, str] | None:
        """The values of a Secret; None where there is none."""
        secret = await self.get(secret_ref(name, namespace))
        return None if secret is None else values(secret)

    async def ready(self, ref: ObjectRef) -> tuple[str, str, str]:
        """Status, reason and message of the Ready condition, in the operator's words; empty if there is none.

        The operator's messages of ExternalSecrets and stores have no colon: what follows one is our reason.
        """
        status, reason, message = await self.full_ready(ref)
        own = ref.kind != "PushSecret" or message.startswith("could not get source secret: ")
        return status, reason, message.partition(": ")[0] if own else message

    async def full_ready(self, ref: ObjectRef) -> tuple[str, str, str]:
        """Status, reason and whole message of the Ready condition; empty if there is none."""
        conditions: list[Document] = member(await self.existing(ref), "status").get("conditions", [])
        for condition in conditions:
            if condition["type"] == "Ready":
                return condition["status"], condition.get("reason", ""), condition.get("message", "")
        return "", "", ""

    async def status(self, ref: ObjectRef) -> Document:
        return member(await self.existing(ref), "status")

    async def finalizers(self, ref: ObjectRef) -> Sequence[str]:
        found: list[str] = member(await self.existing(ref), "metadata").get("finalizers", [])
        return found

    def last_error(self, ref: ObjectRef) -> str:
        """The last error of an object, as `syncret explain` tells it; empty where there is none."""
        error = explanation(self.view(), ref.kind, ref.namespace, ref.name).last_error
        return "" if error is None else error.message

    def view(self) -> View:
        """What operators see."""
        metrics = Metrics(self.clock.now)
        metrics.watch(sources_of(self.controllers, settings()))
        return View(
            running=self.controllers,
            metrics=metrics,
            clock=self.clock,
            settings=settings(),
        )

    def runs(self, name: str, kind: str = "ExternalSecret") -> int:
        return sum(run.ref.name == name and run.ref.kind == kind for run in self.seen.runs)

    @property
    def reads(self) -> int:
        return len(self.manager.fetches)

    def calls(self, operation: Operation) -> int:
        return sum(call.operation == operation and call.failure is None for call in self.seen.calls)

    def written(self, kind: str = SECRET) -> list[str]:
        """What controllers did to objects of a kind, in order."""
        return [f"{each.verb} {each.ref.name}" for each in self.target.written if each.ref.kind == kind]

    @property
    def bugs(self) -> list[tuple[ObjectRef, str, tuple[str, ...]]]:
        return self.seen.bugs


def values(secret: Document) -> dict[str, str]:
    return {key: b64decode(value).decode() for key, value in member(secret, "data").items()}


def secret_ref(name: str, namespace: str = "default") -> ObjectRef:
    return ObjectRef("", SECRET, namespace, name)


def manifest(
    kind: str, name: str, spec: Document | None = None, *, namespace: str = "default", **metadata: Json
) -> Document:
    """An object of ours."""
    alpha = kind in {"PushSecret", "ClusterPushSecret"}
    document: Document = {
        "apiVersion": f"{GROUP}/{'v1alpha1' if alpha else 'v1'}",
        "kind": kind,
        "metadata": {"name": name, **({"namespace": namespace} if namespace else {}), **metadata},
    }
    return document if spec is None else document | {"spec": spec}


def store(name: str = "s", *, namespace: str = "default", **spec: Json) -> Document:
    """A store of the test's manager."""
    kind = "SecretStore" if namespace else "ClusterSecretStore"
    return manifest(kind, name, {"provider": {"manager": {}}, **spec}, namespace=namespace)


def fake_store(name: str = "f", data: Mapping[str, str] | None = None, **spec: Json) -> Document:
    """A store of the embedded provider."""
    entries = [{"key": key, "value": value} for key, value in (data or {"k": "v"}).items()]
    return manifest("SecretStore", name, {"provider": {"fake": {"data": entries}}, **spec})


def wanting(name: str = "x", *, key: str = "k", target: Document | None = None, **spec: Json) -> Document:
    """An ExternalSecret that wants one value."""
    labels = spec.pop("metadata", {})
    whole = {
        "secretStoreRef": {"name": "s"},
        "data": [{"secretKey": "a", "remoteRef": {"key": key}}],
        **({"target": target} if target else {}),
        **spec,
    }
    return manifest("ExternalSecret", name, whole, **labels)


def secret(name: str, data: Mapping[str, str], **metadata: Json) -> Document:
    """A plain Secret."""
    return {
        "apiVersion": "v1",
        "kind": SECRET,
        "metadata": {"name": name, "namespace": "default", **metadata},
        "stringData": dict(data),
    }


def namespace(name: str, **labels: str) -> Document:
    """A namespace with the label that each has, and others."""
    own = {"kubernetes.io/metadata.name": name}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": own | labels}}


X = ref("x")
PUSH = ref("p", kind="PushSecret")
STORE = ref("s", kind="SecretStore")
