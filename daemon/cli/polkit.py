"""`syncret export polkit`: the rule that the Deliveries of manifests need, and whether it is in force."""

import shutil
import subprocess
import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from syncret.config.errors import ConfigError, Problem
from syncret.config.manifests.bound_folders import absolute, bounds_of, manifest_outside_bounds
from syncret.config.manifests.loader import LoadedDocument, load
from syncret.config.resources.delivery.delivery import Delivery
from syncret.config.resources.kinds import DELIVERY, Kinds
from syncret.config.schema.admission import admit
from syncret.config.settings import BoundFolder, Settings
from syncret.daemon.cli.exit_codes import FAILED, OK
from syncret.daemon.cli.operator_files import in_file
from syncret.daemon.cli.printing import print_problems
from syncret.daemon.cli.settings import settings_with_manifests
from syncret.daemon.core.delivery.polkit import ACTION, SEALING, Right, collected, rights_of, rule, seals
from syncret.providers.registry import Registry

USER: Final = "syncret"
"""The user of the shipped unit."""

_SECONDS: Final = 30.0
_ANSWERS: Final = (0, 1, 2, 3)
_NO: Final = ("Not authorized", "is not registered")
"""What pkcheck prints for an action that is denied or unknown."""


def export_polkit(options: Namespace) -> int:
    """Print the rule, or with `--check` whether polkit grants each right. Raises ConfigError."""
    given = Namespace(config=options.config, manifests=options.configuration)
    deliveries = list(_deliveries(settings_with_manifests(given)))
    rights = collected(right for each in deliveries for right in rights_of(each.ref, each.spec))
    sealers = [each.ref for each in deliveries if seals(each.spec)]
    user = options.user or USER
    if options.check:
        return _check(rights, user, is_sealing=bool(sealers))
    sys.stdout.write(rule(rights, user, sealers))
    return OK


def _deliveries(settings: Settings) -> Iterator[Delivery]:
    """All of the manifests. Raises ConfigError for what the daemon would refuse.

    Problems of a tenant's manifests are only printed: they must not affect the rights of others.
    """
    registry, wrong, of_tenants = Registry(), list[Problem](), list[tuple[str, Problem]]()
    bound = absolute(settings.bound_folders)
    for loaded in load(settings.manifest_paths):
        folder = bounds_of(str(Path(loaded.file).absolute()), bound)
        delivery, found = _delivery(loaded, folder, registry)
        fatal = [each for each in loaded.located(found) if each.fatal]
        if folder is not None:
            of_tenants += [(loaded.file, each) for each in fatal]
        else:
            wrong += [in_file(loaded.file, each.line, each) for each in fatal]
        if delivery is not None and not fatal:
            yield delivery
    print_problems(sys.stderr, of_tenants)
    if wrong:
        raise ConfigError(wrong)


def _delivery(
    loaded: LoadedDocument, folder: BoundFolder | None, registry: Registry
) -> tuple[Delivery | None, list[Problem]]:
    """The Delivery of a document, if it is one, and what is wrong with it."""
    document = loaded.document
    if document is None or document.get("kind") != DELIVERY.kind:
        return None, list(loaded.problems)
    result = admit(document, registry)
    found = [*loaded.problems, *result.all_problems]
    if not isinstance(result.resource, Delivery):
        return None, found
    if folder is not None:
        outside = manifest_outside_bounds(result.resource.ref, document, folder, Kinds(registry))
        found += filter(None, [outside])
    return result.resource, found


def _check(rights: Iterable[Right], user: str, *, is_sealing: bool) -> int:
    """Ask polkit about a process of the user; only root may ask with units and verbs."""
    if shutil.which("pkcheck") is None:
        raise ConfigError([_problem("there is no pkcheck on this host", "install polkit")])
    try:
        with subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE, user=user) as process:
            granted = {
                f"{right.unit} {right.verb}": _is_granted(
                    ACTION, process.pid, "--detail", "unit", right.unit, "--detail", "verb", right.verb
                )
                for right in rights
            }
            if is_sealing:
                granted[SEALING] = _is_granted(SEALING, process.pid)
    except (KeyError, PermissionError, ValueError) as error:
        raise ConfigError(
            [_problem(f"cannot ask as {user}: {error}", "run it as root, on the host")]
        ) from None
    for right, is_granted in granted.items():
        sys.stdout.write(f"{right}: {'allowed' if is_granted else 'not allowed'}\n")
    return OK if all(granted.values()) else FAILED


def _is_granted(action: str, pid: int, *details: str) -> bool:
    asked = ["pkcheck", "--action-id", action, "--process", str(pid), *details]
    done = subprocess.run(asked, check=False, capture_output=True, text=True, timeout=_SECONDS)  # noqa: S603  # names of units are checked
    is_answer = done.returncode in _ANSWERS or any(each in done.stderr for each in _NO)
    if not is_answer:
        raise ConfigError([_problem(f"pkcheck: {done.stderr.strip()}", "see to it that polkit runs")])
    return done.returncode == 0


def _problem(message: str, hint: str) -> Problem:
    return Problem(path="--check", message=message, hint=hint)
