"""`syncret run`: the daemon."""

import asyncio
import os
import sys
from argparse import Namespace
from collections.abc import Callable
from functools import partial
from typing import Final

from syncret.config.resources.kinds import SHOWN_ON_HOST
from syncret.daemon.admission.in_controller import webhook_service
from syncret.daemon.cli.exit_codes import OK
from syncret.daemon.cli.parser.eso_flags import without_effect
from syncret.daemon.cli.settings import NO_OUTPUT_DIR, run_guarded, settings_of_daemon
from syncret.daemon.cli.table import print_objects, row_of, summary
from syncret.daemon.cli.terminal import Progress, print_text
from syncret.daemon.ops.control import control_service
from syncret.daemon.ops.credential_socket import CredentialSocket
from syncret.daemon.ops.http import health_service, http_service
from syncret.daemon.ops.notify import Notifier
from syncret.daemon.ops.view import View
from syncret.daemon.process import keep_memory_private, raise_file_limit, return_large_blocks
from syncret.daemon.supervisor import Supervisor
from syncret.providers.registry import Registry

MANY: Final = 20
FAILING: Final = 10
"""Of more objects than MANY only those that fail are shown, and of these so many."""

PARTS: Final = ("webhook", "certificates")
"""Values of `--only` for processes without an engine."""


def run(options: Namespace) -> int:
    """Run the daemon until a signal stops it."""
    return run_guarded(lambda: run_daemon(options, announce))


def run_daemon(options: Namespace, announce: Callable[[View], None]) -> int:
    """Run the daemon with the settings of a command line; `announce` is called after the first pass."""
    keep_memory_private()
    return_large_blocks()
    raise_file_limit()
    part = getattr(options, "only", None)
    if part in PARTS:
        from syncret.daemon.admission.standalone import run_standalone  # of a cluster that is split in parts

        asyncio.run(run_standalone(partial(settings_of_daemon, options), part))
        return OK
    credentials = CredentialSocket(os.environ)
    supervisor = Supervisor(
        partial(settings_of_daemon, options),
        registry=Registry(),
        notifier=Notifier.from_environ(os.environ),
        services=(http_service, health_service, control_service, webhook_service, credentials.service),
        offers=credentials.offers,
        passed_over=without_effect(getattr(options, "eso", ()), getattr(options, "eso_dropped", ())),
        announce=announce,
        progress=Progress(sys.stderr) if sys.stdout.isatty() and sys.stderr.isatty() else None,
    )
    try:
        asyncio.run(supervisor.run(exit_with=getattr(options, "exit_with_process", None) or ""))
    finally:
        credentials.close()
    return OK


def announce(view: View) -> None:
    """Print the table of all objects after the first pass, if a person reads the output."""
    if view.settings.log_format == "json" or not (
        sys.stdout.isatty() or view.settings.log_format == "console"
    ):
        return
    _print_objects(view)
    if not view.settings.output_dir and not view.settings.kubernetes:
        sys.stdout.write("\n")
        print_text(sys.stdout, f"no file is written: {NO_OUTPUT_DIR}")
    if view.address:
        url = f"{'https' if view.settings.metrics_tls.enabled else 'http'}://{view.address}"
        status = f"   status: {url}/status" if view.settings.status_on_listen else ""
        sys.stdout.write("\n")
        print_text(sys.stdout, f"metrics: {url}/metrics{status}")
    if view.settings.socket:
        print_text(sys.stdout, f"ask it: syncret status --socket {view.settings.socket}")
    sys.stdout.flush()


def _print_objects(view: View) -> None:
    """Print a table of all objects, or of those that fail if there are many, and what the first pass did."""
    running, settings, recorder = view.running, view.settings, view.recorder
    rows = [
        row_of(
            stored.document,
            error=running.context.memory.failure(stored.ref),
            due=running.engine.due(stored.ref),
            output_dir=settings.output_dir,
        )
        for kind in SHOWN_ON_HOST
        for stored in running.inventory.list(kind.group_kind)
    ]
    failing = [row for row in rows if row.fails]
    shown = rows if len(rows) <= MANY else failing[:FAILING]
    if shown:
        print_objects(shown)
    if len(rows) > MANY:
        hidden = len(failing) - len(shown)
        more = f", {hidden} of them not shown here" if hidden else ""
        print_text(sys.stdout, f"{len(rows)} objects, {len(failing)} not in order{more}")
    if recorder.seconds is not None:
        line = summary(
            recorder.counts(),
            failed=len(running.engine.failing),
            problems=view.problems,
            seconds=recorder.seconds,
            writes=bool(settings.output_dir),
        )
        print_text(sys.stdout, line)
