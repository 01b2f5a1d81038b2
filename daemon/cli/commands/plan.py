"""`syncret plan`: what a sync would create, change and delete; key names, never values."""

import asyncio
import sys
from argparse import Namespace
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from syncret.config.meta import Document, ObjectRef
from syncret.config.visible import printable
from syncret.daemon.cli.exit_codes import FAILED, INVALID, OK
from syncret.daemon.cli.printing import print_json, print_problems
from syncret.daemon.cli.settings import NO_OUTPUT_DIR, ONE_SHOT, run_guarded, settings_with_manifests
from syncret.daemon.cli.terminal import Style, paint, print_error, print_text
from syncret.daemon.core.plan.actions import Verb
from syncret.daemon.one_pass import SyncResult, one_pass
from syncret.daemon.process import keep_memory_private
from syncret.providers.registry import Registry

SIGNS: Final = {Verb.CREATE: "+", Verb.UPDATE: "~", Verb.DELETE: "-"}
NOTHING: Final[Mapping[ObjectRef, Iterable[str]]] = MappingProxyType({})
STYLES: Final = {
    "!": Style.BAD,
    "?": Style.DOUBT,
    "+": Style.GOOD,
    "~": Style.DOUBT,
    "-": Style.BAD,
    ">": Style.GOOD,
}


def run(options: Namespace) -> int:
    """Make a dry run of a pass, and print what it would write."""
    if options.kubernetes:
        from syncret.daemon.cli.cluster.plan import plan

        return plan(options)
    if options.namespace or options.context:
        flag = "-n" if options.namespace else "--context"
        print_error(f"{flag} is for a cluster", "add --kubernetes")
        return INVALID
    return run_guarded(lambda: _run(options))


def _run(options: Namespace) -> int:
    keep_memory_private()
    settings = settings_with_manifests(options, defaults=ONE_SHOT)
    result = asyncio.run(
        one_pass(settings, Registry(), dry_run=True, include_all=False, allow_empty=options.allow_empty)
    )
    print_problems(sys.stderr, ((each.source, each.problem) for each in result.problems))
    if options.output == "json":
        print_json(as_document(result), indent=2)
    else:
        print_changes(result)
        if not settings.output_dir:
            print_text(sys.stderr, f"compared with no files: {NO_OUTPUT_DIR}")
    if result.invalid:
        return INVALID
    return FAILED if result.failures else OK


def as_document(result: SyncResult) -> Document:
    """The changes, pushes, receivers, violated constraints and failures."""
    return {
        "apiVersion": "syncret.dev/v1alpha1",
        "kind": "Plan",
        "changes": [
            {
                "action": change.verb,
                "object": str(change.ref),
                "added": change.added,
                "changed": change.changed,
                "removed": change.removed,
            }
            for change in result.written
        ],
        "pushes": [
            {
                "action": action,
                "store": str(store),
                "remoteKey": target.remote_key,
                "property": target.property,
            }
            for action, store, target in result.pushes
        ],
        "receivers": [{"object": str(ref), **verdict.as_document()} for ref, verdict in result.receivers],
        "violations": _messages(result.violations),
        "failures": _messages(result.failures),
    }


def _messages(messages: Mapping[ObjectRef, str]) -> list[Document]:
    return [{"object": str(ref), "message": message} for ref, message in sorted(messages.items())]


def print_changes(result: SyncResult, *, kept: Mapping[ObjectRef, Iterable[str]] = NOTHING) -> None:
    """A line for each, with its sign; `kept` are keys of outputs that stay as they are."""
    for ref, message in sorted(result.failures.items()):
        place = f" ({result.places[ref]})" if ref in result.places else ""
        print_line("!", f"{ref}{place}: {message}")
    for change in result.written:
        print_line(SIGNS[change.verb], str(change.ref))
        stays = kept.get(change.ref, ())
        for sign, keys in (("+", change.added), ("~", change.changed), ("-", change.removed), ("=", stays)):
            for key in keys:
                print_line(sign, key, indent="    ")
        if change.then:
            print_line("then", change.then, indent="    ")
    for action, store, target in result.pushes:
        place = "/".join(filter(None, target))
        print_line("-" if action == "delete" else ">", f"{place} in {store}")
    _print_notes(result)
    if not (result.written or result.pushes or result.failures):
        sys.stdout.write("nothing would change\n")


def _print_notes(result: SyncResult) -> None:
    """What is no change and worth a word: where the own identity goes, and violations of the policy warn."""
    for ref, verdict in result.receivers:
        if verdict.allowed and not verdict.usual:
            print_line("i", f"{ref}: {verdict}")
    for ref in sorted(result.violations.keys() - result.failures.keys()):
        print_line("i", f"{ref}: {result.violations[ref]}")


def print_line(sign: str, text: str, indent: str = "") -> None:
    """One line with its sign, which is coloured."""
    shown = paint(sys.stdout, sign, STYLES.get(sign, Style.PLAIN))
    print_text(sys.stdout, f"{shown} {printable(text)}", indent, f"{indent}    ")
