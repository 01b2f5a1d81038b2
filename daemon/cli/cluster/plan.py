"""`syncret plan --kubernetes`: what applying files would do to live objects; key names, never values."""

import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from syncret.config.manifests.loader import LoadedDocument, load
from syncret.config.manifests.references import references
from syncret.config.meta import Document, ObjectRef, member
from syncret.config.resources.kinds import EXTERNAL_SECRET, SECRET, SHOWN
from syncret.config.settings import Settings
from syncret.daemon.app import EngineOverrides, RunningEngine, run_engine
from syncret.daemon.cli.cluster.applying import Applied, Applier, Broken, Neighbours
from syncret.daemon.cli.cluster.asking import ask, warnings
from syncret.daemon.cli.commands.plan import as_document, print_changes, print_line
from syncret.daemon.cli.daemon_client import CommandError
from syncret.daemon.cli.exit_codes import FAILED, INVALID, OK
from syncret.daemon.cli.printing import print_json, print_problems
from syncret.daemon.cli.settings import NO_MANIFESTS
from syncret.daemon.cli.terminal import print_error, print_text
from syncret.daemon.dry_run import dry_run_provider, without_generating, without_identity
from syncret.daemon.engine.clock import Clock
from syncret.daemon.engine.observer import Call
from syncret.daemon.homes.kubernetes.rehearsal import NOT_FROM_HERE, Rehearsal
from syncret.daemon.homes.kubernetes.user import UserCluster
from syncret.daemon.one_pass import SyncResult
from syncret.daemon.ops.pass_recorder import PassRecorder
from syncret.daemon.process import keep_memory_private
from syncret.providers.contract import Provider
from syncret.providers.pushes import RemoteTarget
from syncret.providers.registry import Registry

SIGNS: Final = {"create": "+", "update": "~", "unchanged": "=", "refused": "!", "unknown": "?"}
IDENTITY: Final = f"{NOT_FROM_HERE}: it logs in with the identity of the daemon's Pod"
NOT_GENERATED: Final = f"{NOT_FROM_HERE}: a plan lets no generator create anything"
FOR_HOSTS: Final = {"output_dir": "--output-dir", "state": "--state", "allow_empty": "--allow-empty"}


@dataclass(kw_only=True, repr=False)
class ClusterPlan:
    """What a plan would change in a cluster."""

    result: SyncResult = field(default_factory=SyncResult)
    """Of the runs that follow."""
    applied: Sequence[Applied] = ()
    broken: Sequence[Broken] = ()
    unknown: dict[ObjectRef, str] = field(default_factory=dict[ObjectRef, str])
    """Objects whose outcome only the daemon could know, and why."""
    kept: dict[ObjectRef, list[str]] = field(default_factory=dict[ObjectRef, list[str]])
    """The keys that stay as they are, of each target."""
    calls: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    """How often each store was called, by store and operation."""
    denied: Sequence[str] = ()


