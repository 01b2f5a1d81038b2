"""`syncret sync`: one pass, then exit."""

import asyncio
import sys
import time
from argparse import Namespace
from collections import Counter
from pathlib import Path

from syncret.config.meta import Document
from syncret.daemon.cli.exit_codes import FAILED, INVALID, OK
from syncret.daemon.cli.printing import print_json, print_problems, print_yaml, warn_of_made_elsewhere
from syncret.daemon.cli.settings import NO_OUTPUT_DIR, ONE_SHOT, run_guarded, settings_with_manifests
from syncret.daemon.cli.table import print_objects, rows_of, summary
from syncret.daemon.cli.terminal import Progress, print_text
from syncret.daemon.core.redact import redacted
from syncret.daemon.one_pass import SyncResult, one_pass
from syncret.daemon.process import keep_memory_private, raise_file_limit
from syncret.providers.registry import Registry


def run(options: Namespace) -> int:
    """Sync everything once; the exit code is the result."""
    return run_guarded(lambda: _run(options))


def _run(options: Namespace) -> int:
    keep_memory_private()
    raise_file_limit()
    settings = settings_with_manifests(options, defaults=ONE_SHOT)
    is_table = options.output in {"table", "wide"}
    begin = time.monotonic()
    with Progress(sys.stderr) as progress:
        result = asyncio.run(
            one_pass(
                settings,
                Registry(),
                include_all=not is_table,
                allow_empty=options.allow_empty,
                progress=progress.show,
            )
        )
    print_problems(sys.stderr, ((str(Path(each.source)), each.problem) for each in result.problems))
    warn_of_made_elsewhere(result.made_elsewhere, "have `syncret run` see to it")
    if is_table:
        print_objects(rows_of(result, settings.output_dir), wide=options.output == "wide")
        if not settings.output_dir:
            sys.stdout.write("\n")
            print_text(sys.stdout, f"no file was written: {NO_OUTPUT_DIR}")
        line = summary(
            Counter(change.verb for change in result.written),
            failed=len(result.errors),
            problems=result.problems,
            seconds=time.monotonic() - begin,
            writes=bool(settings.output_dir),
        )
        print_text(sys.stderr, line)
    else:
        show = print_yaml if options.output == "yaml" else print_json
        show(_as_list(result, show_values=options.show_values))
    if result.invalid:
        return INVALID
    return FAILED if result.errors else OK


def _as_list(result: SyncResult, *, show_values: bool) -> Document:
    items = [*result.outputs, *result.resources]
    return {
        "apiVersion": "v1",
        "kind": "List",
        "items": items if show_values else [redacted(item) for item in items],
    }
