"""One pass over the manifests, for `syncret sync` and `plan`: syncs what is due, collects the results."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from syncret.config.fields import Json
from syncret.config.meta import Document, GroupKind, ObjectRef, is_list, member, ref_of
from syncret.config.resources.base import GROUP
from syncret.config.resources.kinds import GENERATOR_STATE, NAMESPACE, is_shown, role_of
from syncret.config.settings import Settings
from syncret.daemon.app import EngineOverrides, RunningEngine, run_engine
from syncret.daemon.core.conditions import CONSTRAINTS_SATISFIED
from syncret.daemon.core.own_identity import verdicts_of
from syncret.daemon.core.ownership import MANAGED, controller_of
from syncret.daemon.core.plan.actions import LastError, OutputChange
from syncret.daemon.delivery.opening import deliveries_of
from syncret.daemon.dry_run import dry_run_generator, dry_run_provider
from syncret.daemon.engine.clock import Clock
from syncret.daemon.homes.contract import Home, HomeProblem
from syncret.daemon.ops.pass_recorder import PassRecorder
from syncret.providers.kit.ambient.rules import Rules, Verdict
from syncret.providers.pushes import RemoteTarget
from syncret.providers.registry import Registry

if TYPE_CHECKING:  # few hosts have one
    from syncret.daemon.cache.cache import OfflineCache


@dataclass(kw_only=True, repr=False)
class SyncResult:
    """The result of one pass."""

    outputs: list[Document] = field(default_factory=list[Document])
    """Objects that reconcilers wrote, in this pass or an earlier one, as Kubernetes would store them."""
    resources: list[Document] = field(default_factory=list[Document])
    """Objects of the manifests, with their status."""
    written: list[OutputChange] = field(default_factory=list[OutputChange])
    """Writes to outputs, in their order."""
    pushes: list[tuple[str, ObjectRef, RemoteTarget]] = field(
        default_factory=list[tuple[str, ObjectRef, RemoteTarget]]
    )
    """Writes to stores that a dry run did not make."""
    receivers: list[tuple[ObjectRef, Verdict]] = field(default_factory=list[tuple[ObjectRef, Verdict]])
    """The receivers to which stores and generators send the daemon's own identity, for a dry run."""
    problems: list[HomeProblem] = field(default_factory=list[HomeProblem])
    errors: dict[ObjectRef, LastError] = field(default_factory=dict[ObjectRef, LastError])
    """The error of each object that failed."""
    places: dict[ObjectRef, str] = field(default_factory=dict[ObjectRef, str])
    """File and line of the manifest of each object that is reconciled, if a file defines it."""
    due: dict[ObjectRef, float] = field(default_factory=dict[ObjectRef, float])

    @property
    def failures(self) -> dict[ObjectRef, str]:
        """The error of each object that failed, with its remedy."""
        return {ref: str(error) for ref, error in self.errors.items()}

    @property
    def violations(self) -> dict[ObjectRef, str]:
        """By object, which constraints its values violate, also where they are written all the same."""
        found = {ref_of(each): _violation(each) for each in self.resources}
        return {ref: message for ref, message in found.items() if message is not None}

    @property
    def made_elsewhere(self) -> list[str]:
        """The generators whose results must be renewed or removed later, such as a lease of Vault."""
        records = [each for each in (*self.outputs, *self.resources) if each["kind"] == GENERATOR_STATE.kind]
        made = [member(each, "spec", "resource") for each in records]
        return sorted({f"{each['kind']}/{member(each, 'metadata').get('name', '')}" for each in made})

    @property
    def invalid(self) -> bool:
        return any(each.problem.fatal for each in self.problems)


