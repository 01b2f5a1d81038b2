"""Encrypts credentials with the key of this host or its TPM, by `systemd-creds`."""

import os
import subprocess
from functools import cache
from typing import Final

from syncret.config.resources.delivery.delivery import DeliverySpec
from syncret.daemon.delivery.commands import ENVIRONMENT
from syncret.daemon.delivery.paths import Refused

PROGRAM: Final = "/usr/bin/systemd-creds"
_WITHIN: Final = 30.0
_SEALS_FOR_USERS: Final = 256
"""The first version of systemd that seals for other users than root, if polkit allows it."""

_REMEDY: Final = "use socket, or install deliver-as-root.conf as a drop-in and run systemd-creds setup once"


def check_sealing(spec: DeliverySpec) -> None:
    """Raise Refused for sealed credentials if this process cannot seal any."""
    for number, target in enumerate(spec.to):
        sealed = target.systemd_credential
        if sealed is not None and sealed.encrypt != "none" and not may_seal():
            raise Refused(f"spec.to[{number}].systemdCredential: only root can seal credentials", _REMEDY)


def may_seal() -> bool:
    """Whether systemd seals credentials for this process."""
    return os.geteuid() == 0 or _version() >= _SEALS_FOR_USERS


def sealed(content: bytes, *, name: str, key: str) -> bytes:
    """The content, encrypted so that only this host can open it, under this name. Raises Refused."""
    command = [PROGRAM, "encrypt", f"--name={name}", f"--with-key={key}", "-", "-"]
    try:
        done = subprocess.run(  # noqa: S603  # names and keys are checked
            command,
            input=content,
            capture_output=True,
            check=False,
            cwd="/",
            env=ENVIRONMENT,
            timeout=_WITHIN,
        )
    except FileNotFoundError:
        raise Refused(f"there is no {PROGRAM} on this host", "install systemd, or use socket") from None
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Refused(f"{PROGRAM} cannot be used: {type(error).__name__}", _REMEDY) from None
    if done.returncode != 0 or not done.stdout:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise Refused(f"systemd-creds: {said[-1][:200] if said else 'failed'}", _REMEDY)
    return done.stdout


@cache
def _version() -> int:
    try:
        done = subprocess.run(  # noqa: S603  # a constant command
            [PROGRAM, "--version"], capture_output=True, check=False, timeout=_WITHIN
        )
    except (OSError, subprocess.TimeoutExpired):
        return 0
    words = done.stdout.decode(errors="replace").split()
    return int(words[1]) if len(words) > 1 and words[1].isdigit() else 0
