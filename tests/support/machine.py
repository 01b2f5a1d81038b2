"""A real systemd, booted from a Debian root in a container of its own, without a network."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

BOOT_SECONDS = 120.0
STEP_SECONDS = 60.0


@dataclass(frozen=True)
class Machine:
    """A booted system; commands run inside it, files are reached through its root."""

    root: Path
    leader: int
    """Its first process, as seen from here."""

    def run(self, *command: str, check: bool = True) -> str:
        """Run a command inside; what it printed on stdout."""
        done = subprocess.run(
            self.inside(*command),
            check=False,
            capture_output=True,
            text=True,
            timeout=STEP_SECONDS,
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"},
        )
        if check and done.returncode:
            raise RuntimeError(f"{' '.join(command)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def kill(self, unit: str) -> None:
        """Kill the main process of a unit. systemd ends the others; asked to, it may find them gone."""
        self.run("systemctl", "kill", "--kill-whom=main", "--signal=KILL", unit)

    def inside(self, *command: str) -> list[str]:
        """The command that runs one inside."""
        namespaces = ("--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup", "--root", "--wd")
        return ["nsenter", f"--target={self.leader}", *namespaces, *command]

    def path(self, inside: str) -> Path:
        """A path inside as a path here, with everything that is mounted there."""
        return Path(f"/proc/{self.leader}/root", inside.lstrip("/"))

    def property(self, unit: str, name: str) -> str:
        return self.run("systemctl", "show", "--value", f"--property={name}", unit).strip()

    def journal(self, unit: str) -> str:
        return self.run("journalctl", "--no-pager", "--output=short-monotonic", f"--unit={unit}", check=False)


def until(condition: Callable[[], bool], what: str, seconds: float = STEP_SECONDS) -> None:
    """Ask again and again, for there is nothing inside that could call us."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"after {seconds:g} s: still not {what}")
        time.sleep(0.1)


@contextmanager
def booted(root: Path, console: Path, **environment: str) -> Generator[Machine]:
    """Boot the root; power it off at the end. `environment` is that of its first process."""
    command = ["systemd-nspawn", "--quiet", "--register=no", "--keep-unit", "--private-network"]
    command += [f"--setenv={name}={value}" for name, value in environment.items()]
    command += ["--console=pipe", "--link-journal=no", f"--directory={root}", "--boot"]
    with console.open("wb") as output:
        nspawn = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)
    try:
        until(lambda: nspawn.poll() is not None or _first_process(nspawn.pid) != 0, "started", BOOT_SECONDS)
        if nspawn.poll() is not None:
            raise RuntimeError(f"systemd-nspawn ended at once:\n{console.read_text()}")
        machine = Machine(root=root, leader=_first_process(nspawn.pid))
        until(lambda: _state(machine) in {"running", "degraded"}, "booted", BOOT_SECONDS)
        yield machine
        # RTMIN+4 is what the first process of a system takes for a wish to power off.
        os.kill(machine.leader, signal.SIGRTMIN + 4)
        nspawn.wait(STEP_SECONDS)
    finally:
        if nspawn.poll() is None:
            nspawn.terminate()
            try:
                nspawn.wait(STEP_SECONDS)
            except subprocess.TimeoutExpired:
                nspawn.kill()
        nspawn.wait()


def _state(machine: Machine) -> str:
    try:
        return machine.run("systemctl", "is-system-running", check=False).strip()
    except OSError:
        return ""


def _first_process(nspawn: int) -> int:
    """The first process of the system, as seen from here; 0: it is not there yet.

    Before it, nspawn has a child that makes it and ends: that one is in no namespace of its own.
    """
    for child in Path(f"/proc/{nspawn}/task/{nspawn}/children").read_text().split():
        try:
            status = Path(f"/proc/{child}/status").read_text()
        except OSError:
            continue  # it has ended
        [ids] = [line.split()[1:] for line in status.splitlines() if line.startswith("NSpid:")]
        if len(ids) > 1:
            return int(child)
    return 0
