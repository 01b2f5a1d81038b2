"""`syncret exec`: one pass in memory, then this process becomes the program, with values as variables."""

import asyncio
import os
import sys
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from syncret.config.settings import Settings
from syncret.daemon.cli.exit_codes import INVALID, OK, UNUSABLE
from syncret.daemon.cli.printing import warn_of_made_elsewhere
from syncret.daemon.cli.program.caching import cached
from syncret.daemon.cli.program.environment import check_result, environment_of
from syncret.daemon.cli.program.inherited import Inherited, close_files_at_exec
from syncret.daemon.cli.program.not_run import NOT_STARTED, NotRun, refused_by_kernel
from syncret.daemon.cli.settings import ONE_SHOT, run_guarded, settings_with_manifests
from syncret.daemon.cli.terminal import print_error
from syncret.daemon.fatal_signal import die_by
from syncret.daemon.one_pass import SyncResult, one_pass
from syncret.daemon.process import keep_memory_private, raise_file_limit
from syncret.providers.registry import Registry

_ONLY_ON_CHANGE: Final = ("debounce", "splay", "stop_signal", "stop_timeout")


def run(options: Namespace) -> int:
    """Become the program, which returns only if that fails; or supervise it until its end."""
    inherited = Inherited.now()
    if options.on_change is not None:
        return _supervised(options, inherited)
    unused = [name for name in _ONLY_ON_CHANGE if getattr(options, name) is not None]
    if unused:
        flag = f"--{unused[0].replace('_', '-')}"
        print_error(f"{flag} has no effect: nothing stays beside the program", "add --on-change restart")
        return INVALID
    environment: dict[bytes, bytes] = {}

    def prepare() -> int:
        environment.update(_environment(options))
        return OK

    code = _prepared(prepare)
    return code or _exit_code(lambda: _become(options.program, environment, inherited))


def _prepared(work: Callable[[], int]) -> int:
    code = run_guarded(lambda: _exit_code(work))
    return NOT_STARTED if code == UNUSABLE else code


def _exit_code(work: Callable[[], int]) -> int:
    try:
        return work()
    except NotRun as error:
        print_error(error, error.hint)
        return error.code


def _settings(options: Namespace) -> Settings:
    keep_memory_private()
    raise_file_limit()
    defaults = replace(ONE_SHOT, output_dir=options.files) if options.files else ONE_SHOT
    return settings_with_manifests(options, defaults=defaults)


def _environment(options: Namespace) -> dict[bytes, bytes]:
    settings = _settings(options)
    result = asyncio.run(_pass(options, settings))
    check_result(result)
    warn_of_made_elsewhere(result.made_elsewhere, "stay beside the program: --on-change restart")
    return environment_of(result, options, settings)


async def _pass(options: Namespace, settings: Settings) -> SyncResult:
    async with cached(settings, wanted=options.cache) as known:
        result = await one_pass(known.settings, Registry(), deliver=False, cache=known.cache)
        known.settle(result)
        return result


def _become(program: Sequence[str], environment: Mapping[bytes, bytes], inherited: Inherited) -> int:
    close_files_at_exec()
    sys.stdout.flush()
    sys.stderr.flush()
    inherited.restore()
    try:
        os.execvpe(program[0], list(program), environment)  # noqa: S606  # that is what it is for
    except OSError as error:
        raise refused_by_kernel(error, program, environment) from None


def _supervised(options: Namespace, inherited: Inherited) -> int:
    from syncret.daemon.cli.program.supervised import supervise  # no parent stays otherwise

    code = _prepared(lambda: supervise(options, _settings(options), inherited))
    if code < 0:
        die_by(-code)
    return code
