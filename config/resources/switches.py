"""The kinds that the settings turn off. Separate from `kinds`, so that it need not import the settings."""

from syncret.config.resources.kinds import (
    CLUSTER_EXTERNAL_SECRET,
    CLUSTER_GENERATOR,
    CLUSTER_PUSH_SECRET,
    CLUSTER_SECRET_STORE,
    PUSH_SECRET,
    SECRET_STORE,
)
from syncret.config.settings import Process, Settings


def switched_off(process: Process) -> frozenset[str]:
    """The kinds that the setting `process` turns off."""
    is_on = {
        CLUSTER_SECRET_STORE.kind: process.cluster_store,
        SECRET_STORE.kind: process.secret_store,
        PUSH_SECRET.kind: process.push_secret,
        CLUSTER_EXTERNAL_SECRET.kind: process.cluster_external_secret,
        CLUSTER_PUSH_SECRET.kind: process.cluster_push_secret,
    }
    return frozenset(kind for kind, on in is_on.items() if not on)


def not_watched(settings: Settings) -> frozenset[str]:
    """The kinds that a daemon in a cluster does not watch, by its settings."""
    off = switched_off(settings.process) - {SECRET_STORE.kind}  # those of another daemon may be used
    alone = settings.namespace and not settings.process.cluster_store
    if alone or not settings.process.cluster_generator:
        off |= {CLUSTER_GENERATOR.kind}  # else it would need rights in the cluster for these alone
    return off
