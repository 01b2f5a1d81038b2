"""What a provider offers the engine: small protocols, implemented as far as the vendor's API reaches.

A capability is what a client implements (`isinstance(client, Writer)`), never what it declares.
Input and output are split on purpose: `fetch` does the I/O by exact key, so that calls can be shared and
batched; `value` and `fields` are pure and cost no call, whatever the properties asked.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, NamedTuple, Protocol, TypeAlias, TypeVar, runtime_checkable

from syncret.config.catalog import Scope, SpecType
from syncret.config.fields import Json, Model
from syncret.config.meta import Document, ObjectRef
from syncret.providers.errors import SyncError

M = TypeVar("M", bound=Model)


@dataclass(frozen=True, slots=True)
class SecretBytes:
    """A secret value. It cannot be printed by accident; `raw` is the deliberate way to it."""

    raw: bytes = field(repr=False)

    def __str__(self) -> str:
        return "<secret>"

    def __len__(self) -> int:
        return len(self.raw)


SecretMap: TypeAlias = Mapping[str, SecretBytes]


class RemoteKey(NamedTuple):
    """What is fetched: one entry of a secret manager in one version. Equal keys share one call.

    `property` is empty unless the request itself depends on it: a provider of that kind is `Keyed`.
    """

    key: str
    version: str = ""
    metadata: bool = False
    property: str = ""


class RemoteRef(NamedTuple):
    """What is asked: a value, or one property of it."""

    key: str
    property: str = ""
    version: str = ""
    metadata: bool = False

    def remote_key(self) -> RemoteKey:
        """What must be fetched for it."""
        return RemoteKey(self.key, self.version, self.metadata)


class FindQuery(NamedTuple):
    """Which entries are looked for: by name (a regular expression), under a path, by tags."""

    name: str | None = None
    path: str | None = None
    tags: tuple[tuple[str, str], ...] | None = None
    conversion: Literal["Default", "Unicode"] = "Default"


@dataclass(frozen=True, slots=True)
class PushItem:
    """One value on its way to a secret manager.

    `value` is what to store: one key's bytes, or the whole Secret as a JSON object of strings. `source` is
    the Secret it comes from (its type and labels too), for providers that store more than a value.
    """

    remote_key: str
    property: str
    value: SecretBytes
    metadata: Any = None
    secret_key: str = ""
    source: Document = field(default_factory=dict[str, Any], repr=False)


class RemoteTarget(NamedTuple):
    """What is deleted or looked for: a remote key, or one property of it."""

    remote_key: str
    property: str = ""


@runtime_checkable
class Reader(Protocol):
    """Reads entries by exact key."""

    async def fetch(self, keys: Sequence[RemoteKey]) -> Mapping[RemoteKey, object | SyncError]:
        """Payloads by key. A key that does not exist is absent; one that failed alone carries its error.

        Raises only when the whole call failed. At most `batch_size` keys are asked for at once.
        """
        ...

    def value(self, payload: Json, ref: RemoteRef) -> SecretBytes | None:
        """The value, or the property of it; None where the vendor counts that as not existing."""
        ...

    def fields(self, payload: Json, ref: RemoteRef) -> SecretMap | None:
        """The value as a map of keys, as `dataFrom.extract` takes it."""
        ...


@runtime_checkable
class Keyed(Protocol):
    """A Reader whose calls depend on more than key and version: refs that get equal keys share one call."""

    def remote_key(self, ref: RemoteRef) -> RemoteKey:
        """What must be fetched for a ref. Pure."""
        ...


@runtime_checkable
class Finder(Protocol):
    """Finds entries by name, path or tags."""

    converts_keys: bool
    """Whether found keys must pass key conversion before any rewrite."""

    async def find(self, query: FindQuery) -> SecretMap | None:
        """All entries that match, by key; None where the vendor says that the path itself does not exist."""
        ...


@runtime_checkable
class Writer(Protocol):
    """Writes, deletes and looks for entries."""

    async def push(self, item: PushItem) -> None:
        """Store the value; no write where it already stands there."""
        ...

    async def delete(self, target: RemoteTarget) -> None:
        """Remove the entry or the property; an absent one is no error."""
        ...

    async def exists(self, target: RemoteTarget) -> bool:
        """Whether the entry (or its property) is there."""
        ...


Readiness: TypeAlias = Literal["ready", "unknown"]


@runtime_checkable
class Prober(Protocol):
    """Judges whether the store can be used. Raises SyncError where it cannot."""

    async def probe(self) -> Readiness:
        """`unknown` means usable as far as can be told."""
        ...


Client: TypeAlias = object
"""Whatever a provider opens: some of the protocols above."""


class WholeSecret(NamedTuple):
    """A Secret with its labels, for providers that judge or pass on more than one key."""

    labels: Mapping[str, str]
    data: SecretMap


class IssuedToken(NamedTuple):
    """A token of a ServiceAccount, and when it ends, in seconds since the epoch."""

    token: SecretBytes
    expires: float


class Credentials(Protocol):
    """Reads what a spec refers to: Secrets and ConfigMaps, ServiceAccounts and their tokens.

    A selector's namespace counts only for cluster-scoped stores; otherwise it is the store's own.
    Raises Denied or Malformed with the name of what is missing, never with a value.
    """

    async def secret_key(self, name: str, key: str, namespace: str | None = None) -> SecretBytes:
        """One key of one Secret (or of a systemd credential, on a host)."""
        ...

    async def config_map_key(self, name: str, key: str, namespace: str | None = None) -> str:
        """One key of one ConfigMap."""
        ...

    async def secret(self, name: str, namespace: str | None = None) -> WholeSecret:
        """A whole Secret."""
        ...

    async def account_token(
        self, name: str, *, audiences: Sequence[str] = (), seconds: int = 600, namespace: str | None = None
    ) -> IssuedToken:
        """A new token of a ServiceAccount, for these audiences (none: the API server's own).

        Raises Malformed in a home that has no API server to issue one.
        """
        ...

    async def account_annotations(self, name: str, namespace: str | None = None) -> Mapping[str, str]:
        """The annotations of a ServiceAccount, where clouds write which role it has."""
        ...


class Render(Protocol):
    """Renders templates of requests."""

    def __call__(self, template: str, data: Mapping[str, Mapping[str, str]]) -> str:
        """The text, with all functions that templates of outputs have; a missing key prints `<no value>`.

        Raises Malformed, which quotes neither the template nor a value.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenContext:
    """What a client may use. Nothing of it is global, and nothing outlives the client but `keep`."""

    store: ObjectRef
    scope: Scope
    credentials: Credentials
    now: Callable[[], float]
    """The wall clock, in seconds since the epoch."""
    render: Render
    store_memory: dict[str, Any]
    """Memory of this store that outlives the client, for as long as the process lives."""


def not_by_namespace(_spec: object) -> bool:
    """The usual `by_namespace`: requests do not depend on the namespace they are made for."""
    return False


@dataclass(frozen=True, slots=True)
class Provider(Generic[M]):
    """One way to reach a secret manager: its name, its spec, and how to open a client for it.

    `open` is None where only the spec is known: such stores are validated and can be simulated, not reached.
    """

    spec: SpecType[M]
    open: Callable[[M, OpenContext], AbstractAsyncContextManager[Client]] | None = None
    batch_size: int = 1
    by_namespace: Callable[[M], bool] = not_by_namespace
    """Whether requests depend on the namespace they are made for, so that each needs a client of its own."""

    @property
    def name(self) -> str:
        return self.spec.name


@dataclass(frozen=True, slots=True)
class Generated:
    """What a generator made, and what it needs to clean up after itself (None: nothing).

    The state is stored and shown: it names what was made (an ID, an accessor), and holds no secret value.
    """

    values: SecretMap
    state: Document | None = None


@dataclass(frozen=True, slots=True)
class Generator(Generic[M]):
    """One generator kind: its spec, how it makes values, and how it removes what it made elsewhere.

    `generate` is None where only the spec is known. `cleanup` is given the state of a `Generated`, maybe from
    an earlier run of the daemon, and is called until it succeeds: what is gone already is no error.
    `local` says that values are made in the process: no server is called, so nothing is paced or counted.
    """

    spec: SpecType[M]
    generate: Callable[[M, OpenContext], Awaitable[Generated]] | None = None
    cleanup: Callable[[M, Document, OpenContext], Awaitable[None]] | None = None
    local: bool = False

    @property
    def kind(self) -> str:
        return self.spec.name
