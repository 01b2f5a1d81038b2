"""`syncret plan`: what a sync would create, change and delete; key names, never values."""

import asyncio
import sys
from argparse import Namespace
from typing import Final, NamedTuple

from syncret.config.meta import Document
from syncret.config.visible import printable
from syncret.daemon.cli.exit_codes import FAILED, INVALID, OK
from syncret.daemon.cli.printing import print_json, report_problem
from syncret.daemon.cli.settings import run_guarded, settings_of
from syncret.daemon.core.target import changed_keys
from syncret.daemon.one_pass import SyncResult, one_pass
from syncret.daemon.recorded_writes import RecordedWrite
from syncret.providers.registry import Registry

SIGNS: Final = {"create": "+", "update": "~", "delete": "-"}


class Change(NamedTuple):
    """One output that would be written."""

    action: str
    object: str
    added: list[str]
    changed: list[str]
    removed: list[str]


def run(options: Namespace) -> int:
    """Make a dry run of a pass, and print what it would write."""
    return run_guarded(lambda: _run(options))


def _run(options: Namespace) -> int:
    settings = settings_of(options, one_shot=True)
    result = asyncio.run(one_pass(settings, Registry(), dry_run=True, include_all=False))
    for each in result.problems:
        report_problem(each.source, each.problem)
    changes = [_change(written) for written in result.written]
    if options.output == "json":
        print_json(_as_document(changes, result), indent=2)
    else:
        _print_text(changes, result)
    if result.invalid:
        return INVALID
    return FAILED if result.failures else OK


def _change(written: RecordedWrite) -> Change:
    added, changed, removed = changed_keys(written.before, written.after)
    return Change(written.action, str(written.ref), added, changed, removed)


def _as_document(changes: list[Change], result: SyncResult) -> Document:
    return {
        "apiVersion": "syncret.dev/v1alpha1",
        "kind": "Plan",
        "changes": [change._asdict() for change in changes],
        "pushes": [
            {
                "action": action,
                "store": str(store),
                "remoteKey": target.remote_key,
                "property": target.property,
            }
            for action, store, target in result.pushes
        ],
        "failures": [
            {"object": str(ref), "message": message} for ref, message in sorted(result.failures.items())
        ],
    }


def _print_text(changes: list[Change], result: SyncResult) -> None:
    out = sys.stdout
    for change in changes:
        out.write(f"{SIGNS[change.action]} {change.object}\n")
        for sign, keys in (("+", change.added), ("~", change.changed), ("-", change.removed)):
            for key in keys:
                out.write(f"    {sign} {printable(key)}\n")
    for action, store, target in result.pushes:
        place = "/".join(filter(None, target))
        out.write(f"{'-' if action == 'delete' else '>'} {printable(place)} in {store}\n")
    for ref, message in sorted(result.failures.items()):
        out.write(printable(f"! {ref}: {message}") + "\n")
    if not (changes or result.pushes or result.failures):
        out.write("nothing would change\n")
