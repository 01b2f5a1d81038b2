"""`syncret cache`: makes a key for the offline cache of a host, shows what it holds, and clears it."""

import os
import subprocess
import sys
from argparse import Namespace
from pathlib import Path
from typing import Final

from syncret.config.errors import ConfigError
from syncret.config.visible import printable
from syncret.daemon.cache.errors import CacheUnusable
from syncret.daemon.cache.file import remove_file
from syncret.daemon.cache.key import new_key
from syncret.daemon.cache.opening import cache_path
from syncret.daemon.cli.daemon_client import Answer, CommandError, print_json, request
from syncret.daemon.cli.exit_codes import FAILED, INVALID, OK, UNUSABLE
from syncret.daemon.cli.settings import settings_of
from syncret.daemon.cli.terminal import cache_line, print_error, print_text

CREDENTIALS: Final = Path("/etc/credstore.encrypted")
USUAL: Final = "credential:cache-key"


def run(options: Namespace) -> int:
    """Carry out the action of the command line."""
    actions = {"init": _init, "status": _status, "clear": _clear}
    try:
        return actions[options.action](options)
    except CommandError as refusal:
        return refusal.report()
    except ConfigError as error:
        for problem in error.problems:
            print_error(problem)
        return INVALID
    except CacheUnusable as error:
        print_error(error, error.hint)
        return UNUSABLE


def _init(options: Namespace) -> int:
    """Make a key at the place that the setting names."""
    kind, _, name = (settings_of(options).cache.key or USUAL).partition(":")
    path = Path(name) if kind == "file" else CREDENTIALS / name
    if path.exists():
        raise CommandError(
            f"{path}: there is a key already", hint="remove it, or move it to the same name with -old"
        )
    try:
        if kind == "file":
            _write(path)
        else:
            _encrypt(path, name, tpm2=options.tpm2)
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}", hint="run it as root", code=UNUSABLE) from None
    print_text(sys.stdout, printable(f"made {path}"))
    if kind != "file":
        print_text(sys.stdout, "in the unit (systemctl edit syncret), below [Service]:")
        print_text(sys.stdout, printable(f"LoadCredentialEncrypted={name}"), "  ")
    print_text(sys.stdout, "in the settings file:")
    print_text(sys.stdout, printable(f"cache: {{key: '{kind}:{name}'}}"), "  ")
    return OK


def _write(path: Path) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(fd, "wb") as file:
        file.write(new_key())
        file.flush()
        os.fsync(fd)


def _encrypt(path: Path, name: str, *, tpm2: bool) -> None:
    """Have systemd encrypt a key, which is never in a plain file. Raises CommandError and OSError."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with_key = ("--with-key=host+tpm2",) if tpm2 else ()
    argv = ("systemd-creds", "encrypt", f"--name={name}", *with_key, "-", str(path))
    try:
        done = subprocess.run(argv, input=new_key(), capture_output=True, check=False)  # noqa: S603  # our own
    except FileNotFoundError:
        raise CommandError(
            "there is no systemd-creds here", hint="use --set cache.key=file:/PATH", code=UNUSABLE
        ) from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()
        raise CommandError(f"systemd-creds: {said}", hint="run it as root", code=UNUSABLE)


def _status(options: Namespace) -> int:
    """Print the statistics of the daemon's cache; exit 1 if it has no usable one."""
    cache: Answer | None = request(options, "GET", "/status").get("cache")
    if options.output == "json":
        print_json({} if cache is None else cache)
    elif cache is None:
        print_text(sys.stdout, "the daemon has no cache (setting cache.key)")
    else:
        print_text(sys.stdout, printable(cache_line(cache)))
    return OK if cache is not None and cache["usable"] else FAILED


def _clear(options: Namespace) -> int:
    """Have the daemon clear its cache; if none runs, remove the file."""
    try:
        answer = request(options, "POST", "/cache/clear", store=options.store or "")
    except CommandError as refusal:
        if refusal.code != UNUSABLE or options.store:
            raise
        removed = remove_file(cache_path(settings_of(options)))
        print_text(sys.stdout, "removed" if removed else "there is no cache")
        return OK
    if options.output == "json":
        print_json(answer)
    else:
        replaced = f"removed the cache, which could not be used: {answer['next']}" if "next" in answer else ""
        print_text(sys.stdout, replaced or f"{answer['removed']} values removed")
    return OK
