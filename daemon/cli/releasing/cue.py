"""Reads CUE by the command `cue`, which exports the field `release`: a ResolvedRelease.

Its messages quote values, so only the places in the files are reported.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from syncret.config.errors import Problem
from syncret.config.manifests.loader import LoadedDocument, load_bytes
from syncret.config.text.yaml_values import Limits

COMMAND: Final = "SYNCRET_CUE"
"""The variable that names the command, where it is not on PATH."""

_INSTALL: Final = "go install cuelang.org/go/cmd/cue@latest"
_JSON: Final = "`cue export -e release` makes JSON that -f takes, too"
_PLACE: Final = re.compile(r"^\s+(\S+?\.cue:[0-9]+:[0-9]+)$", re.MULTILINE)
_TIMEOUT: Final = 60.0
_MOST_PLACES: Final = 5


def exported(path: str, limits: Limits) -> list[LoadedDocument]:
    """The release that a file or folder evaluates to."""
    name = os.environ.get(COMMAND) or "cue"
    command = shutil.which(name)
    if command is None:
        return _failed(path, f"is CUE, and there is no command {name}", f"{_INSTALL}; or {_JSON}")
    folder, what = (path, ".") if Path(path).is_dir() else (str(Path(path).parent), f"./{Path(path).name}")
    if not Path(path).exists():
        return _failed(path, "there is no such file or folder", "correct the path, or create it")
    try:
        done = subprocess.run(  # noqa: S603  # the user's own command
            [command, "export", "--expression", "release", "--out", "json", what],
            check=False,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT,
        )
    except subprocess.TimeoutExpired:
        return _failed(path, f"is not evaluated within {_TIMEOUT:g} s", "ask less of it")
    except OSError as error:
        return _failed(path, f"the command {name} does not start: {error.strerror}", f"set {COMMAND}")
    if done.returncode:
        return _failed(path, f"cannot be evaluated{_places(done.stderr)}", "`cue vet` says what is wrong")
    found = load_bytes(f"{path}.json", done.stdout, limits)
    return [
        replace(each, file=path, line=0, lines=None) for each in found
    ]  # lines would be those of the JSON


def _places(messages: bytes) -> str:
    """The places of mistakes in the command's output, without its messages."""
    found = dict.fromkeys(_PLACE.findall(messages.decode("utf-8", "replace")))
    return f": see {', '.join([*found][:_MOST_PLACES])}" if found else ""


def _failed(path: str, message: str, hint: str) -> list[LoadedDocument]:
    return [LoadedDocument(path, 0, None, (Problem(path="", message=message, hint=hint),))]
