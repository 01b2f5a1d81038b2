"""When a PushSecret is due, and what is told of it afterwards."""

from typing import Final

import msgspec

from syncret.config.durations import parse_duration
from syncret.config.resources.base import ConditionStatus
from syncret.config.resources.push_secret import PushSecret, PushSecretStatus
from syncret.daemon.core import conditions
from syncret.daemon.core.conditions import seconds, stamp
from syncret.daemon.core.schedule import refresh
from syncret.daemon.engine.reconciler import Outcome
from syncret.daemon.engine.reconcilers.apply import report_status
from syncret.daemon.engine.reconcilers.context import Failure, ReconcilerContext
from syncret.daemon.engine.reconcilers.pushing import Synced
from syncret.daemon.engine.writes import Writes
from syncret.providers.errors import SyncError

SYNCED: Final = "PushSecret synced successfully"
UNCHANGED: Final = ". Existing secrets in providers unchanged."
SOURCE_DELETED: Final = "SourceDeleted"


def is_due(resource: PushSecret, now: float) -> bool:
    """Whether it must be pushed now."""
    return refresh.is_push_due(
        parse_duration(resource.spec.refresh_interval),
        synced=resource.status.synced_resource_version,
        current=refresh.version_of(resource.metadata),
        last=seconds(resource.status.refresh_time or ""),
        now=now,
    )


def next_due(resource: PushSecret, now: float) -> float | None:
    """When time alone asks for the next push."""
    interval = parse_duration(resource.spec.refresh_interval)
    return refresh.next_due("Periodic", interval, last=seconds(resource.status.refresh_time or ""), now=now)


def cleaned_up(resource: PushSecret) -> bool:
    """Whether its status tells already that the source is gone, and what this version of it pushed too."""
    verdict = conditions.find(resource.status.conditions)
    return (
        verdict is not None
        and verdict.reason == SOURCE_DELETED
        and resource.status.synced_resource_version == refresh.version_of(resource.metadata)
    )


class PushVerdicts:
    """Writes the status of PushSecrets."""

    def __init__(self, context: ReconcilerContext, writes: Writes) -> None:
        self._context = context
        self._writes = writes

    async def done(self, resource: PushSecret, synced: Synced) -> Outcome:
        """All is pushed."""
        now = self._context.clock.now()
        message = SYNCED + (UNCHANGED if resource.spec.update_policy == "IfNotExists" else "")
        status = self._told(resource, now, "Synced", message, ok=True)
        status = msgspec.structs.replace(
            status,
            refresh_time=stamp(now),
            synced_resource_version=refresh.version_of(resource.metadata),
            synced_push_secrets=synced,
        )
        await self._report(resource, status)
        self._context.memory.succeeded(resource.ref)
        return Outcome(next_due(msgspec.structs.replace(resource, status=status), now))

    async def failed(
        self, resource: PushSecret, message: str, error: SyncError, synced: Synced | None = None
    ) -> Outcome:
        """Something is in the way; `synced`, where given, is what stands at the stores nevertheless."""
        now = self._context.clock.now()
        status = self._told(resource, now, "Errored", message, ok=False)
        if synced is not None:
            status = msgspec.structs.replace(status, synced_push_secrets=synced)
        await self._report(resource, status)
        self._context.memory.failed(resource.ref, Failure(now, str(error), error.hint))
        self._context.events.event(resource.ref, warning=True, reason="Errored", message=message)
        return Outcome(failure=error)

    def unrendered(self, resource: PushSecret, error: SyncError) -> Outcome:
        """The template does not render: told, but as with the operator no condition is written."""
        self._context.memory.failed(resource.ref, Failure(self._context.clock.now(), str(error), error.hint))
        self._context.events.event(resource.ref, warning=True, reason="Errored", message=str(error))
        return Outcome(failure=error)

    async def source_deleted(self, resource: PushSecret) -> Outcome:
        """The source is gone, and what was pushed from it too."""
        message = "source secret deleted; provider secrets cleaned up"
        status = self._told(resource, self._context.clock.now(), SOURCE_DELETED, message, ok=False)
        await self._report(resource, msgspec.structs.replace(status, synced_push_secrets={}))
        self._context.events.event(resource.ref, warning=False, reason=SOURCE_DELETED, message=message)
        return self.nothing_to_do(resource)

    def nothing_to_do(self, resource: PushSecret) -> Outcome:
        """It is not pushed any more; what kept it from that before is no longer of interest."""
        self._context.memory.succeeded(resource.ref)
        return Outcome()

    def _told(
        self, resource: PushSecret, now: float, reason: str, message: str, *, ok: bool
    ) -> PushSecretStatus:
        verdict = conditions.ready(ConditionStatus, status=ok, reason=reason, message=message)
        return msgspec.structs.replace(
            resource.status, conditions=conditions.put(resource.status.conditions, verdict, now=now)
        )

    async def _report(self, resource: PushSecret, status: PushSecretStatus) -> None:
        if status != resource.status:
            document = msgspec.to_builtins(status)
            for entries in document.get("syncedPushSecrets", {}).values():
                for entry in entries.values():
                    entry.setdefault("conversionStrategy", "None")  # as the CRD fills it in, in every home
            await report_status(self._context, self._writes, resource.ref, resource.metadata.uid, document)
