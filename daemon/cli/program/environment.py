"""The environment of the program: the values of a pass, named as the command line says."""

import os
import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from syncret.config.meta import Document, member
from syncret.config.resources.kinds import SECRET
from syncret.config.settings import Settings
from syncret.daemon.cli.exit_codes import FAILED, INVALID
from syncret.daemon.cli.printing import print_problems
from syncret.daemon.cli.program.not_run import NotRun
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
from syncret.daemon.one_pass import SyncResult

_REMEDIES: Final = {
    "name it in names": "name it with --secret NAME:KEY=VAR",
    "name one of them in names": "name one of them with --secret NAME:KEY=VAR",
    "use a directory": "write it to a file with --files DIR, and choose other keys with --secret",
}
"""Hints for a command line in place of those for a manifest."""


def check_result(result: SyncResult) -> None:
    """Print what went wrong in the first pass. Raises NotRun if anything did."""
    problems = [each for each in result.problems if each.problem.fatal]
    print_problems(sys.stderr, ((str(Path(each.source)), each.problem) for each in problems))
    if problems:
        raise NotRun(INVALID, "nothing was run: a manifest is invalid")
    for ref, error in result.failures.items():
        print_error(f"{ref}: {error}")
    if result.failures:
        raise NotRun(FAILED, "nothing was run: not every value could be had")


def environment_of(result: SyncResult, options: Namespace, settings: Settings) -> dict[bytes, bytes]:
    """The environment of the program. Raises NotRun."""
    variables = _variables(result, options)
    if settings.output_dir:
        variables[FILES] = os.fsencode(Path(settings.output_dir).absolute())
    environment = program_environment(
        os.environb, variables, pristine=options.pristine, keep_existing=options.keep_existing
    )
    left = unfilled(environment) if options.env_strict else []
    if left:
        raise NotRun(FAILED, f"nothing was run: no value for {', '.join(left)}", "a Secret must give it")
    return environment


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
        raise NotRun(INVALID, error, "name both with --secret: then the later one wins") from None
    except Inexpressible as error:
        raise NotRun(INVALID, error, _REMEDIES.get(error.hint, error.hint)) from None


def _matching(documents: Sequence[Document], labels: Mapping[str, str]) -> dict[str, Document]:
    return {
        f"{each['metadata']['namespace']}/{each['metadata']['name']}": each
        for each in documents
        if (each["apiVersion"], each["kind"]) == (SECRET.api_version, SECRET.kind)
        and labels.items() <= member(each, "metadata", "labels").items()
    }


def _full_name(name: str, secrets: Mapping[str, Document]) -> str:
    found = [each for each in secrets if name in (each, each.partition("/")[2])]
    if not found:
        raise NotRun(INVALID, f"there is no Secret {name}", f"there are: {', '.join(secrets) or 'none'}")
    if len(found) > 1:
        raise NotRun(INVALID, f"Secret {name} is in several namespaces", f"write one of {', '.join(found)}")
    return found[0]