async def one_pass(
    settings: Settings,
    registry: Registry,
    *,
    dry_run: bool = False,
    include_all: bool = True,
    allow_empty: bool = False,
    deliver: bool = True,
    progress: Callable[[int, int], None] | None = None,
    cache: "OfflineCache | None" = None,
) -> SyncResult:
    """Sync once. Raises ConfigError, StateError or StorageUnavailable if it cannot begin.

    With `allow_empty`, paths without manifests mean that what they said before is to be deleted. Without
    `deliver` Deliveries are left alone. What stores do not answer is taken from the `cache`.

    Without `include_all` the result has only the kinds that are reconciled: to include a written Secret, its
    files would have to be read.
    """
    from syncret.daemon.homes.filesystem.opening import host_home  # the daemon of a cluster prints tables too

    result = SyncResult()
    clock = Clock()
    recorder = PassRecorder(progress)

    def on_push(operation: str, store: ObjectRef, target: RemoteTarget) -> None:
        result.pushes.append((operation, store, target))

    home = host_home(
        settings,
        registry,
        now=clock.now,
        on_problems=lambda found: _replace_all(result.problems, found),
        on_removed=recorder.output_removed,
        dry=dry_run,
        once=True,
        allow_empty=allow_empty,
    )
    async with home:
        hooks = EngineOverrides(
            observer=recorder,
            applied=recorder.applied,
            substitute=dry_run_provider(on_push) if dry_run else None,
            generator=dry_run_generator if dry_run else None,
            deliveries=deliveries_of(settings, home.digest_key if deliver else None, once=True, dry=dry_run),
            cache=cache,
        )
        async with run_engine(
            home, registry=registry, settings=settings, clock=clock, hooks=hooks
        ) as running:
            await running.engine.wait_idle()
            result.written = recorder.changes()
            await collect(home, running, result, include_all=include_all)
            if dry_run:
                result.receivers += await _receivers(home, registry, Rules.of(settings, os.environ))
    return result


async def _receivers(home: Home, registry: Registry, rules: Rules) -> list[tuple[ObjectRef, Verdict]]:
    kinds = [kind for kind in sorted(home.kinds()) if role_of(kind) in {"store", "generator"}]
    users = [stored for kind in kinds for stored in await home.list(kind)]
    return [(user.ref, verdict) for user in users for verdict in verdicts_of(user.document, registry, rules)]


def _violation(document: Document) -> str | None:
    conditions: Json = member(document, "status").get("conditions")
    for each in conditions if is_list(conditions) else ():
        if each["type"] == CONSTRAINTS_SATISFIED and each["status"] == "False":
            return str(each["message"])
    return None


def _replace_all(problems: list[HomeProblem], found: Sequence[HomeProblem]) -> None:
    problems[:] = found


async def collect(home: Home, running: RunningEngine, result: SyncResult, *, include_all: bool) -> None:
    """Add what the home holds now to the result."""
    for kind in sorted(home.kinds()):
        reconciled = is_shown(kind) or role_of(kind) in {"record", None}
        if not (include_all or reconciled):
            continue
        for stored in await home.list(kind):
            document = stored.document
            document["metadata"].pop("managedFields", None)
            if is_output(document):
                result.outputs.append(document)
            elif not _is_implied(kind, document):
                result.resources.append(document)
            if reconciled:
                failure = running.engine.unreported(stored.ref) or running.context.memory.failure(stored.ref)
                if failure is not None:
                    result.errors[stored.ref] = failure
                place = running.context.manifest_place(stored.ref)
                if place is not None:
                    result.places[stored.ref] = place
                due = running.engine.due(stored.ref)
                if due is not None:
                    result.due[stored.ref] = due


def is_output(document: Document) -> bool:
    """Whether one of the reconcilers wrote the object."""
    labels = member(document, "metadata", "labels")
    owner = controller_of(document)
    return labels.get(MANAGED) == "true" or (owner is not None and owner.api_version.startswith(GROUP))


def _is_implied(kind: GroupKind, document: Document) -> bool:
    """Whether it is a namespace without a manifest, which exists because an object is in it."""
    labels = member(document, "metadata", "labels")
    return kind == NAMESPACE.group_kind and labels == {
        "kubernetes.io/metadata.name": document["metadata"]["name"]
    }
