"""The ExternalSecretsManager: created if it is missing; its status mirrors that of the configuration."""

import asyncio
from collections.abc import Iterable
from typing import Final

from syncret.config.meta import Document, GroupKind, ObjectRef, member
from syncret.config.resources.kinds import EXTERNAL_SECRETS_MANAGER
from syncret.daemon.engine.reconciler import Dependency, Outcome
from syncret.daemon.engine.writes import Writes
from syncret.daemon.homes.contract import AlreadyExists, Home, HomeError, StoredObject
from syncret.daemon.install.operator.components import MANAGED_BY, OPERATOR, PART_OF
from syncret.daemon.operator.cluster import CONFIG, MANAGER, Cluster
from syncret.daemon.operator.compare import MANAGER as FIELD_MANAGER
from syncret.daemon.operator.status import mirrored

FINALIZERS: Final = frozenset({"externalsecretsmanagers.operator.openshift.io/external-secrets-manager"})
CHECK_EVERY: Final = 1.0
"""Seconds between two checks whether it is still there; they make no request."""


class ManagerReconciler:
    """Writes its status."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    @property
    def group_kind(self) -> GroupKind:
        """As `Reconciler` says."""
        return MANAGER.group_kind

    def dependencies(self, stored: StoredObject) -> Iterable[Dependency]:
        """The configuration."""
        del stored
        yield Dependency(CONFIG)

    async def reconcile(self, ref: ObjectRef, writes: Writes) -> Outcome:
        """As `Reconciler` says."""
        stored = self._cluster.inventory.get(ref)
        if stored is None or ref != MANAGER:
            return Outcome()
        held = stored.document["metadata"].get("finalizers", [])
        if FINALIZERS.intersection(held):
            stored = await writes.set_finalizers(stored, [each for each in held if each not in FINALIZERS])
        if stored.document["metadata"].get("deletionTimestamp"):
            return Outcome()
        config = self._cluster.inventory.get(CONFIG)
        status = mirrored(
            stored.document,
            None if config is None else config.document,
            sum(1 for _ in self._cluster.ours()),
            self._cluster.now(),
        )
        if status != member(stored.document, "status"):
            await writes.update_status(stored, status)
        return Outcome()


async def keep_manager(cluster: Cluster, home: Home) -> None:
    """Create it whenever the watch does not show it and we are the active replica."""
    while True:
        unknown = cluster.inventory.is_unknown(MANAGER.group_kind)
        if cluster.inventory.get(MANAGER) is None and not unknown and home.owns(MANAGER):
            try:
                await home.create(_new(cluster), field_manager=FIELD_MANAGER)
            except AlreadyExists:
                pass  # the watch has not shown it yet
            except HomeError:
                cluster.metrics.ran("failed")
        await asyncio.sleep(CHECK_EVERY)


def _new(cluster: Cluster) -> Document:
    labels = {MANAGED_BY: OPERATOR, PART_OF: OPERATOR}
    if cluster.environment.version:
        labels["app.kubernetes.io/version"] = f"v{cluster.environment.version.removeprefix('v')}"
    return {
        "apiVersion": EXTERNAL_SECRETS_MANAGER.api_version,
        "kind": EXTERNAL_SECRETS_MANAGER.kind,
        "metadata": {"name": MANAGER.name, "labels": labels},
        "spec": {},
    }
