"""A secret manager in memory that can be slow, hang, refuse and count; and short names for objects."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from syncret.config.catalog import SpecType
from syncret.config.fields import Json, Model, SecretKeySelector
from syncret.config.meta import Document, ObjectRef, ref_of
from syncret.config.settings import Settings
from syncret.daemon.engine.observer import Call, NullObserver, Repeat, Run
from syncret.daemon.engine.reconciler import Failure
from syncret.daemon.homes.contract import StoredObject
from syncret.providers.contract import OpenContext, Paced, Provider, Readiness, whole_key
from syncret.providers.errors import Denied, SyncError
from syncret.providers.kit.auth.logins import ExpiringLogin, ExpiringValue
from syncret.providers.kit.http import Unauthenticated
from syncret.providers.pushes import PushItem, RemoteTarget
from syncret.providers.registry import Registry
from syncret.providers.values import FindQuery, RemoteKey, RemoteRef, SecretBytes, SecretMap
from syncret.providers.work import Work

NOWHERE: Final = "nowhere"
"""A path that the manager does not have."""

START: Final = 1_767_225_600.0
"""2026-01-01, at midnight."""

GROUP: Final = "external-secrets.io"


class ManagerSpec(Model):
    """The spec of the test's provider."""

    token: SecretKeySelector | None = None


class Manager:
    """A secret manager. `delay` is how long a call takes, `gate` holds calls back while it is clear.

    A search takes `pages` calls. If it `wants_login`, calls need the token of a login; `logins` are the times
    of these. Each call computes so many steps and bytes (`costs`), and each login (`login_costs`).
    """

    def __init__(self, values: Mapping[str, str] | None = None) -> None:
        self.values: dict[str, str] = dict(values or {})
        self.delay = 0.0
        self.open_delay = 0.0
        self.gate = asyncio.Event()
        self.gate.set()
        self.errors: list[Exception] = []
        self.open_errors: list[Exception] = []
        self.key_errors: dict[str, SyncError] = {}
        self.fetches: list[tuple[str, ...]] = []
        self.finds = 0
        self.pages = 1
        self.opened: list[OpenContext] = []
        self.tokens: list[bytes] = []
        self.closed = 0
        self.busy = 0
        self.most_busy = 0
        self.wants_login = False
        self.refuses_logins = False
        self.logins: list[float] = []
        self.costs: tuple[int, int] = (0, 0)
        self.login_costs: tuple[int, int] = (0, 0)
        self.entry_of: Callable[[str], str] = whole_key
        self._valid = ""

    @asynccontextmanager
    async def open(self, spec: ManagerSpec, context: OpenContext) -> AsyncGenerator["ManagerClient", None]:
        await asyncio.sleep(self.open_delay)
        if self.open_errors:
            raise self.open_errors.pop(0)
        if spec.token is not None:
            name, key, namespace = spec.token.name, spec.token.key, spec.token.namespace
            token = await context.credentials.secret_key(name, key, namespace)
            self.tokens.append(token.raw)
        login = None
        if self.wants_login:
            login = ExpiringLogin(partial(self._log_in, context), now=context.now, log_in=context.log_in)
            await login.get()
        self.opened.append(context)
        client = ManagerClient(self, context, login)
        try:
            yield client
        finally:
            client.alive = False
            self.closed += 1

    def revoke(self) -> None:
        """Make every token invalid."""
        self._valid = ""

    async def _log_in(self, context: OpenContext) -> ExpiringValue[str]:
        self.logins.append(asyncio.get_running_loop().time())
        await asyncio.sleep(0)
        if any(self.login_costs):
            await context.compute(lambda work: work.take(*self.login_costs))
        if self.refuses_logins:
            raise Denied("the login is refused")
        self._valid = f"token-{len(self.logins)}"
        return ExpiringValue(self._valid)

    async def call(self, token: str = "") -> None:
        self.busy += 1
        self.most_busy = max(self.busy, self.most_busy)
        try:
            await self.gate.wait()
            await asyncio.sleep(self.delay)
        finally:
            self.busy -= 1
        if token != self._valid:
            raise Unauthenticated("the token is not valid")
        if self.errors:
            raise self.errors.pop(0)

    def provider(self, *, batch_size: int = 1) -> Provider[ManagerSpec]:
        def opening(spec: ManagerSpec, context: OpenContext) -> AbstractAsyncContextManager[object]:
            return self.open(spec, context)

        named = SpecType("manager", ManagerSpec)
        return Provider(named, opening, batch_size=batch_size, entry_of=self.entry_of)


