"""The product as a user has it: a process of its own, with folders, signals, a socket and a port."""

import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.error import HTTPError

from syncret.daemon.homes.filesystem.output.names import TEMPORARY

TIMEOUT: Final = 60.0
SYNCRET: Final = Path(sys.executable).with_name("syncret")
PLAIN: Final = ("setpriv", "--bounding-set=-dac_override,-dac_read_search,-fowner", "--inh-caps=-all")
ROOT: Final = Path(__file__).parents[3]


def can_be_plain() -> bool:
    """Whether this machine can show what modes forbid: without root's privileges, or by taking them away."""
    if os.geteuid() != 0:
        return False
    return shutil.which(PLAIN[0]) is not None and not subprocess.run([*PLAIN, "true"], check=False).returncode


def until(
    condition: Callable[[], object], what: str, seconds: float = TIMEOUT, *, every: float = 0.03
) -> None:
    """Ask again and again; nothing in another process could call us."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"after {seconds:g} s: still not {what}")
        time.sleep(every)


def probed(port: int, path: str) -> bool:
    """Whether a probe is answered with 200."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/{path}") as answer:  # ours
            return bool(answer.status == 200)
    except HTTPError as error:
        error.close()
    except OSError:
        pass  # it does not listen yet
    return False


def environment(**more: str) -> dict[str, str]:
    """Ours, without what would change what the product does."""
    ours = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("SYNCRET_") and name not in {"CREDENTIALS_DIRECTORY", "NOTIFY_SOCKET"}
    }
    return ours | more


def syncret(
    *arguments: str | Path, env: Mapping[str, str] | None = None, plain: bool = False
) -> "subprocess.CompletedProcess[str]":
    """Run one command to its end. `plain`: even root is refused what its modes forbid."""
    return subprocess.run(
        [*(PLAIN if plain else ()), SYNCRET, *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=3 * TIMEOUT,
        check=False,
        stdin=subprocess.DEVNULL,
        env=environment(**(env or {})),
    )


def files(folder: Path) -> dict[str, str]:
    """Every file below a folder with what it holds, but for sets that were replaced a moment ago."""
    while True:
        try:
            return {
                str(path.relative_to(folder)): path.read_text(errors="replace")
                for path in sorted(folder.rglob("*"))
                if path.is_file() and not path.is_symlink() and TEMPORARY not in str(path)
            }
        except FileNotFoundError:  # one was removed between the look and the reading
            continue


def faces(folder: Path) -> dict[str, tuple[int, ...]]:
    """Everything below a folder with what would tell that somebody touched it."""
    found: dict[str, tuple[int, ...]] = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        found[str(path.relative_to(folder))] = (
            status.st_ino,
            status.st_mode,
            status.st_size,
            status.st_mtime_ns,
        )
    return found


class SocketConnection(http.client.HTTPConnection):
    """HTTP on a Unix socket."""

    def __init__(self, path: Path, timeout: float = TIMEOUT) -> None:
        super().__init__("syncret", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))


def body_of(connection: http.client.HTTPConnection, path: str, method: str = "GET") -> str:
    """What is answered to one request; the connection is closed."""
    try:
        connection.request(method, path)
        return connection.getresponse().read().decode()
    finally:
        connection.close()


@dataclass
class Daemon:
    """A running `syncret run`."""

    process: "subprocess.Popen[bytes]"
    folder: Path
    """Holds what it printed."""
    socket: Path
    reported: int = field(default=0)

    @property
    def stdout(self) -> str:
        return (self.folder / "stdout").read_text()

    @property
    def stderr(self) -> str:
        return (self.folder / "stderr").read_text()

    def until(self, condition: Callable[[], object], what: str) -> None:
        """As the function of that name; a daemon that is gone is told at once."""

        def held() -> object:
            if self.process.poll() is not None:
                raise AssertionError(f"the daemon ended with {self.process.returncode}:\n{self.stderr}")
            return condition()

        try:
            until(held, what)
        except TimeoutError as error:
            raise TimeoutError(f"{error}\n{self.stderr[-3000:]}") from None

    def said(self, text: str, times: int = 1) -> None:
        """Wait until a text was logged."""
        self.until(lambda: self.stderr.count(text) >= times, f"{text!r} logged")

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Ask it to stop; its exit code."""
        self.send(number)
        return self.process.wait(TIMEOUT)

    @property
    def address(self) -> tuple[str, int]:
        """Where HTTP is served, by what it printed last."""
        self.until(lambda: "metrics: http" in self.stdout, "the address printed")
        host, port = re.findall(r"metrics: http://([^:]+):(\d+)/", self.stdout)[-1]
        return host, int(port)

    def get(self, path: str) -> str:
        """What HTTP answers."""
        return body_of(http.client.HTTPConnection(*self.address, timeout=TIMEOUT), path)

    def metric(self, name: str, /, **labels: str) -> float:
        """The sum of all series of that name with these labels."""
        total = 0.0
        for line in self.get("/metrics").splitlines():
            match = re.fullmatch(rf"{name}(?:\{{(?P<labels>.*)\}})? (?P<value>\S+)", line)
            if match and all(f'{key}="{value}"' in (match["labels"] or "") for key, value in labels.items()):
                total += float(match["value"])
        return total

    def ask(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """`syncret status`, `explain` or `refresh`."""
        return syncret(*arguments, "--socket", self.socket)

    def status_document(self) -> dict[str, Any]:
        """What the control socket answers at /status."""
        document: dict[str, Any] = json.loads(body_of(SocketConnection(self.socket), "/status"))
        return document

    def status(self, name: str) -> dict[str, Any]:
        """What /status says of the object of that name."""
        told = self.status_document()
        objects: list[dict[str, Any]] = [*told["stores"], *told["objects"]]
        return next(each for each in objects if each["name"] == name)

    def problems(self) -> list[dict[str, Any]]:
        """What /status says of the manifests."""
        problems: list[dict[str, Any]] = self.status_document()["problems"]
        return problems


@contextmanager
def daemon(
    folder: Path,
    manifests: Path | None,
    *arguments: str | Path,
    ready: bool = True,
    under: Sequence[str] = (),
    program: Sequence[str | Path] = (SYNCRET,),
    **env: str,
) -> Generator[Daemon, None, None]:
    """A daemon with everything of its own below `folder`; killed at the end if it still runs.

    Without `manifests`, the settings name them, or with `--kubernetes` there are none.
    `under` is a command that makes place for it, as `prlimit`; `program` is ours, if it is called otherwise.
    """
    told = folder / "told"
    told.mkdir(exist_ok=True)
    control = folder / "control.sock"
    named = () if manifests is None else ("-f", manifests)
    output = () if "--kubernetes" in arguments else ("--output-dir", folder / "out")
    command: list[str | Path] = [*under, *program, "run", *named, *output]
    command += ["--state", folder / "state.db", "--listen", "127.0.0.1:0", "--set", f"socket={control}"]
    command += ["--set", "logFormat=console", "--set", "rescanInterval=1s", *arguments]
    with (told / "stdout").open("wb") as out, (told / "stderr").open("wb") as err:
        process = subprocess.Popen(
            command, stdout=out, stderr=err, stdin=subprocess.DEVNULL, env=environment(**env)
        )
    running = Daemon(process, told, control)
    try:
        if ready:
            running.said("the first pass is done")
        yield running
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


def free_port() -> int:
    """A port that nobody listened on a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def server_process(module: str) -> Generator[str, None, None]:
    """The URL of a server in a process of its own, which prints it: what it takes disturbs no measure."""
    command = [sys.executable, "-m", module]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=ROOT
    ) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()
