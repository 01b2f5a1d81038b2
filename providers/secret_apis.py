"""The interface to the secret APIs of a vendor, for the exports of its resources.

    hints -> calls -> names to values

A storage account's keys are not in its status: a call to its vendor returns them. `plan` says without any I/O
which calls serve the names that expressions use, so that no other is made; `read` makes them, as whom the
resource's namespace says.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import NamedTuple, Protocol

from msgspec import Struct, field

from syncret.config.meta import Document, GroupKind, ObjectRef
from syncret.providers.contract import Ambient, Compute, LogIn
from syncret.providers.network import Network
from syncret.providers.values import SecretBytes, SecretMap


class SecretCall(NamedTuple):
    """One call that returns secrets of one resource. Equal calls with one identity are one."""

    api: str
    """What is called, for metrics and `explain`: `listKeys`."""
    names: frozenset[str]
    """The names of all values that it may return, requested or not."""
    request: tuple[str, ...]
    """What its vendor needs to make it, such as a path and a version; no secret."""


class SecretCalls(NamedTuple):
    """How the names that a resource's expressions use are served."""

    known: Mapping[str, str]
    """Values that the resource's status has already: they need no call."""
    calls: Sequence[SecretCall]
    """One for each API that is needed, and none that is not."""


class CredentialName(NamedTuple):
    """A Secret in the resource's own namespace with the identity of its calls."""

    name: str
    required: bool
    """Whether it is an error if there is none; otherwise the next one is looked for."""


class CallIdentity(Struct, frozen=True, kw_only=True):
    """The identity of a call. Clients are kept for one identity, until its Secret has another version."""

    resource: ObjectRef
    """The resource whose exports it is for."""
    secret: ObjectRef | None = None
    """The Secret with the credentials; None: there is none, only the daemon's own identity is left."""
    version: str = ""
    """The resource version of the Secret."""
    data: SecretMap = field(default_factory=dict[str, SecretBytes])
    """The Secret's values."""


class SecretReader(Protocol):
    """Makes the calls of one vendor. Its clients are open until its block is left."""

    async def read(self, call: SecretCall, identity: CallIdentity) -> SecretMap:
        """The values by name; one that is empty or missing in the answer is missing here.

        Waits for the vendor's rate limit. Raises SyncError: Throttled with what the vendor asks to wait,
        Denied where the daemon's own identity must not be used for this namespace.
        """
        ...


class SecretApisContext(Struct, frozen=True, kw_only=True):
    """What the calls of a vendor may use. None of it is global."""

    now: Callable[[], float]
    """The wall clock, in seconds since the epoch."""
    compute: Compute
    network: Network
    ambient: Callable[[ObjectRef], Ambient]
    """The door to the daemon's own identity, for a resource."""
    new_login: Callable[[], LogIn]
    """Makes the `LogIn` of one identity: a refused login is not repeated for each of its resources."""
    timeout: float
    """Seconds that one request may take."""


class SecretApis(Protocol):
    """The secret APIs of one vendor."""

    def plan(self, kind: GroupKind, resource: Document, names: Collection[str] | None) -> SecretCalls | None:
        """The calls for these names (None: for all that there are). Pure.

        None if the vendor has no secret API for resources of that kind. A name that no API serves is left
        out. Raises Malformed if the resource does not say where it is, such as before it has an ID.
        """
        ...

    def credentials(self, resource: Document) -> Sequence[CredentialName]:
        """The Secrets that may hold its identity, in the order in which they are looked for. Pure."""
        ...

    def open(self, context: SecretApisContext) -> AbstractAsyncContextManager[SecretReader]:
        """Whatever makes the calls."""
        ...
