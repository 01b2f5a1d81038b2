"""What a provider is opened with in a test: credentials from tables, a still clock, real templates."""

import os
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from syncret.config.catalog import Scope
from syncret.config.meta import ObjectRef
from syncret.config.settings import OwnIdentity
from syncret.daemon.engine.templates import Templates
from syncret.daemon.engine.work import WorkThreads
from syncret.daemon.homes.contract import no_token
from syncret.providers.contract import IssuedToken, OpenContext, SecretBytes, WholeSecret
from syncret.providers.errors import Malformed
from syncret.providers.kit.ambient.door import Door, OnUnlisted
from syncret.providers.kit.ambient.pod import MOUNT, IssueToken
from syncret.providers.kit.ambient.rules import Rules
from syncret.providers.kit.auth.manifest_files import ManifestFiles
from syncret.providers.network import Egress, Network

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


async def no_tokens(account: ObjectRef, audiences: Sequence[str], seconds: int) -> IssuedToken:
    """Issues no token, as on a host without an API server."""
    raise no_token(account, audiences, seconds)


def door_of(
    settings: OwnIdentity,
    *,
    strict: bool = False,
    issue: IssueToken = no_tokens,
    on_unlisted: OnUnlisted = lambda _store, _verdict: None,
    mount: Path = MOUNT,
) -> Door:
    """The door to the identity of this process."""
    return Door(Rules(settings, strict, os.environ), issue, on_unlisted, mount=mount)


async def log_in(login: Callable[[], Awaitable[T]]) -> T:
    """Every login is tried, whatever came of the last one."""
    return await login()


def context(
    given: Given | None = None,
    *,
    scope: Scope = Scope(cluster=False, namespace="default"),  # noqa: B008  # immutable
    now: Callable[[], float] = lambda: NOW,
    keep: dict[str, Any] | None = None,
    door: Door | None = None,
) -> OpenContext:
    """What the engine would hand to a store or generator `test`; `door`: open, unless a test gives one."""
    kind = "ClusterSecretStore" if scope.cluster else "SecretStore"
    store = ObjectRef("external-secrets.io", kind, "" if scope.cluster else scope.namespace, "test")
    return OpenContext(
        store=store,
        scope=scope,
        credentials=given or Given(),
        now=now,
        render=Templates(now).request,
        compute=WorkThreads().compute,
        read_file=ManifestFiles((tempfile.gettempdir(),), os.environ),
        network=NETWORK,
        ambient=partial((door or door_of(OwnIdentity(mode="open"))).grant, store),
        log_in=log_in,
        store_memory={} if keep is None else keep,
    )
