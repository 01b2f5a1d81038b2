"""What a provider is opened with in a test of ours: as in the provider suite, with the daemon's own parts."""

import os
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from syncret.config.catalog import Scope
from syncret.config.meta import ObjectRef
from syncret.config.settings import OwnIdentity
from syncret.daemon.engine.templates import Templates
from syncret.daemon.homes.memory.cluster import no_token
from syncret.providers import testing
from syncret.providers.contract import IssuedToken, OpenContext
from syncret.providers.kit.ambient.door import Door, OnUnlisted
from syncret.providers.kit.ambient.pod import MOUNT, IssueToken
from syncret.providers.kit.ambient.rules import Rules
from syncret.providers.kit.auth.manifest_files import ManifestFiles
from syncret.providers.testing import NOW, Clock, Given
from syncret.providers.testing.opened import NETWORK, log_in

__all__ = ["NETWORK", "NOW", "Clock", "Given", "context", "door_of", "log_in", "no_tokens"]


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


def context(
    given: Given | None = None,
    *,
    scope: Scope = Scope(cluster=False, namespace="default"),  # noqa: B008  # immutable
    now: Callable[[], float] = lambda: NOW,
    keep: dict[str, Any] | None = None,
    door: Door | None = None,
) -> OpenContext:
    """As the suite's, with the daemon's own parts; `door`: open, unless a test gives one."""
    plain = testing.context(given, scope=scope, now=now, keep=keep)
    return msgspec.structs.replace(
        plain,
        render=Templates(now).request,
        read_file=ManifestFiles((tempfile.gettempdir(),), os.environ),
        ambient=partial((door or door_of(OwnIdentity(mode="open"))).grant, plain.store),
    )
