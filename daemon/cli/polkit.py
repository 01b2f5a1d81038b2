"""`syncret export polkit`: the rule that the Deliveries of manifests need, and whether it is in force."""

import shutil
import subprocess
import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from syncret.config.errors import ConfigError, Problem
from syncret.config.manifests.loader import load
from syncret.config.resources.delivery.delivery import Delivery
from syncret.config.resources.kinds import DELIVERY
from syncret.config.schema.admission import admit
from syncret.daemon.cli.exit_codes import FAILED, OK
from syncret.daemon.cli.operator_files import in_file
from syncret.daemon.cli.settings import settings_with_manifests
from syncret.daemon.core.delivery.polkit import ACTION, Right, collected, rights_of, rule
from syncret.providers.registry import Registry

USER: Final = "syncret"
"""The user of the shipped unit."""

_SECONDS: Final = 30.0


def export_polkit(options: Namespace) -> int:
    """Print the rule, or with `--check` whether polkit grants each right. Raises ConfigError."""
    given = Namespace(config=options.config, manifests=options.configuration)
    rights = collected(_rights(settings_with_manifests(given).manifest_paths))
    user = options.user or USER
    if options.check:
        return _check(rights, user)
    sys.stdout.write(rule(rights, user))
    return OK


def _rights(paths: Iterable[str]) -> Iterator[tuple[Right, str]]:
    """Of every Delivery. Raises ConfigError for one that would not be admitted, and what is no YAML."""
    registry, wrong = Registry(), list[Problem]()
    for loaded in load(paths):
        problems = loaded.problems
        if loaded.document is not None and loaded.document.get("kind") == DELIVERY.kind:
            result = admit(loaded.document, registry)
            problems = (*problems, *result.all_problems)
            if isinstance(result.resource, Delivery) and result.accepted:
                yield from rights_of(result.resource.ref, result.resource.spec)
        wrong += [in_file(loaded.file, each.line, each) for each in loaded.located(problems) if each.fatal]
    if wrong:
        raise ConfigError(wrong)


def _check(rights: Mapping[Right, Iterable[str]], user: str) -> int:
    """Ask polkit about a process of the user; only root may ask with units and verbs."""
    if shutil.which("pkcheck") is None:
        raise ConfigError([_problem("there is no pkcheck on this host", "install polkit")])
    try:
        with subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE, user=user) as process:
            granted = {right: _is_granted(right, process.pid) for right in rights}
    except (KeyError, PermissionError, ValueError) as error:
        raise ConfigError(
            [_problem(f"cannot ask as {user}: {error}", "run it as root, on the host")]
        ) from None
    for right, is_granted in granted.items():
        said = "allowed" if is_granted else "not allowed"
        sys.stdout.write(f"{right.unit} {right.verb}: {said}\n")
    return OK if all(granted.values()) else FAILED


def _is_granted(right: Right, pid: int) -> bool:
    details = ("--detail", "unit", right.unit, "--detail", "verb", right.verb)
    asked = ["pkcheck", "--action-id", ACTION, "--process", str(pid), *details]
    done = subprocess.run(asked, check=False, capture_output=True, text=True, timeout=_SECONDS)  # noqa: S603  # names of units are checked
    if "Not authorized" not in done.stderr and done.returncode not in (0, 1, 2, 3):
        raise ConfigError([_problem(f"pkcheck: {done.stderr.strip()}", "see to it that polkit runs")])
    return done.returncode == 0


def _problem(message: str, hint: str) -> Problem:
    return Problem(path="--check", message=message, hint=hint)
