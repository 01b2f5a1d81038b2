"""`syncret operator`: installs the daemon in a cluster, and keeps it so."""

import asyncio
from argparse import Namespace
from functools import partial

from msgspec.structs import replace

from syncret.config.settings import IN_CLUSTER, Settings
from syncret.daemon.cli.exit_codes import OK
from syncret.daemon.cli.settings import run_guarded, settings_of
from syncret.daemon.operator.opening import run_operator


def run(options: Namespace) -> int:
    """Run the operator until a signal stops it."""
    return run_guarded(lambda: _run(options))


def _run(options: Namespace) -> int:
    asyncio.run(run_operator(partial(_settings, options)))
    return OK


def _settings(options: Namespace) -> Settings:
    return replace(settings_of(options, defaults=IN_CLUSTER), kubernetes=True)
