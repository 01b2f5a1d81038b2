"""A process to be killed: a daemon that delivers a new set as soon as the last one is live and told.

    python -m tests.real.crash.deliverer FOLDER

Each line on its standard input lets it begin a life, in a process of its own that is made from this one:
what takes long has been imported by then. A life prints `life PID`; `repeated` when it says that a reload is
asked for that may have happened; `settled VALUE RELOADS STAGED` when a set is live, with how often it is in
the log of reloads, and how much is still staged. When the life was ended, `dead` is printed.
"""

import asyncio
import fcntl
import json
import os
import sys
from itertools import count
from pathlib import Path
from typing import Final

from syncret.config.meta import Document, ObjectRef
from syncret.config.resources.kinds import DELIVERY
from syncret.config.settings import Settings
from syncret.daemon.app import EngineOverrides, run_engine
from syncret.daemon.delivery import links
from syncret.daemon.delivery.opening import deliveries_of
from syncret.daemon.engine.clock import Clock
from syncret.daemon.homes.filesystem.opening import host_home
from syncret.providers.registry import Registry

KEYS: Final = ("user", "password", "key")
SHELL: Final = "/usr/bin/dash"
_RELOAD: Final = "echo $(cat tls/* links/[a-z]* one) >> log"
"""What the program that is told has read, in one line that is written at once."""


def manifest_of(value: int) -> Document:
    """The Secret with one value under all keys."""
    data = dict.fromkeys(KEYS, f"{value}\n")
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "tls"}, "stringData": data}


def delivery(folder: Path) -> Document:
    """A set in three places, and a program that reads them all."""
    to: list[Document] = [
        {"directory": {"path": str(folder / "tls")}},
        {"directory": {"path": str(folder / "links"), "layout": "links"}},
        {"file": {"path": str(folder / "one"), "key": "key"}},
    ]
    return {
        "apiVersion": DELIVERY.api_version,
        "kind": DELIVERY.kind,
        "metadata": {"name": "web"},
        "spec": {
            "sources": [{"secret": "tls"}],
            "to": to,
            "reload": {"exec": [SHELL, "-c", f"cd {folder}; {_RELOAD}"]},
            "debounce": {"quiet": "0s", "atMost": "0s"},
            "minInterval": "0s",
        },
    }


def write(folder: Path, document: Document) -> None:
    """Put a manifest there, in one step."""
    path = folder / "manifests" / f"{document['kind']}.json"
    path.parent.mkdir(exist_ok=True)
    fresh = path.with_name(".fresh")
    fresh.write_text(json.dumps(document))
    fresh.rename(path)


def wanted(folder: Path) -> int:
    """The value that the manifest has."""
    found = json.loads((folder / "manifests" / "Secret.json").read_text())
    return int(found["stringData"]["key"])


def reloads_of(folder: Path, value: int) -> int:
    """How often a set is in the log."""
    lines = (folder / "log").read_text().splitlines()
    return sum(line.split()[0] == str(value) for line in lines)


def staged(folder: Path) -> int:
    """How many sets are staged."""
    return len([*folder.glob(f"{links.STAGED}*"), *folder.glob(f"links/{links.STAGED}*")])


class _Events:
    """Prints what a reload that is asked for twice is told with."""

    def event(self, ref: ObjectRef, *, warning: bool, reason: str, message: str) -> None:
        del ref, warning, message
        if reason == "ReloadRepeated":
            say("repeated")


def say(text: str) -> None:
    """Print a line at once."""
    os.write(1, f"{text}\n".encode())


async def live(folder: Path) -> None:
    """One life: what is owed first, then one set after the other."""
    settings = Settings(
        manifests=(str(folder / "manifests"),),
        output_dir=str(folder / "out"),
        state_file=str(folder / "state.db"),
        fsync=False,
    )
    registry, clock = Registry(), Clock()
    home = host_home(settings, registry, now=clock.now, on_problems=lambda _: None)
    async with home:
        hooks = EngineOverrides(events=_Events(), deliveries=deliveries_of(settings, home.digest_key))
        async with run_engine(
            home, registry=registry, settings=settings, clock=clock, hooks=hooks
        ) as running:
            await running.engine.wait_idle()
            for value in count(wanted(folder) + 1):
                say(f"settled {value - 1} {reloads_of(folder, value - 1)} {staged(folder)}")
                write(folder, manifest_of(value))
                await home.look()
                await running.engine.wait_idle()


def wait_for_the_lock(folder: Path) -> None:
    """A command that was about to be executed when the life was ended holds the state's lock for a moment."""
    with (folder / "state.db.lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)


def main(folder: Path) -> None:
    """Begin a life for each line, and wait for its end."""
    for _ in sys.stdin:
        child = os.fork()
        if not child:
            say(f"life {os.getpid()}")
            asyncio.run(live(folder))
            os._exit(1)
        os.waitpid(child, 0)
        wait_for_the_lock(folder)
        say("dead")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
