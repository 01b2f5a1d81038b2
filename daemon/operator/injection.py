"""The annotation by which cert-manager writes its authority to our CRDs.

CRDs are not ours to apply: of each one that is there, this one annotation is set, and taken off again.
"""

from collections.abc import Iterator

from syncret.config.meta import ObjectRef, member
from syncret.daemon.engine.writes import Writes
from syncret.daemon.homes.contract import Conflict, HomeError, NotFound, StoredObject
from syncret.daemon.install.crds import crd_names
from syncret.daemon.install.operator.choices import Choices
from syncret.daemon.install.operator.rendering import CERTIFICATE
from syncret.daemon.operator.cluster import CRD, Cluster
from syncret.daemon.operator.contests import Contests
from syncret.daemon.operator.handover import INJECT


class Injection:
    """Sets the annotation, and remembers where it was set, to distinguish a repair from the first time."""

    def __init__(self, cluster: Cluster, contests: Contests) -> None:
        self._cluster = cluster
        self._contests = contests
        self._names = crd_names(cluster.catalog)
        self._set: set[ObjectRef] = set()

    def missing(self) -> Iterator[str]:
        """The names of the CRDs that are not there."""
        for name in self._names:
            if self._cluster.inventory.get(ObjectRef(*CRD, "", name)) is None:
                yield name

    async def annotate(self, chosen: Choices, writes: Writes) -> HomeError | None:
        """Set it on all CRDs that are there, or remove ours; returns the failure of one of them.

        A CRD that cannot be written does not stop the others.
        """
        failure: HomeError | None = None
        injects = chosen.cert_manager is not None and chosen.cert_manager.inject
        ours = f"{chosen.namespace}/{CERTIFICATE}"
        for name in self._names:
            ref = ObjectRef(*CRD, "", name)
            live = self._cluster.inventory.get(ref)
            if live is None or (_injected(live) == ours) == injects:
                continue
            if self._contests.waits(ref, self._cluster.now()):
                continue
            try:
                await self._write(live, ours if injects else None, writes)
            except (NotFound, Conflict):
                continue  # the event of that change begins a run
            except HomeError as error:
                failure = failure or error
        return failure

    async def _write(self, live: StoredObject, value: str | None, writes: Writes) -> None:
        applier = self._cluster.applier
        await writes.call(lambda: applier.merge(live, {"annotations": {INJECT: value}}))
        if value is None:
            self._set.discard(live.ref)
        elif live.ref in self._set:
            self._cluster.metrics.repaired(live.ref.kind)
            self._contests.repaired(live.ref, "", self._cluster.now())
        else:
            self._set.add(live.ref)


def _injected(crd: StoredObject) -> object:
    return member(crd.document, "metadata", "annotations").get(INJECT)
