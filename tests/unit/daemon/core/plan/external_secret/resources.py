"""ExternalSecrets, targets and stores for tables of decisions."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from syncret.config.fields import Json
from syncret.config.meta import Document
from syncret.config.resources.external_secret import ExternalSecret
from syncret.daemon.core.needs import StoreName
from syncret.daemon.core.plan.external_secret.next_step import FINALIZER, Observed
from syncret.daemon.core.plan.secret_store import StoreSummary
from syncret.daemon.core.schedule.refresh import version_of
from syncret.daemon.core.secret import desired_secret

NOW: Final = 1_767_225_600.0
"""2026-01-01, at midnight."""

READ: Final = {"secretKey": "a", "remoteRef": {"key": "k"}}


def resource(
    *,
    target: Document | None = None,
    status: Document | None = None,
    metadata: Document | None = None,
    **spec: Json,
) -> ExternalSecret:
    """An ExternalSecret that reads one value and has its finalizer."""
    named = {"name": "x", "namespace": "default", "uid": "u", "generation": 1, "finalizers": [FINALIZER]}
    return msgspec.convert(
        {
            "apiVersion": "external-secrets.io/v1",
            "kind": "ExternalSecret",
            "metadata": named | (metadata or {}),
            "spec": {"secretStoreRef": {"name": "s"}, "data": [READ], "target": target or {}} | spec,
            "status": status or {},
        },
        ExternalSecret,
    )


def synced(wanted: ExternalSecret, *, at: str = "2025-12-31T23:30:00Z") -> ExternalSecret:
    """The resource after a sync, half an hour ago unless said otherwise."""
    status = msgspec.structs.replace(
        wanted.status, refresh_time=at, synced_resource_version=version_of(wanted.metadata)
    )
    return msgspec.structs.replace(wanted, status=status)


def written(wanted: ExternalSecret, values: Mapping[str, bytes], **changes: Json) -> Document:
    """The Secret of a resource as a home answers it."""
    document = desired_secret(wanted, None, values)
    document["metadata"] |= {"uid": "t", "resourceVersion": "7"}
    return document | changes


def plain(data: Mapping[str, str], **metadata: Json) -> Document:
    """A Secret that nobody of ours wrote; the values are base64."""
    named = {"name": "x", "namespace": "default", "uid": "t", "resourceVersion": "7", **metadata}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": named, "type": "Opaque", "data": dict(data)}


def store(
    ready: str = "True", *, controller: str = "", conditions: Sequence[Document] = (), **metadata: Json
) -> StoreSummary:
    """A store; with an empty `ready` one that was not validated yet."""
    summary = {
        "metadata": metadata,
        "spec": {"controller": controller, "conditions": conditions},
        "status": {"conditions": [{"type": "Ready", "status": ready}] if ready else []},
    }
    return msgspec.convert(summary, StoreSummary)


def observed(target: Document | None = None, **changes: Any) -> Observed:  # noqa: ANN401  # any field
    """A ready store, and the target after a read."""
    known: dict[str, Any] = {
        "stores": {StoreName("SecretStore", "s"): store()},
        "target": target,
        "target_was_read": True,
        "may_mark": target is not None,
    }
    return Observed(**{**known, **changes})