class ManagerClient:
    """Reads, finds, writes and probes."""

    converts_keys = True

    def __init__(
        self, manager: Manager, context: OpenContext, login: ExpiringLogin[str] | None = None
    ) -> None:
        self._manager = manager
        self._compute = context.compute
        self._login = login
        self.alive = True

    async def _call(self) -> None:
        if any(self._manager.costs):
            await self._compute(lambda work: work.take(*self._manager.costs))
        if self._login is None:
            await self._manager.call()
        else:
            await self._login.use(self._manager.call)

    async def fetch(self, keys: Sequence[RemoteKey]) -> Mapping[RemoteKey, object | SyncError]:
        assert self.alive
        self._manager.fetches.append(tuple(key.key for key in keys))
        await self._call()
        assert self.alive
        found: dict[RemoteKey, object | SyncError] = {}
        for key in keys:
            if key.key in self._manager.key_errors:
                found[key] = self._manager.key_errors[key.key]
            elif key.key in self._manager.values:
                found[key] = self._manager.values[key.key]
        return found

    def value(self, payload: Json, ref: RemoteRef, work: Work) -> SecretBytes | None:
        if ref.property:
            value = json.loads(payload).get(ref.property)
            return None if value is None else SecretBytes(value.encode())
        return SecretBytes(str(payload).encode())

    def fields(self, payload: Json, ref: RemoteRef, work: Work) -> SecretMap | None:
        return {key: SecretBytes(value.encode()) for key, value in json.loads(payload).items()}

    async def find(self, query: FindQuery, paced: Paced, work: Work) -> SecretMap | None:
        self._manager.finds += 1
        for _ in range(self._manager.pages):
            await paced(self._call)
        if query.path == NOWHERE:
            return None
        return {key: SecretBytes(value.encode()) for key, value in self._manager.values.items()}

    async def push(self, item: PushItem) -> None:
        before = self._manager.values.get(item.remote_key, "")
        await self._call()
        self._manager.values[item.remote_key] = before + item.value.raw.decode()

    async def delete(self, target: RemoteTarget) -> None:
        await self._call()
        self._manager.values.pop(target.remote_key, None)

    async def exists(self, target: RemoteTarget) -> bool:
        await self._call()
        return target.remote_key in self._manager.values

    async def probe(self) -> Readiness:
        await self._call()
        return "ready"


@dataclass
class Recorder(NullObserver):
    """Remembers what it was told."""

    runs: list[Run] = field(default_factory=list[Run])
    calls: list[Call] = field(default_factory=list[Call])
    bugs: list[tuple[ObjectRef, str, tuple[str, ...]]] = field(
        default_factory=list[tuple[ObjectRef, str, tuple[str, ...]]]
    )
    raised: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    left: list[ObjectRef] = field(default_factory=list[ObjectRef])
    repeated: list[str] = field(default_factory=list[str])
    joined: int = 0
    opens: list[SyncError | None] = field(default_factory=list[SyncError | None])
    closes: list[str] = field(default_factory=list[str])
    retries: int = 0

    def ran(self, run: Run) -> None:
        self.runs.append(run)

    def repeats(self, repeat: Repeat) -> None:
        self.repeated.append(repeat.ref.name)

    def bug(self, ref: ObjectRef, error: str, where: tuple[str, ...]) -> None:
        self.bugs.append((ref, error, where))

    def failed(self, ref: ObjectRef, failure: Failure) -> None:
        self.raised.append((ref.name, str(failure)))

    def removed(self, ref: ObjectRef) -> None:
        self.left.append(ref)

    def called(self, call: Call) -> None:
        self.calls.append(call)

    def shared(self, store: ObjectRef, keys: int) -> None:
        self.joined += keys

    def opened(self, store: ObjectRef, failure: SyncError | None) -> None:
        self.opens.append(failure)

    def closed(self, store: ObjectRef, error: str) -> None:
        self.closes.append(error)

    def retried(self, store: ObjectRef, retry: object) -> None:
        self.retries += 1


class OneProvider(Registry):
    """A registry that knows one provider."""

    def __init__(self, provider: Provider[Any]) -> None:
        super().__init__(stores={provider.name: "tests:none"}, generators={}, entry_points=lambda _: ())
        self._one = provider

    def provider(self, name: str) -> Provider[Any]:
        return self._one if name == self._one.name else super().provider(name)


def settings(**changes: Json) -> Settings:
    """Nothing random, no window and no limit, unless the test asks for them."""
    calm: dict[str, Any] = {
        "spread": False,
        "batch_window": 0.0,
        "requests_per_second": 1e9,
        "call_attempts": 1,
        "workers": 512,
        "store_workers": 128,
    }
    return Settings(**{**calm, **changes})


def manifest(
    kind: str, name: str, *, namespace: str = "default", group: str = GROUP, **rest: Json
) -> Document:
    """A document of our kinds (or, with group "", of core)."""
    metadata = {"name": name, **({"namespace": namespace} if namespace else {}), **rest.pop("metadata", {})}
    return {"apiVersion": f"{group}/v1" if group else "v1", "kind": kind, "metadata": metadata, **rest}


def stored(document: Document, *, version: str = "1", generation: int = 1, uid: str = "u") -> StoredObject:
    """The document as a home would hold it."""
    metadata = {**document["metadata"], "generation": generation, "uid": uid, "resourceVersion": version}
    data = json.dumps({**document, "metadata": metadata}).encode()
    return StoredObject(
        ref=ref_of(document), uid=uid, resource_version=version, generation=generation, data=data
    )


def store(
    name: str = "s", *, spec: Document | None = None, namespace: str = "default", **more: Json
) -> StoredObject:
    """A store of the test's provider."""
    kind = "SecretStore" if namespace else "ClusterSecretStore"
    provider = {"provider": {"manager": spec or {}}, **more.pop("beside", {})}
    return stored(
        manifest(kind, name, namespace=namespace, spec=provider, metadata=more.pop("metadata", {})), **more
    )


def ref(name: str, *, kind: str = "ExternalSecret", namespace: str = "default") -> ObjectRef:
    return ObjectRef(GROUP, kind, namespace, name)
