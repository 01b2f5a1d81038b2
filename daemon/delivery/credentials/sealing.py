"""Seals a credential with the key of this host, or its TPM, by systemd's own program."""

import os
import subprocess
from functools import cache
from typing import Final

from syncret.config.resources.delivery.delivery import DeliverySpec
from syncret.daemon.delivery.commands import ENVIRONMENT
from syncret.daemon.delivery.paths import Refused

PROGRAM: Final = "/usr/bin/systemd-creds"
_WITHIN: Final = 30.0
_FOR_EVERYBODY: Final = 256
"""The first version of systemd that seals for others than root, if polkit lets them."""

_REMEDY: Final = "use socket, or install deliver-as-root.conf as a drop-in and run systemd-creds setup once"


def check_sealing(spec: DeliverySpec) -> None:
    """Raise Refused for sealed credentials if this process can seal none."""
    for number, target in enumerate(spec.to):
        sealed = target.systemd_credential
        if sealed is not None and sealed.encrypt != "none" and not may_seal():
            raise Refused(f"spec.to[{number}].systemdCredential: only root can seal credentials", _REMEDY)


def may_seal() -> bool:
    """Whether systemd may seal something for this process."""
    return os.geteuid() == 0 or _version() >= _FOR_EVERYBODY


def sealed(content: bytes, *, name: str, key: str) -> bytes:
    """The content as only this host can open it, and only under this name. Raises Refused."""
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
        told = subprocess.run(  # noqa: S603  # nobody's words
            [PROGRAM, "--version"], capture_output=True, check=False, timeout=_WITHIN
        )
    except (OSError, subprocess.TimeoutExpired):
        return 0
    words = told.stdout.decode(errors="replace").split()
    return int(words[1]) if len(words) > 1 and words[1].isdigit() else 0
