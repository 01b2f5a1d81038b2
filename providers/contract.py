"""The interface between engine and providers: small protocols, implemented as far as the vendor's API allows.

A capability is what a client implements (`isinstance(client, Writer)`), never what it declares.
`fetch` does the I/O by exact key, so that calls can be shared and batched; `value` and `fields` are pure, may
run in a thread, and pay for what they do from the Work of the object that asks.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from importlib import import_module
from typing import Any, Generic, Literal, NamedTuple, Protocol, TypeAlias, TypeVar, runtime_checkable

from msgspec import Struct

from syncret.config.catalog import Scope, SpecType
from syncret.config.fields import Json, Model
from syncret.config.meta import Document, ObjectRef
from syncret.providers.api_names import ApiNames, our_names
from syncret.providers.errors import SyncError
from syncret.providers.network import Network
from syncret.providers.pushes import PushItem, RemoteTarget
from syncret.providers.values import FindQuery, RemoteKey, RemoteRef, SecretBytes, SecretMap
from syncret.providers.work import Work

__all__ = [
    "Ambient",
    "Client",
    "Compute",
    "Credentials",
    "Finder",
    "Generated",
    "Generator",
    "IssuedToken",
    "Keyed",
    "LogIn",
    "OnFirstUse",
    "OpenContext",
    "OwnIdentity",
    "Paced",
    "Prober",
    "Provider",
    "ReadFile",
    "Reader",
    "Readiness",
    "Receiver",
    "Render",
    "WholeSecret",
    "Writer",
    "no_published_rate",
    "no_receivers",
    "not_by_namespace",
    "whole_key",
    "whole_store",
]

M = TypeVar("M", bound=Model)
T = TypeVar("T")


@runtime_checkable
class Reader(Protocol):
    """Reads entries by exact key."""

    async def fetch(self, keys: Sequence[RemoteKey]) -> Mapping[RemoteKey, object | SyncError]:
        """Payloads by key. A key that does not exist is missing; one that failed alone has its error.

        Raises only if the whole call failed. Gets at most `batch_size` keys.
        """
        ...

    def value(self, payload: Json, ref: RemoteRef, work: Work) -> SecretBytes | None:
        """The value, or a property of it; None if the vendor treats that as not existing."""
        ...

    def fields(self, payload: Json, ref: RemoteRef, work: Work) -> SecretMap | None:
        """The value as a map of keys, for `dataFrom.extract`."""
        ...


@runtime_checkable
class Keyed(Protocol):
    """A Reader whose calls depend on more than key and version: refs that get equal keys share one call."""

    def remote_key(self, ref: RemoteRef) -> RemoteKey:
        """The key to fetch for a ref. Pure."""
        ...


class Paced(Protocol):
    """Sends one request of a search as a call of its own, with its result.

    Like every other call it waits for the token bucket and has a time limit; it is counted, retried if there
    is no answer, and refused while the store is in an outage. `reads`: so many of the found entries are read.
    """

    async def __call__(self, request: Callable[[], Awaitable[T]], /, *, reads: int = 0) -> T: ...


@runtime_checkable
class Finder(Protocol):
    """Finds entries by name, path or tags."""

    converts_keys: bool
    """Whether found keys are converted (`conversionStrategy`) before any rewrite."""

    async def find(self, query: FindQuery, paced: Paced, work: Work) -> SecretMap | None:
        """All entries that match, by key; None if the path itself does not exist.

        The work is that of the search: names are compared on the event loop, page by page.
        """
        ...


@runtime_checkable
class Writer(Protocol):
    """Writes, deletes and looks up entries."""

    async def push(self, item: PushItem) -> None:
        """Store the value; no write if it is already stored."""
        ...

    async def delete(self, target: RemoteTarget) -> None:
        """Delete the entry or the property; a missing one is no error."""
        ...

    async def exists(self, target: RemoteTarget) -> bool:
        """Whether the entry (or its property) exists."""
        ...


Readiness: TypeAlias = Literal["ready", "unknown"]


@runtime_checkable
class Prober(Protocol):
    """Checks whether the store can be used."""

    async def probe(self) -> Readiness:
        """`unknown`: usable as far as can be checked. Raises SyncError if the store cannot be used."""
        ...


Client: TypeAlias = object
"""What a provider opens: it implements some of the protocols above."""


class WholeSecret(NamedTuple):
    """A Secret with its labels, for providers that need more than one key."""

    labels: Mapping[str, str]
    data: SecretMap


class IssuedToken(NamedTuple):
    """A token of a ServiceAccount, and its expiry in seconds since the epoch."""

    token: SecretBytes
    expires: float


class Credentials(Protocol):
    """Reads the objects that a spec refers to: Secrets, ConfigMaps, ServiceAccounts and their tokens.

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
        """The annotations of a ServiceAccount, which name its role at a cloud."""
        ...


