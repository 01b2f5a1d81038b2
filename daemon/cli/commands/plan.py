"""`syncret plan`: what a sync would create, change and delete; key names, never values."""

import asyncio
import sys
from argparse import Namespace
from typing import Final

from syncret.config.meta import Document
from syncret.config.visible import printable
from syncret.daemon.cli.exit_codes import FAILED, INVALID, OK
from syncret.daemon.cli.printing import print_json, report_problems
from syncret.daemon.cli.settings import NO_OUTPUT_DIR, ONE_SHOT, run_guarded, settings_with_manifests
from syncret.daemon.core.plan.actions import Verb
from syncret.daemon.one_pass import SyncResult, one_pass
from syncret.daemon.process import keep_memory_private
from syncret.providers.registry import Registry

SIGNS: Final = {Verb.CREATE: "+", Verb.UPDATE: "~", Verb.DELETE: "-"}


def run(options: Namespace) -> int:
    """Make a dry run of a pass, and print what it would write."""
    return run_guarded(lambda: _run(options))


def _run(options: Namespace) -> int:
    keep_memory_private()
    settings = settings_with_manifests(options, defaults=ONE_SHOT)
    result = asyncio.run(
        one_pass(settings, Registry(), dry_run=True, include_all=False, allow_empty=options.allow_empty)
    )
    report_problems((each.source, each.problem) for each in result.problems)
    if options.output == "json":
        print_json(_as_document(result), indent=2)
    else:
        _print_text(result)
        if not settings.output_dir:
            sys.stderr.write(f"compared with no files: {NO_OUTPUT_DIR}\n")
    if result.invalid:
        return INVALID
    return FAILED if result.failures else OK


def _as_document(result: SyncResult) -> Document:
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
        "failures": [
            {"object": str(ref), "message": message} for ref, message in sorted(result.failures.items())
        ],
    }


def _print_text(result: SyncResult) -> None:
    out = sys.stdout
    for change in result.written:
        out.write(f"{SIGNS[change.verb]} {change.ref}\n")
        for sign, keys in (("+", change.added), ("~", change.changed), ("-", change.removed)):
            for key in keys:
                out.write(f"    {sign} {printable(key)}\n")
    for action, store, target in result.pushes:
        place = "/".join(filter(None, target))
        out.write(f"{'-' if action == 'delete' else '>'} {printable(place)} in {store}\n")
    for ref, verdict in result.receivers:
        if verdict.allowed and not verdict.usual:
            out.write(printable(f"i {ref}: {verdict}") + "\n")
    for ref, message in sorted(result.failures.items()):
        place = f" ({result.places[ref]})" if ref in result.places else ""
        out.write(printable(f"! {ref}{place}: {message}") + "\n")
    if not (result.written or result.pushes or result.failures):
        out.write("nothing would change\n")
