"""`syncret demo`: the daemon on the sample manifests of this package, with what to look at and to try."""

import os
import shlex
import shutil
import sys
from argparse import Namespace
from collections.abc import Generator
from contextlib import contextmanager
from importlib.resources import as_file, files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from syncret.config.errors import ConfigError, Problem
from syncret.daemon.cli.commands.run import announce, run_daemon
from syncret.daemon.cli.settings import run_guarded, settings_of
from syncret.daemon.cli.terminal import print_text
from syncret.daemon.homes.contract import HomeUnusable
from syncret.daemon.ops.view import View

MANIFESTS: Final = "manifests"
SECRETS: Final = "secrets"
STATE: Final = "state.db"
SOCKET: Final = "control.sock"

LOOK: Final = """
What it wrote: a folder for each Secret, a file for each key. Try in another terminal{here}:
  cat {folder}/secrets/default/database/password
  {syncret} status --socket {folder}/control.sock
  {syncret} explain ExternalSecret/database --socket {folder}/control.sock
Change the banner in the store, and within five seconds the file follows:
  sed -i s/hello/welcome/ {folder}/manifests/01-store.yaml
  cat {folder}/secrets/default/banner/text

"""


def run(options: Namespace) -> int:
    """Run the demo until a signal stops it."""
    return run_guarded(lambda: _run(options))


def _run(options: Namespace) -> int:
    settings_of(options)  # a mistake in the environment ends it before anything is written
    with _demo_folder(options.folder) as folder:
        _copy_samples(folder)
        sys.stdout.write(f"The demo is in {folder}: manifests in {MANIFESTS}/, files in {SECRETS}/.\n\n")
        sys.stdout.flush()
        end = "The folder is removed then: `syncret demo DIR` keeps it."
        if options.folder is not None:
            end = f"{folder} stays, and the next `syncret demo {folder}` goes on from there."

        def announce_demo(view: View) -> None:
            announce(view)
            here = "" if folder.is_absolute() else ", in this folder"
            text = LOOK.format(here=here, folder=shlex.quote(f"{folder}"), syncret=_program())
            for line in [
                *text.splitlines(),
                f"Ctrl-C finishes the work in progress and stops the demo. {end}",
            ]:
                if line.startswith("  "):  # a command, to be copied
                    sys.stdout.write(f"{line}\n")
                else:
                    print_text(sys.stdout, line, rest="")
            sys.stdout.flush()

        return run_daemon(_options_of_run(folder), announce_demo)


def _program() -> str:
    """How a shell calls this program."""
    return "syncret" if shutil.which("syncret") else shlex.quote(sys.argv[0])


def _options_of_run(folder: Path) -> Namespace:
    """The demo as a command line of `run`; any free port, so that it disturbs no other daemon."""
    return Namespace(
        manifests=[os.fspath(folder / MANIFESTS)],
        output_dir=os.fspath(folder / SECRETS),
        state=os.fspath(folder / STATE),
        listen="127.0.0.1:0",
        socket=os.fspath(folder / SOCKET),
        config=None,
        set=["logFormat=console"],
    )


@contextmanager
def _demo_folder(name: str | None) -> Generator[Path]:
    """The folder of that name, which is made if need be, or a temporary one."""
    if name is None:
        with TemporaryDirectory(prefix="syncret-demo-") as temporary:
            yield Path(temporary)
        return
    folder = Path(name)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        held = {each.name for each in folder.iterdir()}
    except OSError as error:
        raise HomeUnusable(f"{folder}: {error.strerror}", hint="name another folder, or none") from None
    others = sorted(each for each in held if not each.startswith((MANIFESTS, SECRETS, STATE, SOCKET)))
    if others:
        message = f"holds other files, such as {others[0]}"
        raise ConfigError([Problem(path=name, message=message, hint="name a new folder, or none")])
    yield folder


def _copy_samples(folder: Path) -> None:
    """Copy the sample manifests, unless the folder has manifests, which the user may have changed."""
    manifests = folder / MANIFESTS
    if manifests.exists():
        return
    try:
        with as_file(files("syncret.config") / "samples" / "quickstart") as samples:
            shutil.copytree(samples, manifests, copy_function=shutil.copyfile)
    except OSError as error:
        raise HomeUnusable(f"{manifests} cannot be written: {error}", hint="name another folder") from None
