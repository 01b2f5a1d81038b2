"""Holds the Lease of the other operator's election, so that it waits for us, and watches for its signs."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Final, NamedTuple
from uuid import uuid4

import msgspec
import structlog
from msgspec import Struct

from syncret.config.meta import ObjectRef
from syncret.config.settings import Settings
from syncret.daemon.homes.contract import HomeError, StoredObject
from syncret.daemon.homes.kubernetes.api import ApiServer, NotAllowed
from syncret.daemon.homes.kubernetes.election import Election, Leases, boot_time
from syncret.daemon.homes.kubernetes.event_rules import EventRules
from syncret.daemon.homes.kubernetes.events import ApiEvents
from syncret.daemon.homes.kubernetes.leases import ApiLeases
from syncret.daemon.homes.kubernetes.other_operator.foreign import ForeignWriters, SeenLease

LEAVE_WITHIN: Final = 2.0
LOOK_WITHIN: Final = 5.0
"""Seconds for the first look at a Lease; later looks are made in the background."""

REASON: Final = "OtherOperator"
"""The reason of the Event on our own Pod."""

log = structlog.get_logger()


class LeaseChoice(Struct, frozen=True, kw_only=True):
    """The Lease that one of several replicas holds, and our name on it."""

    name: str
    namespace: str
    """Empty: that of the kubeconfig's context."""
    identity: str
    seconds: float
    renew: float


class LeaseName(NamedTuple):
    """Namespace and name of a Lease."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"the Lease {self.namespace}/{self.name}"


class Interlock(Struct, frozen=True, kw_only=True):
    """The signs of another operator that are looked for."""

    leases: Sequence[LeaseName]
    """The Leases of its election, except one that our own election takes."""
    identity: str
    handles: Callable[[str], bool]
    """Whether a store with that `spec.controller` is ours."""
    statuses: bool = True
    """Whether a status that it writes is a sign."""
    pod: StoredObject | None = None
    """Our own, which gets an Event."""


class Writing(Struct, frozen=True, kw_only=True):
    """When a replica may write."""

    lease: LeaseChoice | None = None
    """While it holds this one; None: it is the only replica."""
    interlock: Interlock | None = None
    """While no other operator is at work; None: its signs are not looked for."""
    observe: bool = False
    """Never."""


def identity_of(environment: Mapping[str, str]) -> str:
    """Our identity on Leases, unique to this replica and this start."""
    return f"{environment.get('POD_NAME') or environment.get('HOSTNAME') or 'syncret'}_{uuid4()}"


def writing_of(settings: Settings, environment: Mapping[str, str]) -> Writing:
    """When a replica with these settings may write. One that only observes takes no Lease."""
    if settings.observe:
        return Writing(observe=True)
    return Writing(lease=lease_of(settings, environment), interlock=_interlock(settings, environment))


def lease_of(settings: Settings, environment: Mapping[str, str]) -> LeaseChoice | None:
    """The Lease that the settings want; None where this is the only replica."""
    election = settings.leader_election
    if not election.enabled:
        return None
    return LeaseChoice(
        name=settings.lease_name,
        namespace=election.namespace or environment.get("POD_NAMESPACE", ""),
        identity=identity_of(environment),
        seconds=election.lease_duration,
        renew=election.renew,
    )


def _interlock(settings: Settings, environment: Mapping[str, str]) -> Interlock:
    """The signs to look for, by the settings."""
    election = settings.leader_election
    own = election.namespace or environment.get("POD_NAMESPACE", "")
    places = (own, settings.migration.namespace) if settings.is_default_class else ()
    leases = [LeaseName(each, settings.lease_name) for each in dict.fromkeys(places) if each]
    return Interlock(
        leases=[each for each in leases if not (election.enabled and each.namespace == own)],
        identity=identity_of(environment),
        handles=lambda controller: not controller or controller == settings.controller_class,
        statuses=not settings.migration.force,
        pod=_pod(environment),
    )


def _pod(environment: Mapping[str, str]) -> StoredObject | None:
    name, namespace = environment.get("POD_NAME", ""), environment.get("POD_NAMESPACE", "")
    if not (name and namespace):
        return None
    return StoredObject(
        ref=ObjectRef("", "Pod", namespace, name),
        uid=environment.get("POD_UID", ""),
        resource_version="",
        data=msgspec.json.encode({"apiVersion": "v1", "kind": "Pod"}),
    )


@asynccontextmanager
async def looking_out(api: ApiServer, interlock: Interlock) -> AsyncGenerator[ForeignWriters, None]:
    """Look for another operator until the block is left; before it is entered, each Lease was looked at."""
    reasons = asyncio.Queue[str]()
    foreign = ForeignWriters(boot_time, on_begin=reasons.put_nowait)
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(_beside("home: signs of another operator", foreign.run()))
        if interlock.pod is not None:
            await stack.enter_async_context(
                _beside("home: events of the pod", _record_events(api, interlock.pod, reasons))
            )
        for name in interlock.leases:
            seen = SeenLease(ApiLeases(api, *name), str(name), foreign, boot_time)
            if await _may_look(seen, name):
                await stack.enter_async_context(
                    taking_part(Election(seen, identity=interlock.identity), f"home: hold {name}")
                )
        yield foreign


async def _may_look(leases: Leases, name: LeaseName) -> bool:
    """Look at a Lease for the first time; False where that is not allowed."""
    try:
        async with asyncio.timeout(LOOK_WITHIN):
            await leases.get()
    except NotAllowed as error:
        log.warning(
            "an operator that takes part in an election would not be noticed",
            lease=str(name),
            error=str(error),
        )
        return False
    except (HomeError, TimeoutError) as error:
        log.info("the Lease cannot be looked at yet", lease=str(name), error=str(error))
    return True


@asynccontextmanager
async def taking_part(election: Election, name: str) -> AsyncGenerator[Election, None]:
    """The election, from now on. At the end the Lease is given back, if it is ours."""
    try:
        async with _beside(name, election.run()):
            yield election
    finally:
        await _leave(election)


async def _leave(election: Election) -> None:
    try:
        async with asyncio.timeout(LEAVE_WITHIN):
            await election.leave()
    except (HomeError, TimeoutError) as error:
        log.warning("the Lease was not given back", reason=str(error))


@asynccontextmanager
async def _beside(name: str, work: Coroutine[Any, Any, None]) -> AsyncGenerator[None, None]:
    """Do work that never ends by itself, until the block is left. If it fails, so does the block."""
    try:
        async with asyncio.TaskGroup() as group:
            task = group.create_task(work, name=name)
            try:
                yield
            finally:
                task.cancel()
    except BaseExceptionGroup as errors:
        only, *more = errors.exceptions
        if more:
            raise
        raise only from None


async def _record_events(api: ApiServer, pod: StoredObject, reasons: "asyncio.Queue[str]") -> None:
    """Write each reason as an Event of our own Pod, where an administrator looks for it."""
    rules, writer = EventRules(), ApiEvents(api)
    while True:
        entry = rules.take(pod, warning=True, reason=REASON, message=await reasons.get(), now=time.time())
        if entry is not None:
            try:
                await writer.create(entry.namespace, entry.document)
            except HomeError as error:
                log.info("the event of the pod was not written", error=str(error))
