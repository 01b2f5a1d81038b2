"""`syncret exec`: one pass in memory, then this process becomes the program, with values as variables."""

import asyncio
import errno
import os
import resource
import signal
import sys
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from syncret.config.meta import Document, member
from syncret.config.resources.kinds import SECRET
from syncret.config.settings import Settings
from syncret.daemon.cli.exit_codes import FAILED, INVALID, OK, UNUSABLE
from syncret.daemon.cli.printing import print_problems
from syncret.daemon.cli.settings import ONE_SHOT, run_guarded, settings_with_manifests
from syncret.daemon.cli.terminal import print_error
from syncret.daemon.core.delivery.environment import (
    FILES,
    Choice,
    NameTwice,
    Naming,
    program_environment,
    unfilled,
    variables_of,
)
from syncret.daemon.core.delivery.names import Inexpressible
from syncret.daemon.core.secret import secret_data
from syncret.daemon.one_pass import SyncResult, one_pass
from syncret.daemon.process import keep_memory_private, raise_file_limit
from syncret.providers.registry import Registry

NOT_STARTED: Final = 125
"""Something of ours kept the program from being started; `env` and `timeout` use these three codes, too."""
NOT_EXECUTABLE: Final = 126
NOT_FOUND: Final = 127

_LIMITS: Final = (resource.RLIMIT_CORE, resource.RLIMIT_NOFILE)
_IGNORED_BY_PYTHON: Final = (signal.SIGPIPE, signal.SIGXFSZ)
_STANDARD: Final = 2

_REMEDIES: Final = {
    "name it in names": "name it with --secret NAME:KEY=VAR",
    "name one of them in names": "name one of them with --secret NAME:KEY=VAR",
    "use a directory": "write it to a file with --files DIR, and choose other keys with --secret",
}
"""What to do on a command line in the place of what a manifest would say."""


class _Wrong(Exception):
    """What keeps the program from being run, with the exit code for it."""

    def __init__(self, code: int, message: object, hint: str = "") -> None:
        super().__init__(str(message))
        self.code = code
        self.hint = hint


class _Found(Struct, frozen=True):
    """What this process found when it started, and gives back to the program."""

    limits: Mapping[int, tuple[int, int]]
    mask: set[signal.Signals | int]

    @classmethod
    def now(cls) -> "_Found":
        limits = {each: resource.getrlimit(each) for each in _LIMITS}
        return cls(limits, {*signal.pthread_sigmask(signal.SIG_BLOCK, ())})

    def restore(self) -> None:
        """Limits and signal mask; signals that Python ignores and the program may not expect to be."""
        for each, limits in self.limits.items():
            resource.setrlimit(each, limits)
        for number in _IGNORED_BY_PYTHON:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, self.mask)


def run(options: Namespace) -> int:
    """Become the program; returns only if that is not to be."""
    found = _Found.now()
    environment: dict[bytes, bytes] = {}

    def prepare() -> int:
        environment.update(_environment(options))
        return OK

    code = run_guarded(lambda: _told(prepare))
    if code != OK:
        return NOT_STARTED if code == UNUSABLE else code
    return _told(lambda: _become(options.program, environment, found))


def _told(work: Callable[[], int]) -> int:
    try:
        return work()
    except _Wrong as wrong:
        print_error(wrong, wrong.hint)
        return wrong.code


def _environment(options: Namespace) -> dict[bytes, bytes]:
    keep_memory_private()
    raise_file_limit()
    settings = settings_with_manifests(options, defaults=_defaults(options))
    result = asyncio.run(one_pass(settings, Registry()))
    problems = [each for each in result.problems if each.problem.fatal]
    print_problems(sys.stderr, ((str(Path(each.source)), each.problem) for each in problems))
    if problems:
        raise _Wrong(INVALID, "nothing was run: a manifest is invalid")
    for ref, error in result.failures.items():
        print_error(f"{ref}: {error}")
    if result.failures:
        raise _Wrong(FAILED, "nothing was run: not every value could be had")
    variables = _variables(result, options)
    if settings.output_dir:
        variables[FILES] = os.fsencode(Path(settings.output_dir).absolute())
    environment = program_environment(
        os.environb, variables, pristine=options.pristine, keep_existing=options.keep_existing
    )
    left = unfilled(environment) if options.env_strict else []
    if left:
        raise _Wrong(FAILED, f"nothing was run: no value for {', '.join(left)}", "a Secret must give it")
    return environment


def _defaults(options: Namespace) -> Settings:
    if not options.files:
        return ONE_SHOT
    return replace(ONE_SHOT, output_dir=options.files)


def _matching(documents: Sequence[Document], labels: Mapping[str, str]) -> dict[str, Document]:
    return {
        f"{each['metadata']['namespace']}/{each['metadata']['name']}": each
        for each in documents
        if (each["apiVersion"], each["kind"]) == (SECRET.api_version, SECRET.kind)
        and labels.items() <= member(each, "metadata", "labels").items()
    }


def _variables(result: SyncResult, options: Namespace) -> dict[str, bytes]:
    """Of the Secrets that were made; one of the manifests, which may be a login, has to be named."""
    labels: Mapping[str, str] = options.having_labels
    secrets = _matching(result.outputs, labels)
    if options.secret:
        secrets = {**_matching(result.resources, labels), **secrets}
    chosen = [Choice(_full_name(name, secrets), variables) for name, variables in options.secret]
    values = {name: secret_data(each) for name, each in secrets.items()}
    try:
        return variables_of(values, chosen, Naming(prefix=options.prefix, case=options.case))
    except NameTwice as error:
        raise _Wrong(INVALID, error, "name both with --secret: then the later one wins") from None
    except Inexpressible as error:
        raise _Wrong(INVALID, error, _REMEDIES.get(error.hint, error.hint)) from None


def _full_name(name: str, secrets: Mapping[str, Document]) -> str:
    found = [each for each in secrets if name in (each, each.partition("/")[2])]
    if not found:
        raise _Wrong(INVALID, f"there is no Secret {name}", f"there are: {', '.join(secrets) or 'none'}")
    if len(found) > 1:
        raise _Wrong(INVALID, f"Secret {name} is in several namespaces", f"write one of {', '.join(found)}")
    return found[0]


def _become(program: Sequence[str], environment: Mapping[bytes, bytes], found: _Found) -> int:
    for entry in Path("/proc/self/fd").iterdir():
        if int(entry.name) > _STANDARD:
            _close_at_exec(int(entry.name))
    sys.stdout.flush()
    sys.stderr.flush()
    found.restore()
    try:
        os.execvpe(program[0], list(program), environment)  # noqa: S606  # that is what it is for
    except FileNotFoundError:
        raise _Wrong(NOT_FOUND, f"{program[0]}: there is no such program") from None
    except OSError as error:
        if error.errno == errno.E2BIG:
            raise _Wrong(NOT_STARTED, _too_big(environment), "use --files DIR for large values") from None
        raise _Wrong(NOT_EXECUTABLE, f"{program[0]}: {error.strerror}") from None


def _close_at_exec(number: int) -> None:
    try:
        os.set_inheritable(number, False)  # noqa: FBT003  # takes no keywords
    except OSError as error:
        if error.errno != errno.EBADF:  # the one that listed them
            raise


def _too_big(environment: Mapping[bytes, bytes]) -> str:
    size = sum(len(name) + len(value) + 2 for name, value in environment.items())
    largest = max(environment, key=lambda name: len(environment[name]))
    return (
        f"arguments and variables are larger than this system takes: the variables have {size:,} bytes, "
        f"{largest.decode(errors='replace')} alone {len(environment[largest]):,}"
    )
