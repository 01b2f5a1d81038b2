"""Supervises the program with values that are kept up to date."""

import asyncio
from argparse import Namespace

from msgspec.structs import replace

from syncret.config.settings import Settings
from syncret.daemon.cli.program.caching import cached
from syncret.daemon.cli.program.environment import check_result, environment_of
from syncret.daemon.cli.program.inherited import Inherited
from syncret.daemon.cli.program.not_run import NotRun
from syncret.daemon.cli.program.signal_queue import block_signals
from syncret.daemon.cli.program.supervising import Reaction, Supervisor
from syncret.daemon.followed_pass import followed_pass
from syncret.providers.registry import Registry


def supervise(options: Namespace, settings: Settings, inherited: Inherited) -> int:
    """Run the program to its end; its exit code, negative for a signal. Raises NotRun."""
    block_signals()
    supervisor = Supervisor(options.program, _reaction(options), inherited)
    try:
        over = asyncio.run(_supervise(supervisor, options, settings))
    except asyncio.CancelledError:
        if not supervisor.ended_by:
            raise
        return -supervisor.ended_by
    if isinstance(over, NotRun):
        raise over
    return over


def _reaction(options: Namespace) -> Reaction:
    """What the command line says, and the defaults where it says nothing."""
    number = options.on_change
    reaction = Reaction(how="signal" if number else "restart", number=number)
    given = {
        name: getattr(options, name)
        for name in ("stop_signal", "stop_timeout", "splay", "debounce")
        if getattr(options, name) is not None
    }
    return replace(reaction, **given)


async def _supervise(supervisor: Supervisor, options: Namespace, settings: Settings) -> int | NotRun:
    """The exit code; what kept the program from running is returned, as a task group would wrap it."""
    with supervisor:
        async with (
            cached(settings, wanted=options.cache) as known,
            followed_pass(known.settings, Registry(), known.cache) as followed,
        ):

            async def renew() -> dict[bytes, bytes]:
                return environment_of(await followed.result(), options, settings)

            try:
                first = await followed.result()
                known.settle(first)
                check_result(first)
                environment = environment_of(first, options, settings)
                return await supervisor.run(environment, followed, renew)
            except NotRun as error:
                return error