class _Recorder(PassRecorder):
    """Counts calls to stores, too."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: Counter[tuple[str, str]] = Counter()

    def called(self, call: Call) -> None:
        if call.operation not in {"push", "delete"}:  # a plan reports these without making them
            self.calls[str(call.store), call.operation] += 1


def plan(options: Namespace) -> int:
    """Print the plan; nothing is written anywhere."""
    keep_memory_private()
    try:
        _check(options)
        loaded = load(options.manifests)
        alone = Namespace(**{**vars(options), "manifests": None})
        found = ask(alone, lambda cluster, settings: _planned(cluster, settings, loaded))
    except CommandError as refusal:
        return refusal.report()
    if options.output == "json":
        print_json(_as_document(found), indent=2)
    else:
        _print(found)
    if found.broken or any(each.action == "refused" for each in found.applied):
        return INVALID
    return FAILED if found.result.failures else OK


def _check(options: Namespace) -> None:
    """Raise CommandError for flags that do not go together."""
    for attribute, flag in FOR_HOSTS.items():
        if getattr(options, attribute):
            raise CommandError(f"{flag} is for a host", hint="leave --kubernetes out", code=INVALID)
    if not options.manifests:
        raise CommandError(f"manifests: {NO_MANIFESTS.message}", hint="name them with -f PATH", code=INVALID)


async def _planned(cluster: UserCluster, settings: Settings, loaded: Sequence[LoadedDocument]) -> ClusterPlan:
    registry, clock, recorder = Registry(), Clock(), _Recorder()
    home = Rehearsal(cluster, registry, now=clock.now)
    applier = Applier(cluster, home)
    found = ClusterPlan()
    found.applied, found.broken = await applier.apply(loaded)
    users = await Neighbours(cluster, home).load(found.applied, applier.changed)

    def on_push(operation: str, store: ObjectRef, target: RemoteTarget) -> None:
        found.result.pushes.append((operation, store, target))

    dry, without = dry_run_provider(on_push), without_identity(IDENTITY)

    def substitute(store: ObjectRef, provider: Provider[Any]) -> Provider[Any]:
        return without(dry(store, provider))

    hooks = EngineOverrides(
        observer=recorder,
        applied=recorder.applied,
        substitute=substitute,
        generator=without_generating(NOT_GENERATED),
    )
    async with run_engine(home, registry=registry, settings=settings, clock=clock, hooks=hooks) as running:
        await running.engine.wait_idle()
        for ref in users:
            running.context.memory.request_refresh(ref)
            running.engine.refresh(ref)
        await running.engine.wait_idle()
        found.result.written = recorder.changes()
        found.calls = recorder.calls
        _take_failures(found, home, running)
        found.kept = dict(_kept(found, home))
    found.denied = tuple(cluster.denied)
    return found


def _take_failures(found: ClusterPlan, home: Rehearsal, running: RunningEngine) -> None:
    """The objects that would fail, and apart from them those of which nothing is known from here."""
    documents: dict[ObjectRef, Document] = {}
    applied = {each.ref for each in found.applied}
    for kind in SHOWN:
        for stored in home.snapshot(kind.group_kind):
            if kind.role == "store" and stored.ref not in applied:
                continue  # it is as it is: what it means to others is said there
            error = running.engine.unreported(stored.ref) or running.context.memory.failure(stored.ref)
            if error is not None:
                documents[stored.ref] = stored.document
                found.result.errors[stored.ref] = error
    found.result.places = {each.ref: each.place for each in found.applied}
    for ref, message in found.result.failures.items():
        if NOT_FROM_HERE in message:
            found.unknown[ref] = message
    for ref, document in documents.items():  # what waits for a store that is not known is not known, too
        reasons = (found.unknown.get(each.target) for each in references(document))
        reason = next(filter(None, reasons), None)
        if reason is not None:
            found.unknown.setdefault(ref, reason)
    for ref in found.unknown:
        del found.result.errors[ref]


def _kept(found: ClusterPlan, home: Rehearsal) -> Iterator[tuple[ObjectRef, list[str]]]:
    """The keys that stay as they are in what is written, and in the targets to which nothing happens."""
    changes = {change.ref: {*change.added, *change.changed} for change in found.result.written}
    targets = dict.fromkeys(change.ref for change in found.result.written if change.verb != "delete")
    failed = {*found.result.errors, *found.unknown}
    for stored in home.snapshot(EXTERNAL_SECRET.group_kind):
        bound = member(stored.document, "status", "binding").get("name")
        if bound and stored.ref not in failed and "manifest" not in _target(stored.document):
            targets.setdefault(SECRET.ref(stored.ref.namespace, bound))
    standing = {stored.ref: stored for stored in home.snapshot(SECRET.group_kind)}
    for ref in targets:
        if ref in standing:
            keys = member(standing[ref].document, "data").keys()
            yield ref, sorted(keys - changes.get(ref, set()))


def _target(document: Document) -> Document:
    return member(document, "spec", "target")


def _as_document(found: ClusterPlan) -> Document:
    return {
        **as_document(found.result),
        "objects": [each.as_document() for each in found.applied],
        "invalid": [{"place": each.place, **each.problem.as_document()} for each in found.broken],
        "unchanged": [{"object": str(ref), "keys": keys} for ref, keys in found.kept.items()],
        "unknown": [{"object": str(ref), "message": text} for ref, text in sorted(found.unknown.items())],
        "calls": [
            {"store": store, "operation": operation, "count": count}
            for (store, operation), count in sorted(found.calls.items())
        ],
        "problems": warnings(found.denied),
    }


def _print(found: ClusterPlan) -> None:
    print_problems(sys.stderr, ((each.place, each.problem) for each in found.broken))
    for each in found.applied:
        tried = "" if each.tried else " (by rules of ours: the API server was not asked)"
        said = f" ({each.place}): {each.message}" if each.message else ""
        print_line(SIGNS[each.action], f"{each.ref}{said}{tried}")
    for ref, message in sorted(found.unknown.items()):
        print_line("?", f"{ref}: {message}")
    _print_result(found)
    if found.calls:
        print_text(sys.stdout, f"called: {', '.join(_called(found.calls))}")
    for denied in found.denied:
        print_error(denied)


def _print_result(found: ClusterPlan) -> None:
    written = {change.ref for change in found.result.written}
    if found.result.written or found.result.failures or found.result.pushes:
        print_changes(found.result, kept=found.kept)
    elif all(each.action == "unchanged" for each in found.applied) and not found.unknown:
        sys.stdout.write("nothing would change\n")
    for ref in found.kept:
        if ref not in written:
            print_line("=", str(ref))


def _called(calls: Mapping[tuple[str, str], int]) -> Iterable[str]:
    for (store, operation), count in sorted(calls.items()):
        yield f"{store} ({operation}{f' {count} times' if count > 1 else ''})"
