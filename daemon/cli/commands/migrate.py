"""`syncret migrate`: what would change in a cluster if syncret took over from ESO; it writes nothing."""

import asyncio
import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from syncret.config.settings import IN_CLUSTER
from syncret.config.settings_layers import load_settings
from syncret.config.text.yaml import to_yaml
from syncret.daemon.cli.columns import Column, Row, print_table
from syncret.daemon.cli.exit_codes import FAILED, OK
from syncret.daemon.cli.migration.definitions import advice
from syncret.daemon.cli.migration.effects import (
    definitions_in,
    effects_of_takeover,
    operator_in,
    read_only_cluster,
)
from syncret.daemon.cli.migration.operator import Part, translated
from syncret.daemon.cli.migration.report import Migration
from syncret.daemon.cli.printing import print_json
from syncret.daemon.cli.settings import run_guarded, settings_of
from syncret.daemon.cli.terminal import Style, paint, print_text
from syncret.daemon.process import keep_memory_private
from syncret.providers.registry import Registry

COLUMNS: Final = (
    Column("OBJECT", "flexible", "middle"),
    Column("WOULD", is_verdict=True),
    Column("WHAT", "flexible", "middle"),
    Column("BECAUSE", "message"),
)
FEW: Final = 5
"""So many names of a list are shown."""


def run(options: Namespace) -> int:
    """Print the report; exit 1 unless a takeover would change nothing."""
    return run_guarded(lambda: _run(options))


def _run(options: Namespace) -> int:
    keep_memory_private()
    found = asyncio.run(_migration(options))
    if options.output == "json":
        print_json(found.as_document(), indent=2)
    else:
        _print(found)
    return OK if found.is_clean else FAILED


async def _migration(options: Namespace) -> Migration:
    """The report for a daemon with ESO's flags as settings, overridden by those of the command line."""
    registry = Registry()
    settings = settings_of(options, defaults=IN_CLUSTER)
    async with read_only_cluster(settings, registry, everywhere=True) as home:
        parts, unseen = await operator_in(home, settings.migration.namespace)
        controller = next((each for each in parts if not each.subcommand), None)
        flags = translated(() if controller is None else controller.arguments)
        theirs = load_settings(None, {}, flags.settings, defaults=IN_CLUSTER)
        findings, more = await definitions_in(home, registry)
    settings = settings_of(options, defaults=theirs)
    environment: Mapping[str, str] = {} if controller is None else controller.variables
    async with read_only_cluster(settings, registry) as home:
        seen = await effects_of_takeover(home, settings, registry, environment)
    return Migration(seen=seen, parts=parts, translated=flags, findings=findings, unseen=[*unseen, *more])


def _print(found: Migration) -> None:
    _print_operator(found)
    _print_objects(found)
    _print_identities(found)
    for what, commands in advice(found.findings):
        _say(f"\n{what}:", *(f"  {each}" for each in commands))
    for each in (*found.seen.unseen, *found.unseen):
        _say(f"\nnot looked at: {each}")
    if found.is_clean:
        _say(f"\n{paint(sys.stdout, 'clean', Style.GOOD)}: a takeover changes nothing. The next steps:")
        _say(*(f"  {number}. {step}" for number, step in enumerate(_steps(found.parts), 1)))
    else:
        _say(f"\n{paint(sys.stdout, 'NOT CLEAN', Style.BAD)}: {', '.join(found.reasons)}")


def _print_operator(found: Migration) -> None:
    if not found.parts:
        _say("no Deployment of ESO is here (another namespace: --set migration.namespace=NAME)")
    for each in found.parts:
        _say(f"ESO: Deployment {each}, {each.replicas} replicas of {each.image}")
    flags = found.translated
    if flags.settings:
        _say("\nits flags, as settings of the daemon:")
        _say(*(f"  {each.name}: {each.value}" for each in flags.settings))
    if flags.without_effect:
        _say(f"without effect here: {', '.join(name for name, _ in flags.without_effect)}")
    for flag in flags.impossible:
        _say(f"{paint(sys.stdout, 'cannot be had', Style.BAD)}: {flag}")
    names = sorted({name for each in found.parts for name in each.variables if not each.subcommand})
    if names:
        _say(f"variables of its environment, to give to the daemon if they matter: {', '.join(names)}")


def _print_objects(found: Migration) -> None:
    rows = [
        Row(
            (str(ref), each.verb, "itself" if each.ref == ref else str(each.ref), each.detail or "-"),
            Style.BAD,
        )
        for ref, held in found.changes.items()
        for each in held
    ]
    rows += [
        Row((str(ref), "fail", "itself", str(error)), Style.BAD)
        for ref, error in sorted(found.seen.errors.items())
    ]
    rows += [
        Row((str(ref), "fail", "itself", f"syncret cannot reach {vendor} yet"), Style.BAD)
        for ref, vendor in sorted(found.seen.unreachable.items())
    ]
    if rows:
        sys.stdout.write("\n")
        print_table(COLUMNS, rows)
    _say(f"\n{found.seen.objects} objects: {len(found.changes)} would be changed")
    if found.due:
        more = ", ..." if len(found.due) > FEW else ""
        names = ", ".join(str(each) for each in found.due[:FEW])
        _say(f"{len(found.due)} are due by now, and their secret managers would be asked: {names}{more}")


def _print_identities(found: Migration) -> None:
    identities = found.seen.identities
    if not identities.lost:
        return
    _say("\nThese log in as the operator itself, to servers that must be allowed for that:")
    for each in identities.lost:
        _say(f"  {each.ref}: {each.verdict.reason}")
    if identities.receivers:
        _say("settings with which they still do:")
        sys.stdout.write("".join(f"  {line}\n" for line in to_yaml(identities.setting).splitlines()))
    for each in identities.remaining:
        _say(f"no setting helps {each.ref}: {each.verdict.reason} ({each.verdict.hint})")


def _steps(parts: Sequence[Part]) -> Iterator[str]:
    yield "run syncret with observe: true beside ESO for a refresh interval: nothing may be left to write"
    for each in parts or ():
        yield f"kubectl scale deployment {each.name} --namespace {each.namespace} --replicas 0"
    if not parts:
        yield "scale ESO's Deployments to 0"
    yield "run syncret without observe; to go back, do the same the other way round"


def _say(*lines: str) -> None:
    for line in lines:
        head = line[: len(line) - len(line.lstrip("\n"))]
        sys.stdout.write(head)
        text = line[len(head) :]
        indent = " " * (len(text) - len(text.lstrip()))
        print_text(sys.stdout, text.strip(), indent, f"{indent}  ")
