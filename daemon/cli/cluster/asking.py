"""Runs a command against the cluster of a kubeconfig, and turns errors into exit codes."""

import asyncio
import os
from argparse import Namespace
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

from syncret.config.errors import ConfigError
from syncret.config.meta import ObjectRef
from syncret.config.settings import IN_CLUSTER, Settings
from syncret.config.spelling import did_you_mean
from syncret.daemon.cli.daemon_client import Answer, CommandError, named_object
from syncret.daemon.cli.exit_codes import INVALID, UNUSABLE
from syncret.daemon.cli.settings import settings_of
from syncret.daemon.homes.contract import HomeError, HomeUnusable, NotFound, StoredObject
from syncret.daemon.homes.kubernetes.user import NotAllowed, UserCluster, user_cluster
from syncret.daemon.ops.operator_requests import UnknownObject, ref_of
from syncret.providers.errors import SyncError
from syncret.providers.registry import Registry

T = TypeVar("T")
Ask = Callable[[UserCluster, Settings], Awaitable[T]]


def ask(options: Namespace, work: Ask[T]) -> T:
    """What the work returns. Raises CommandError."""
    try:
        return asyncio.run(_ask(settings_of(options, defaults=IN_CLUSTER), work))
    except ConfigError as error:
        raise CommandError("; ".join(map(str, error.problems)), code=INVALID) from None
    except UnknownObject as error:
        raise CommandError(str(error), hint=error.hint) from None
    except NotFound as error:
        raise CommandError(str(error)) from None
    except (HomeError, HomeUnusable, SyncError) as error:
        hint = "" if isinstance(error, NotAllowed) else getattr(error, "hint", "")  # that one is for daemons
        raise CommandError(str(error), hint=hint, code=UNUSABLE) from None


async def _ask(settings: Settings, work: Ask[T]) -> T:
    async with user_cluster(settings, Registry(), os.environ) as cluster:
        return await work(cluster, settings)


def named(options: Namespace, cluster: UserCluster) -> ObjectRef:
    """The object that a command line names. Raises CommandError or UnknownObject."""
    kind, namespace, name = named_object(options, cluster.namespace)
    return ref_of(kind, namespace, name)


async def found(cluster: UserCluster, ref: ObjectRef) -> StoredObject:
    """The object, if it exists. Raises UnknownObject, or HomeError."""
    stored = await cluster.get(ref)
    if stored is not None:
        return stored
    if not await cluster.serves(ref.group_kind):
        raise UnknownObject(
            f"{cluster.server} does not serve {ref.group_kind}",
            hint="install the CRDs (`syncret export crds`), or choose the cluster with --context",
        )
    others = await cluster.list(ref.group_kind, ref.namespace) or ()
    near = did_you_mean(ref.name, [each.ref.name for each in others])
    place = f"namespace {ref.namespace}: -n names another" if ref.namespace else "this cluster"
    raise UnknownObject(f"there is no {ref}", hint=near or f"it was looked for in {place}")


def warnings(messages: Iterable[str]) -> list[Answer]:
    """Messages, such as missing rights, as problems in the documents of commands."""
    return [
        {"file": "API server", "line": 0, "path": "", "message": each, "hint": "", "severity": "warning"}
        for each in messages
    ]
