"""The context of a client in a test: credentials from tables, a clock that stands still, default limits."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from syncret.config.catalog import Scope
from syncret.config.meta import ObjectRef
from syncret.providers.contract import IssuedToken, OpenContext, OwnIdentity, Receiver, WholeSecret
from syncret.providers.errors import Denied, Malformed
from syncret.providers.network import Egress, Network
from syncret.providers.values import SecretBytes
from syncret.providers.work import Work

T = TypeVar("T")

NOW: Final = 1_234_567_890.0
NETWORK: Final = Network(egress=Egress(deny=("link-local", "metadata")))
"""As the default settings have it."""


@dataclass
class Clock:
    """Stands still until a test moves it."""

    time: float = NOW

    def __call__(self) -> float:
        return self.time


@dataclass
class Given:
    """The `Credentials` of a test: what it does not name does not exist."""

    secrets: dict[str, Mapping[str, bytes]] = field(default_factory=dict[str, Mapping[str, bytes]])
    config_maps: dict[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    labels: dict[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    """Of Secrets."""
    annotations: dict[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    """Of ServiceAccounts."""
    tokens: dict[str, IssuedToken] = field(default_factory=dict[str, IssuedToken])
    """By name of the ServiceAccount."""
    asked: list[tuple[str, tuple[str, ...], int]] = field(
        default_factory=list[tuple[str, tuple[str, ...], int]]
    )
    """The tokens that were asked for: account, audiences, seconds."""

    async def secret_key(self, name: str, key: str, namespace: str | None = None) -> SecretBytes:
        found = self.secrets.get(name, {}).get(key)
        if found is None:
            raise Malformed(f'there is no key "{key}" of Secret "{name}" ({namespace})')
        return SecretBytes(found)

    async def config_map_key(self, name: str, key: str, namespace: str | None = None) -> str:
        found = self.config_maps.get(name, {}).get(key)
        if found is None:
            raise Malformed(f'there is no key "{key}" of ConfigMap "{name}" ({namespace})')
        return found

    async def secret(self, name: str, namespace: str | None = None) -> WholeSecret:
        if name not in self.secrets:
            raise Malformed(f'there is no Secret "{name}" ({namespace})')
        data = {key: SecretBytes(value) for key, value in self.secrets[name].items()}
        return WholeSecret(self.labels.get(name, {}), data)

    async def account_token(
        self, name: str, *, audiences: Sequence[str] = (), seconds: int = 600, namespace: str | None = None
    ) -> IssuedToken:
        self.asked.append((name, tuple(audiences), seconds))
        if name not in self.tokens:
            raise Malformed(f'there is no ServiceAccount "{name}" ({namespace})')
        return self.tokens[name]

    async def account_annotations(self, name: str, namespace: str | None = None) -> Mapping[str, str]:
        return self.annotations.get(name, {})


def no_templates(template: str, data: Mapping[str, Mapping[str, str]], work: Work) -> str:
    """Renders nothing."""
    del template, data, work
    raise Malformed("this test renders no templates", hint="give the context a `render`")


async def compute_at_once(function: Callable[[Work], T], /) -> T:
    """Run the function at once."""
    return function(Work())


def no_files(path: str, *, what: str) -> SecretBytes:
    """Reads nothing."""
    raise Malformed(f"{path} cannot be read: this test has no {what}", hint="give the context a `read_file`")


def no_identity(receivers: Iterable[Receiver]) -> OwnIdentity:
    """The daemon has no identity of its own here."""
    raise Denied(f"the daemon has no identity for {[receiver.url for receiver in receivers]} in this test")


async def log_in(login: Callable[[], Awaitable[T]], /) -> T:
    """Log in, even if the last login was refused."""
    return await login()


def context(
    given: Given | None = None,
    *,
    scope: Scope = Scope(cluster=False, namespace="default"),  # noqa: B008  # immutable
    now: Callable[[], float] = lambda: NOW,
    keep: dict[str, Any] | None = None,
    **others: Any,  # noqa: ANN401  # of the types of OpenContext
) -> OpenContext:
    """The context that the engine would pass to a store or generator `test`.

    `keep` is its `store_memory`; `others` are fields of OpenContext that the provider needs: `render`.
    """
    kind = "ClusterSecretStore" if scope.cluster else "SecretStore"
    fields: dict[str, Any] = {
        "store": ObjectRef("external-secrets.io", kind, "" if scope.cluster else scope.namespace, "test"),
        "scope": scope,
        "credentials": given or Given(),
        "now": now,
        "render": no_templates,
        "compute": compute_at_once,
        "read_file": no_files,
        "network": NETWORK,
        "ambient": no_identity,
        "log_in": log_in,
        "store_memory": {} if keep is None else keep,
    }
    return OpenContext(**(fields | others))
