"""When an ExternalSecret is due, and what is told of it afterwards."""

import msgspec

from syncret.config.durations import parse_duration
from syncret.config.resources.external_secret import (
    Binding,
    ExternalSecret,
    ExternalSecretCondition,
    ExternalSecretStatus,
)
from syncret.config.resources.kinds import CLUSTER_SECRET_STORE
from syncret.daemon.core import conditions, needs
from syncret.daemon.core.assemble import Assembled
from syncret.daemon.core.conditions import seconds, stamp
from syncret.daemon.core.ownership import Refusal
from syncret.daemon.core.schedule import refresh, sync_windows
from syncret.daemon.engine.reconciler import Outcome
from syncret.daemon.engine.reconcilers.apply import report_status
from syncret.daemon.engine.reconcilers.context import Failure, ReconcilerContext
from syncret.daemon.engine.writes import Writes
from syncret.daemon.homes.contract import HomeError
from syncret.providers.errors import SyncError


def is_due(resource: ExternalSecret, now: float, *, spread: bool) -> bool:
    """Whether it must be synced now, by its policy, its interval and its windows."""
    if not resource.status.synced_resource_version:
        return True  # never synced: whatever the policy
    return refresh.is_due(
        resource.spec.refresh_policy or "Periodic",
        parse_duration(resource.spec.refresh_interval),
        synced=resource.status.synced_resource_version,
        current=refresh.version_of(resource.metadata),
        last=seconds(resource.status.refresh_time or ""),
        now=now,
        allowed=sync_windows.allowed(*_windows(resource), now),
        spread=_slot_name(resource) if spread else "",
    )


def next_due(resource: ExternalSecret, now: float, *, spread: bool) -> float | None:
    """When time alone asks for the next sync; None: only a change does."""
    due = refresh.next_due(
        resource.spec.refresh_policy or "Periodic",
        parse_duration(resource.spec.refresh_interval),
        last=seconds(resource.status.refresh_time or ""),
        now=now,
        spread=_slot_name(resource) if spread else "",
    )
    return None if due is None else sync_windows.next_allowed(*_windows(resource), due)


def _windows(resource: ExternalSecret) -> tuple[str, list[sync_windows.Window]]:
    """Whether the sync windows allow or deny, and when they are open."""
    chosen = resource.spec.sync_windows
    if chosen is None:
        return "", []
    return chosen.kind, [
        sync_windows.Window(each.schedule, parse_duration(each.duration)) for each in chosen.windows
    ]


def _slot_name(resource: ExternalSecret) -> str:
    """Objects that read the same key of the same store are due together: their reads meet in one call."""
    namespace = resource.metadata.namespace
    match needs.first(resource.spec):
        case needs.Read(store, ref) | needs.Extract(store, ref):
            return f"{_whole_name(store, namespace)}/{ref.key}"
        case needs.Search(store, _):
            return _whole_name(store, namespace)
        case _:
            return f"{namespace}/{resource.metadata.name}"


def _whole_name(store: needs.StoreName, namespace: str) -> str:
    """A store's name among all: a ClusterSecretStore is the same one for every namespace."""
    return str(store) if store.kind == CLUSTER_SECRET_STORE.kind else f"{namespace}/{store}"


class Verdicts:
    """Writes the status of ExternalSecrets."""

    def __init__(self, context: ReconcilerContext, writes: Writes) -> None:
        self._context = context
        self._writes = writes

    async def done(
        self,
        resource: ExternalSecret,
        reason: str,
        message: str,
        assembled: Assembled,
        *,
        bound: str = "",
    ) -> Outcome:
        """It is in order; `bound` names the Secret it was written to."""
        now, ref = self._context.clock.now(), resource.ref
        verdict = conditions.ready(ExternalSecretCondition, status=True, reason=reason, message=message)
        status = msgspec.structs.replace(
            resource.status,
            conditions=conditions.put(resource.status.conditions, verdict, now=now),
            refresh_time=stamp(now),
            synced_resource_version=refresh.version_of(resource.metadata),
            binding=Binding(name=bound) if bound else resource.status.binding,
        )
        await self._report(resource, status)
        self._context.memory.succeeded(ref, assembled.origins)
        for place in assembled.missing:
            self._context.events.event(
                ref,
                warning=False,
                reason="MissingProviderSecret",
                message=f"secret does not exist at provider using {place}",
            )
        return Outcome(
            next_due(
                msgspec.structs.replace(resource, status=status), now, spread=self._context.options.spread
            )
        )

    async def failed(
        self,
        resource: ExternalSecret,
        reason: str,
        message: str,
        error: SyncError | HomeError,
        *,
        bound: str = "",
    ) -> Outcome:
        """It is not in order, and `error` says why; it is tried again, at its interval at the latest."""
        failure = Failure(self._context.clock.now(), str(error), getattr(error, "hint", ""))
        await self._not_ready(resource, reason, message, failure, bound)
        interval = parse_duration(resource.spec.refresh_interval)
        return Outcome(failure.at + interval if interval > 0 else None, failure=error)

    async def refused(
        self, resource: ExternalSecret, reason: str, refusal: Refusal, *, bound: str = ""
    ) -> Outcome:
        """It must not be done, and only a change can mend that."""
        failure = Failure(self._context.clock.now(), refusal.detail, refusal.hint)
        await self._not_ready(resource, reason, refusal.message, failure, bound)
        return Outcome()

    async def _not_ready(
        self, resource: ExternalSecret, reason: str, message: str, failure: Failure, bound: str
    ) -> None:
        verdict = conditions.ready(ExternalSecretCondition, status=False, reason=reason, message=message)
        status = msgspec.structs.replace(
            resource.status,
            conditions=conditions.put(resource.status.conditions, verdict, now=failure.at),
            binding=Binding(name=bound) if bound else resource.status.binding,
        )
        await self._report(resource, status)
        self._context.memory.failed(resource.ref, failure)
        self._context.events.event(
            resource.ref, warning=True, reason="UpdateFailed", message=f"{message}: {failure}"
        )

    async def _report(self, resource: ExternalSecret, status: ExternalSecretStatus) -> None:
        if status != resource.status:
            document = msgspec.to_builtins(status)
            # Always told, as the operator tells it: whoever binds to the Secret sees that there is none yet.
            document["binding"] = {"name": status.binding.name if status.binding is not None else ""}
            await report_status(self._context, self._writes, resource.ref, resource.metadata.uid, document)
