"""Explains the exports of a resource from its events and outputs: its status belongs to its operator."""

import time
from collections.abc import Sequence
from typing import Final

import msgspec

from syncret.config.meta import ObjectRef
from syncret.daemon.core.explain.explain import ExplainInput, Explanation, explain_exports
from syncret.daemon.core.exports.objects import EXPORTED
from syncret.daemon.core.exports.spec import read_exports
from syncret.daemon.core.exports.verdict import FAILED, error_of
from syncret.daemon.core.plan.actions import DELETED
from syncret.daemon.homes.contract import StoredObject
from syncret.daemon.homes.kubernetes.user import ClusterEvent, UserCluster

_REASONS: Final = frozenset({EXPORTED, FAILED, DELETED})
"""Reasons of the events that a run of exports leaves."""


async def explain_exports_of(
    cluster: UserCluster, stored: StoredObject, events: Sequence[ClusterEvent]
) -> Explanation:
    """Whether its outputs exist, and its last error, which only the newest event has."""
    exports, namespace, now = read_exports(stored.document), stored.ref.namespace, time.time()
    outputs = dict.fromkeys(entry.output for entry in exports.entries)
    newest = next((event for event in events if event.reason in _REASONS), None)
    error: tuple[float, str, str] | None = None
    if exports.problems:
        refused = error_of(exports.problems)
        error = now, str(refused), refused.hint
    elif newest is not None and newest.warning:
        error = newest.seconds, newest.message, ""
    noted = (f"exports to {', '.join(f'{each.kind} {each.name}' for each in outputs)}",) if outputs else ()
    explanation = explain_exports(stored.ref, ExplainInput(now=now, error=error, noted=noted))
    refs = [ObjectRef("", each.kind, namespace, each.name) for each in outputs]
    missing = [f"{ref.kind} {ref.name}" for ref in refs if await cluster.exists(ref) is False]
    if missing and error is None:
        message = f"{', '.join(missing)} is missing, and no event says why"
        return msgspec.structs.replace(explanation, ready="Unknown", message=message)
    return explanation
