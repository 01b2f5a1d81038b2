"""`syncret refresh --kubernetes`: sets the annotation that asks for a sync, of ESO or syncret, and waits."""

import asyncio
from argparse import Namespace
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple

import msgspec

from syncret.config.meta import ObjectRef
from syncret.config.resources.cluster import ClusterExternalSecret
from syncret.config.resources.external_secret import ExternalSecret
from syncret.config.resources.kinds import Kind, kind_of
from syncret.config.settings import Settings
from syncret.daemon.cli.cluster.asking import ask, found, named
from syncret.daemon.cli.cluster.knowledge import failures, last_error
from syncret.daemon.cli.daemon_client import Answer, CommandError
from syncret.daemon.cli.exit_codes import INVALID
from syncret.daemon.core.conditions import seconds
from syncret.daemon.core.ownership import FORCE_SYNC
from syncret.daemon.homes.contract import StoredObject
from syncret.daemon.homes.kubernetes.user import ClusterEvent, UserCluster
from syncret.daemon.ops.operator_requests import Refused, check_policy

CUSTOMARY: Final = "force-sync"
"""What ESO's users annotate objects with: any change of an annotation asks for a sync."""

EVERY: Final = 0.25
"""Seconds between two reads of an object that is waited for."""


class _Status(msgspec.Struct, frozen=True, rename="camel"):
    refresh_time: str | None = None
    synced_resource_version: str | None = None


class _Object(msgspec.Struct, frozen=True):
    status: _Status = _Status()


class _Before(NamedTuple):
    """The state of an object before its refresh was requested."""

    ref: ObjectRef
    version: str
    """Its synced version, which the annotation changes."""
    error: str
    warned: tuple[float, int]
    """When its last warning was reported, and how often."""


def refresh(options: Namespace) -> Answer:
    """Ask for a refresh, and wait for it if that is wanted. Raises CommandError."""

    async def work(cluster: UserCluster, settings: Settings) -> Answer:
        del settings
        stored = await found(cluster, named(options, cluster))
        kind = kind_of(stored.ref.group_kind)
        _check(stored, kind, waits=options.wait)
        waited = [await _before(cluster, ref) for ref in _synced(stored, kind)] if options.wait else []
        now = datetime.now(UTC).isoformat()
        name = FORCE_SYNC if kind is not None and kind.child is not None else CUSTOMARY
        await cluster.annotate(stored.ref, {name: now})
        answer: Answer = {"object": str(stored.ref), "annotation": name, "value": now}
        if not options.wait:
            return {**answer, "message": f"refresh requested ({name}: {now})", "refreshTime": None}
        times = await _wait(cluster, waited, options.timeout)
        more = f", {len(times)} objects" if kind is not None and kind.child is not None else ""
        newest = max(times, default=None)
        message = f"refreshed at {newest}{more}" if newest else "refreshed: it has made no object yet"
        return {**answer, "message": message, "refreshTime": newest}

    return ask(options, work)


def _check(stored: StoredObject, kind: Kind | None, *, waits: bool) -> None:
    """Raise CommandError for what an annotation does not refresh."""
    role = None if kind is None else kind.role
    if stored.document["metadata"].get("deletionTimestamp"):
        raise CommandError("it is being deleted")
    if role == "fan_out" and kind is not None and kind.child is not None and kind.child.role == "push":
        hint = "its annotations do not travel: refresh its PushSecrets, namespace by namespace"
        raise CommandError(f"{stored.ref} cannot be refreshed by an annotation", hint=hint)
    if role == "store" and waits:
        hint = "leave --wait out; `syncret status` shows what became of it"
        raise CommandError(f"{stored.ref}: a store has no refreshTime to wait for", hint=hint, code=INVALID)
    if kind is None and waits:
        hint = "leave --wait out; `syncret explain --kubernetes` shows what became of it"
        raise CommandError(f"{stored.ref}: exports have no refreshTime to wait for", hint=hint, code=INVALID)
    if role == "sync":
        try:
            check_policy(stored.as_type(ExternalSecret))
        except Refused as refused:
            raise CommandError(str(refused), hint=refused.hint) from None
        except msgspec.ValidationError as malformed:
            raise CommandError(f"{stored.ref} is malformed: {malformed}") from None


def _synced(stored: StoredObject, kind: Kind | None) -> Iterable[ObjectRef]:
    """The objects that have a refreshTime: this one, or those that it made."""
    if kind is None or kind.child is None:
        return [stored.ref]
    status = stored.as_type(ClusterExternalSecret)
    name = status.spec.external_secret_name or stored.ref.name
    return [kind.child.ref(namespace, name) for namespace in status.status.provisioned_namespaces]


async def _before(cluster: UserCluster, ref: ObjectRef) -> _Before:
    stored = await found(cluster, ref)
    events = (await cluster.events(of=ref)).get(ref, ())
    error = last_error(stored, events)
    version = stored.as_type(_Object).status.synced_resource_version or ""
    return _Before(ref, version, "" if error is None else error.message, _warned(events))


def _warned(events: Sequence[ClusterEvent]) -> tuple[float, int]:
    newest = next((each.seconds for each in events if each.warning), 0.0)
    return newest, failures(events)


async def _wait(cluster: UserCluster, waited: Sequence[_Before], longest: float) -> list[str]:
    """The new refreshTime of each. Raises CommandError for one that fails, and at the end of the time."""
    left, times = list(waited), list[str]()
    try:
        async with asyncio.timeout(longest):
            while left:
                for before in list(left):
                    time = await _refresh_time(cluster, before)
                    if time:
                        times.append(time)
                        left.remove(before)
                if left:
                    await asyncio.sleep(EVERY)
    except TimeoutError:
        names = ", ".join(str(each.ref) for each in left)
        still = next((each.error for each in left if each.error), "")
        failing = f"; it was failing before: {still}" if still else ""
        hint = "the request stands; is a controller running? `syncret explain --kubernetes` shows more"
        raise CommandError(f"{names}: not refreshed within {longest:g} s{failing}", hint=hint) from None
    return times


async def _refresh_time(cluster: UserCluster, before: _Before) -> str:
    """The refreshTime of a sync since then, or empty. Raises CommandError where one failed."""
    stored = await found(cluster, before.ref)
    status = stored.as_type(_Object).status
    refreshed = status.refresh_time or ""
    version = status.synced_resource_version
    if version and version != before.version and seconds(refreshed) is not None:
        return refreshed
    events = (await cluster.events(of=before.ref)).get(before.ref, ())
    error = last_error(stored, events)
    if error is not None and (error.message != before.error or _warned(events) > before.warned):
        raise CommandError(f"{before.ref} failed: {error.message}", hint=error.hint)
    return ""