class Render(Protocol):
    """Renders templates of requests."""

    def __call__(self, template: str, data: Mapping[str, Mapping[str, str]], work: Work) -> str:
        """The text, with all functions that templates of outputs have; a missing key prints `<no value>`.

        It makes no keys: a request is rendered anew at every read. Raises Malformed, which quotes neither the
        template nor a value, and OverBudget.
        """
        ...


class Compute(Protocol):
    """Runs what a call or a generator computes: at once if that is little, otherwise in a thread."""

    async def __call__(self, function: Callable[[Work], T], /) -> T:
        """The result of a function that pays for what it does, and may be called twice. Raises OverBudget."""
        ...


class ReadFile(Protocol):
    """Reads files that a spec names, within the folders of the setting `manifestFiles`."""

    def __call__(self, path: str, *, what: str) -> SecretBytes:
        """The content without surrounding white space, read anew each time.

        `what` names the content in messages: `subject token`. Raises Malformed, with the path.
        """
        ...


class LogIn(Protocol):
    """Logs in, unless the manager refused the last login only a moment ago."""

    async def __call__(self, login: Callable[[], Awaitable[T]], /) -> T:
        """The result of the login. After a refusal one caller may try again after each delay; delays double.

        Raises what the login raises, or what the last one that was tried was refused with.
        """
        ...


class Receiver(NamedTuple):
    """A server to which a spec would send an identity of the daemon itself, or a proof of it."""

    provider: str
    """Its own servers are known; others are in the setting `ownIdentity.receivers.<provider>`."""
    url: str
    sends: str
    """What it would get, for messages: `a token of the daemon's ServiceAccount`."""
    path: str = ""
    """The field of the spec that decides on the server."""
    server_id: str = ""
    """The server for which the spec wants the proof, if it can name one."""
    exports_of: str | None = None
    """The namespace of the resource whose exports it is for; None: it is for a store or generator."""


class OwnIdentity(Protocol):
    """The right to use identities of the daemon itself, for the receivers that it was granted for."""

    @property
    def environment(self) -> Mapping[str, str]:
        """The environment of the daemon."""
        ...

    @property
    def server_id(self) -> str:
        """The server that a proof is to be made for; empty: none."""
        ...

    def read_file(self, path: str, *, what: str) -> SecretBytes:
        """The content of a file that the environment names, without surrounding white space.

        Raises Malformed, with the path.
        """
        ...

    async def account_token(self) -> SecretBytes:
        """A token of the daemon's own ServiceAccount, for the receiver. Raises SyncError."""
        ...


class Ambient(Protocol):
    """The only way to an identity of the daemon itself: its environment, mounted tokens, metadata servers."""

    def __call__(self, receivers: Iterable[Receiver]) -> OwnIdentity:
        """Nothing is read or requested yet. Raises Denied if one of them may not have it for this store."""
        ...


