"""Reconciles the ExternalSecretsConfig: installs what it says, and writes its status."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

import msgspec

from syncret.config.errors import ConfigError
from syncret.config.meta import Document, GroupKind, ObjectRef, is_object, member
from syncret.daemon.engine.reconciler import ANY, OBJECT, Dependency, Outcome
from syncret.daemon.engine.writes import Writes, delete_if_there
from syncret.daemon.homes.contract import Forbidden, HomeError, Invalid, StoredObject
from syncret.daemon.homes.kubernetes.api import NotAllowed
from syncret.daemon.install.operator.checks import Installed, problems
from syncret.daemon.install.operator.choices import Choices, choices
from syncret.daemon.install.operator.rendering import is_left_alone, name_of, wanted
from syncret.daemon.operator.apply import Installer, Step
from syncret.daemon.operator.cluster import (
    CERTIFICATE,
    CONFIG,
    DEPLOYMENT,
    MANAGER,
    OBJECTS,
    WATCHED,
    Cluster,
)
from syncret.daemon.operator.handover import Handover
from syncret.daemon.operator.injection import Injection
from syncret.daemon.operator.prerequisites import NotYet, check_prerequisites
from syncret.daemon.operator.status import Report, State, status_of, waiting
from syncret.daemon.operator.takeover import MANAGED_ANNOTATIONS, listed

INSTALLED: Final = "externalsecretsconfig.operator.openshift.io/installed"
"""The annotation with the choices that cannot change any more."""

FINALIZERS: Final = frozenset({"externalsecretsconfigs.operator.openshift.io/external-secrets-controller"})
"""Of another operator, which may no longer run and remove them."""

FIRST: Final = 3
"""The objects that all others need: the namespace, and our own rights in it."""

AGAIN: Final = 30.0
"""Seconds after which a failure that may pass is tried again at the latest."""

AGAIN_IF_FATAL: Final = 300.0
RIGHTS_ARE_KNOWN_WITHIN: Final = 5.0
"""Seconds after which a right that was just given must count."""

MOST_NAMED: Final = 10
"""The most objects that are named in one event."""


class Done(NamedTuple):
    """The result of a run that was not interrupted by an error."""

    pending: str
    """What the installation still waits for."""
    not_annotated: HomeError | None
    """Why a CRD could not be annotated."""


class ConfigReconciler:
    """Brings the installation to what its configuration says."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._installer = Installer(cluster)
        self._injection = Injection(cluster, self._installer.contests)
        self._managed: StoredObject | None = None
        """The configuration as the last run saw it; None: the event about its end was recorded."""

    @property
    def group_kind(self) -> GroupKind:
        """As `Reconciler` says."""
        return CONFIG.group_kind

    def dependencies(self, stored: StoredObject) -> Iterable[Dependency]:
        """All that is installed, the manager, and what certificates come from."""
        del stored
        for kind in WATCHED:
            if kind == MANAGER.group_kind:
                yield Dependency(MANAGER, OBJECT)
            elif kind != CONFIG.group_kind:
                yield Dependency(ObjectRef(*kind, ANY, ANY))

    async def reconcile(self, ref: ObjectRef, writes: Writes) -> Outcome:
        """As `Reconciler` says."""
        stored = self._cluster.inventory.get(ref)
        if stored is None or ref != CONFIG:
            self._record_end(self._managed if ref == CONFIG else None)
            self._cluster.metrics.ended()
            self._cluster.wake(MANAGER)
            return Outcome()
        held = stored.document["metadata"].get("finalizers", [])
        if FINALIZERS.intersection(held):
            stored = await writes.set_finalizers(stored, [each for each in held if each not in FINALIZERS])
        if stored.document["metadata"].get("deletionTimestamp"):  # another finalizer holds it
            self._record_end(stored)
            return Outcome()
        self._managed = stored
        manager = self._cluster.inventory.get(MANAGER)
        chosen = choices(
            stored.document, {} if manager is None else manager.document, self._cluster.environment
        )
        report, outcome = await self._report(stored, chosen, writes)
        self._cluster.metrics.ran(report.state)
        await self._write_status(report, writes)
        return outcome

    async def _report(self, stored: StoredObject, chosen: Choices, writes: Writes) -> tuple[Report, Outcome]:
        """Install, and report the result."""
        try:
            done = await self._install(stored, chosen, writes)
        except ConfigError as error:
            text = "; ".join(str(each) for each in error.problems)
            return self._of("failed", chosen, text), Outcome(self._cluster.now() + AGAIN_IF_FATAL)
        except NotYet as reason:
            return self._of("progressing", chosen, str(reason)), Outcome(self._cluster.now() + reason.seconds)
        except HomeError as error:
            return self._failure(error, chosen, None)
        if done.not_annotated is not None:
            return self._failure(done.not_annotated, chosen, str(done.not_annotated))
        state: State = "progressing" if done.pending else "ready"
        report = self._of(state, chosen, done.pending, "")
        return report, Outcome(self._cluster.now() + self._cluster.resync)

    def _failure(
        self, error: HomeError, chosen: Choices, not_annotated: str | None
    ) -> tuple[Report, Outcome]:
        now = self._cluster.now()
        if self._is_fatal(error):
            return self._of("failed", chosen, str(error), not_annotated), Outcome(now + AGAIN_IF_FATAL)
        report = self._of("progressing", chosen, str(error), not_annotated)
        return report, Outcome(now + AGAIN, failure=error)

    def _is_fatal(self, error: HomeError) -> bool:
        """Whether only a change helps. Rights that were just given may not be in effect yet."""
        if isinstance(error, NotAllowed):
            return self._cluster.now() - self._installer.rights_since > RIGHTS_ARE_KNOWN_WITHIN
        return isinstance(error, Invalid) and not isinstance(error, Forbidden)

    def _of(self, state: State, chosen: Choices, message: str, not_annotated: str | None = None) -> Report:
        environment = self._cluster.environment
        return Report(
            state=state,
            message=message,
            ignored=chosen.ignored,
            injects=chosen.cert_manager is not None and chosen.cert_manager.inject,
            not_annotated=not_annotated,
            image=environment.image,
            bitwarden_image=environment.bitwarden_image if chosen.bitwarden is not None else "",
        )

    async def _install(self, stored: StoredObject, chosen: Choices, writes: Writes) -> Done:
        """Install what is chosen. Raises ConfigError, NotYet, HomeError."""
        cluster = self._cluster
        found = list(problems(chosen, cluster.environment, installed(stored.document)))
        if found:
            raise ConfigError(found)
        if chosen.namespace != cluster.namespace:
            cluster.move(chosen.namespace)
            raise NotYet(f"begins to watch namespace {chosen.namespace}")
        documents = wanted(chosen, cluster.environment, cluster.catalog)
        await check_prerequisites(cluster, chosen)
        is_new = installed(stored.document) is None
        stored = await self._note(stored, chosen, writes)
        handover = await Handover.of(cluster, chosen)
        if handover is not None:
            await handover.begin(writes)
            documents = handover.allowed(documents, FIRST)
        steps, there = await self._installer.install(documents, FIRST, writes, listed(stored.document))
        self._record_steps(stored, steps)
        if is_new:
            self._record_found(stored, there)
        unseen = [kind for kind in OBJECTS if kind != CERTIFICATE and cluster.inventory.is_unknown(kind)]
        if unseen:  # rights that were just given are not known at once
            cluster.applier.retry_unknown(unseen)
            kinds = ", ".join(map(str, unseen))
            raise NotYet(f"waits for the watches of namespace {chosen.namespace}: {kinds}")
        if handover is not None:
            await handover.end(writes)
        if handover is None or handover.is_over():
            await self._clean_up(stored, documents, chosen, writes)
            if MANAGED_ANNOTATIONS in member(stored.document, "metadata", "annotations"):
                stored = await self._annotate(stored, MANAGED_ANNOTATIONS, None, writes)
        not_annotated = None
        if handover is None or handover.is_over():
            not_annotated = await self._injection.annotate(chosen, writes)
        cluster.metrics.installed(Counter(each.ref.kind for each in cluster.ours()))
        waits = "" if handover is None else handover.waits
        pending = (*self._missing_crds(), waits, self._waits_for(documents), self._contested())
        return Done("; ".join(filter(None, pending)), not_annotated)

    async def _note(self, stored: StoredObject, chosen: Choices, writes: Writes) -> StoredObject:
        """Write down the choices that cannot change any more, before the first object is installed."""
        before = installed(stored.document)
        now = Installed(chosen.namespace, chosen.cert_manager is not None)
        if before == now:
            return stored
        text = msgspec.json.encode({"namespace": now.namespace, "certManager": now.cert_manager}).decode()
        return await self._annotate(stored, INSTALLED, text, writes)

    async def _annotate(
        self, stored: StoredObject, name: str, value: str | None, writes: Writes
    ) -> StoredObject:
        return await writes.call(lambda: self._cluster.applier.merge(stored, {"annotations": {name: value}}))

    async def _clean_up(
        self, stored: StoredObject, documents: Sequence[Document], chosen: Choices, writes: Writes
    ) -> None:
        """Delete what is marked as ours and not wanted any more."""
        names = {name_of(each)[1:] for each in documents}
        for each in list(self._cluster.ours()):
            document = each.document
            if name_of(document)[1:] in names or is_left_alone(document, chosen):
                continue
            if await delete_if_there(writes, each):
                self._record(stored, "Removed", f"{each.ref} removed")

    def _missing_crds(self) -> Iterator[str]:
        lacking = [*self._injection.missing()]
        if lacking:
            more = f" and {len(lacking) - MOST_NAMED} more" if len(lacking) > MOST_NAMED else ""
            yield f"CRDs are missing (see syncret export crds): {', '.join(lacking[:MOST_NAMED])}{more}"

    def _waits_for(self, documents: Sequence[Document]) -> str:
        return waiting(
            (each["metadata"]["name"], None if live is None else live.document)
            for each in documents
            if each["kind"] == DEPLOYMENT.kind
            for live in (self._cluster.live(each),)
        )

    def _contested(self) -> str:
        return "; ".join(
            f"{ref} is contested: {other or 'another writer'} changes it again and again"
            for ref, other in self._installer.contested.items()
        )

    async def _write_status(self, report: Report, writes: Writes) -> None:
        newest = self._cluster.inventory.get(CONFIG)
        if newest is None:
            return
        status = status_of(newest.document, report, self._cluster.now())
        if status != member(newest.document, "status"):
            await writes.update_status(newest, status)
            self._cluster.wake(MANAGER)

    # ------------------------------------------------------------------------------------------------- events
    def _record_steps(self, stored: StoredObject, steps: Sequence[Step]) -> None:
        """One event for each verb, with the objects that it was done to."""
        for verb in dict.fromkeys(each.verb for each in steps):
            names = [str(each.ref) for each in steps if each.verb == verb]
            more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
            message = f"{verb}: {', '.join(names[:MOST_NAMED])}{more}"
            self._record(stored, "Reconciled", message)
        for ref, other in self._installer.contested.items():
            if any(each.ref == ref for each in steps):
                message = f"{ref} is changed by {other or 'others'} again and again: left for ten minutes"
                self._record(stored, "Contested", message, warning=True)

    def _record_found(self, stored: StoredObject, found: Sequence[ObjectRef]) -> None:
        """Name each object that was there before a new configuration: they are taken over."""
        for begin in range(0, len(found), MOST_NAMED):
            names = ", ".join(map(str, found[begin : begin + MOST_NAMED]))
            message = f"there already, perhaps from an earlier installation, and taken over: {names}"
            self._record(stored, "ResourceAlreadyExists", message, warning=True)

    def _record_end(self, stored: StoredObject | None) -> None:
        """Record once that the installation is not managed any more."""
        if self._managed is None or stored is None:
            return
        self._managed = None
        message = "not managed any more; what is installed stays"
        self._record(stored, "RemoveDeployment", message, warning=True)

    def _record(self, stored: StoredObject, reason: str, message: str, *, warning: bool = False) -> None:
        self._cluster.record_event(stored, warning=warning, reason=reason, message=message)


def installed(config: Document) -> Installed | None:
    """The choices in the annotation; None if it is missing or cannot be read."""
    text = member(config, "metadata", "annotations").get(INSTALLED, "")
    try:
        found = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return None
    if not is_object(found) or not isinstance(found.get("namespace"), str):
        return None
    return Installed(found["namespace"], found.get("certManager") is True)