class OpenContext(Struct, frozen=True, kw_only=True):
    """What a client may use. None of it is global, and only `store_memory` outlives the client."""

    store: ObjectRef
    scope: Scope
    credentials: Credentials
    now: Callable[[], float]
    """The wall clock, in seconds since the epoch."""
    render: Render
    compute: Compute
    """Uses the work budget of the sync that the call is made for; opening a client has its own."""
    read_file: ReadFile
    network: Network
    ambient: Ambient
    log_in: LogIn
    store_memory: dict[str, Any]
    """State of this store that outlives the client, until the daemon's run ends."""


def not_by_namespace(_spec: object) -> bool:
    """The default of `by_namespace`: requests do not depend on the namespace they are made for."""
    return False


def whole_key(remote_key: str) -> str:
    """Each remote key is an entry of its own."""
    return remote_key


def whole_store(_remote_key: str) -> str:
    """All remote keys are parts of one entry."""
    return ""


def no_published_rate(_spec: object) -> float | None:
    """The default of `published_rate`: the vendor publishes none."""
    return None


def no_receivers(_spec: object) -> Iterable[Receiver]:
    """The default of `receivers`: all credentials are named in the spec."""
    return ()


class OnFirstUse(Struct, frozen=True):
    """Opens a client by the function `open_store` of a module that is imported for the first one.

    A spec is then validated without what only calls need: asyncio, TLS, a vendor's library.
    """

    module: str

    @property
    def __wrapped__(self) -> Callable[..., AbstractAsyncContextManager[Client]]:
        """The function itself; this imports its module."""
        function: Callable[..., AbstractAsyncContextManager[Client]] = import_module(self.module).open_store
        return function

    def __call__(self, spec: object, context: OpenContext) -> AbstractAsyncContextManager[Client]:
        return self.__wrapped__(spec, context)


class Provider(Struct, Generic[M], frozen=True):
    """The code for one kind of secret manager: its spec, and how to open a client.

    `open` is None if only the spec is implemented: such stores can be validated and simulated, not reached.
    """

    spec: SpecType[M]
    open: Callable[[M, OpenContext], AbstractAsyncContextManager[Client]] | None = None
    batch_size: int = 1
    entry_of: Callable[[str], str] = whole_key
    """The entry that a push to a remote key changes: those to one entry are made one after another. Pure."""
    by_namespace: Callable[[M], bool] = not_by_namespace
    """Whether requests depend on the namespace they are made for: then each namespace has its own client."""
    receivers: Callable[[M], Iterable[Receiver]] = no_receivers
    """The receivers of an identity of the daemon itself. Pure; `open` asks `ambient` for all of them."""
    published_rate: Callable[[M], float | None] = no_published_rate
    """Calls per second that the vendor allows, if the server of the spec is one with a published limit."""
    api_names: Callable[[M], ApiNames] = our_names
    """The names of the manager and its calls in the metrics."""

    @property
    def name(self) -> str:
        return self.spec.name


class Generated(Struct, frozen=True):
    """The values of a generator, and the state that it needs for the clean-up (None: nothing to clean up).

    The state is stored and shown: it identifies what was created (by ID or accessor), and has no secret.
    """

    values: SecretMap
    state: Document | None = None


class Generator(Struct, Generic[M], frozen=True):
    """One generator kind: its spec, how it makes values, and how it removes what it created elsewhere.

    `generate` is None if only the spec is implemented. `cleanup` gets the state of a `Generated`, maybe from
    an earlier run of the daemon, and is called until it succeeds: what is already removed is no error.
    `local`: values are made in the process; no server is called, so nothing is limited or counted.
    """

    spec: SpecType[M]
    generate: Callable[[M, OpenContext], Awaitable[Generated]] | None = None
    cleanup: Callable[[M, Document, OpenContext], Awaitable[None]] | None = None
    local: bool = False
    receivers: Callable[[M], Iterable[Receiver]] = no_receivers
    """As for a Provider."""

    @property
    def kind(self) -> str:
        return self.spec.name
