"""Worker processes: for calls that would hold up the whole daemon, or take any amount of memory.

A thread is no help against one long call into C that keeps Python's lock, such as the check of an RSA key, or
the reading of a PKCS#12 file that asks for a billion rounds of key derivation; nor can it be ended. A process
can, by its deadline and its limit of memory.

Both ends are here. Functions are named, arguments and results are plain data (None, booleans, numbers, text,
bytes, lists, mappings): what a process that was taken over may send back is data, too. Nothing is in the
command line or the environment of a process; it starts when it is first needed, and writes no core file.
"""

import os
import resource
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from operator import attrgetter
from typing import IO, Final, TypeVar, cast

import msgspec

from syncret.daemon.process import keep_memory_private

T = TypeVar("T")

MOST: Final = 2
MEMORY: Final = 512 * 2**20
"""Bytes of address space that one process may have; Python and the libraries take a hundred million."""

_LENGTH: Final = 8
_PART: Final = 1 << 16
"""Bytes that are read at once: what a pipe holds."""

_GRACE: Final = 5
"""Seconds after which the kernel ends a process that the daemon should have ended."""

_ENVIRONMENT: Final = ("LANG", "LC_ALL", "LD_LIBRARY_PATH", "PATH", "PYTHONHOME", "TZ")
"""The environment variables that a process inherits: enough to find Python, and no secret."""

_BOOT: Final = (
    "import sys, json; sys.path[:] = json.loads(sys.stdin.buffer.readline()); "
    f"from {__name__} import serve; serve()"
)


class WorkerError(Exception):
    """A call had no result: it took too long or too much memory, or the process was ended."""


class OutOfTime(WorkerError):
    """The deadline is over, and the process with it."""


class OutOfMemory(WorkerError):
    """The function, or the whole process, took more memory than it may."""


class _Request(msgspec.Struct, array_like=True):
    module: str
    name: str
    arguments: tuple[object, ...]
    seconds: float


class _Answer(msgspec.Struct, array_like=True):
    result: object = None
    failure: str = ""
    """The class of the exception; its text may hold anything."""


class WorkerProcesses:
    """A few processes, each for one call at a time. For threads: a call waits for its result."""

    def __init__(self, *, most: int = MOST, memory: int = MEMORY) -> None:
        self._memory = memory
        self._turns = threading.Semaphore(most)
        self._lock = threading.Lock()
        self._idle: list[_Worker] = []
        self._busy: set[_Worker] = set()
        self._closed = False

    def __len__(self) -> int:
        return len(self._idle) + len(self._busy)

    def call(self, seconds: float, function: Callable[..., T], *arguments: object) -> T:
        """The result of a function of a module, for plain data; within so many seconds (0: no limit).

        Lists come back for tuples. Raises WorkerError.
        """
        request = _Request(function.__module__, function.__qualname__, arguments, seconds)
        encoded = msgspec.msgpack.encode(request)
        with self._turns:
            worker = self._take()
            try:
                answer = msgspec.msgpack.decode(worker.call(encoded, seconds), type=_Answer)
            except BaseException:  # the process may still run the function, so it serves no other call
                self._leave(worker)
                worker.end()
                raise
            self._put(worker)
        if answer.failure == MemoryError.__name__:
            raise OutOfMemory
        if answer.failure:
            raise RuntimeError(f"{request.name} failed in a worker process: {answer.failure}")
        return cast("T", answer.result)

    def end_idle(self) -> None:
        """End the processes that serve no call now."""
        with self._lock:
            idle, self._idle = self._idle, []
        for worker in idle:
            worker.end()

    def close(self) -> None:
        """End all processes: calls that wait for one fail, and no other begins."""
        with self._lock:
            self._closed = True
            for worker in self._busy:
                worker.kill()
        self.end_idle()

    def _take(self) -> "_Worker":
        with self._lock:
            if self._closed:
                raise _stopping()
            worker = self._idle.pop() if self._idle else _Worker(self._memory)
            self._busy.add(worker)
        return worker

    def _put(self, worker: "_Worker") -> None:
        self._leave(worker)
        with self._lock:
            if not self._closed:
                self._idle.append(worker)
                return
        worker.end()

    def _leave(self, worker: "_Worker") -> None:
        with self._lock:
            self._busy.discard(worker)

    def __repr__(self) -> str:
        return f"<WorkerProcesses idle={len(self._idle)} busy={len(self._busy)}>"


class _Worker:
    """One process, as its caller sees it."""

    def __init__(self, memory: int) -> None:
        self._process = subprocess.Popen(  # noqa: S603  # this Python, and a constant
            [sys.executable, "-s", "-P", "-c", _BOOT],
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
            start_new_session=True,  # Ctrl-C is for the daemon
        )
        to, back = self._process.stdin, self._process.stdout
        if to is None or back is None:
            raise AssertionError("a worker process has both pipes")
        self._to, self._back = to.fileno(), back.fileno()
        os.set_blocking(self._to, False)  # a process that reads nothing holds up no thread
        self._greeting = msgspec.json.encode(sys.path) + b"\n" + memory.to_bytes(_LENGTH)
        self._is_ended = False

    def call(self, request: bytes, seconds: float) -> bytes:
        """The answer. Raises WorkerError if there is none; the process may still run the function."""
        until = time.monotonic() + seconds if seconds else None
        try:
            self._send(self._greeting, until)
            self._greeting = b""
            self._send(len(request).to_bytes(_LENGTH), until)
            self._send(request, until)
            return self._receive(int.from_bytes(self._receive(_LENGTH, until)), until)
        except (OSError, EOFError):
            if self._is_ended:
                raise _stopping() from None
            raise OutOfMemory from None  # the kernel ended it, or a library that had no memory left

    def _send(self, content: bytes, until: float | None) -> None:
        left = memoryview(content)
        while left:
            _wait(self._to, select.POLLOUT, until)
            left = left[os.write(self._to, left) :]

    def _receive(self, count: int, until: float | None) -> bytes:
        """So many bytes. Raises EOFError if the other end is gone."""
        content = bytearray()
        while len(content) < count:
            _wait(self._back, select.POLLIN, until)
            part = os.read(self._back, min(count - len(content), _PART))
            if not part:
                raise EOFError
            content += part
        return bytes(content)

    def kill(self) -> None:
        """End it while a call waits for its answer: that fails."""
        self._is_ended = True
        self._process.kill()

    def end(self) -> None:
        """End it and tidy up; no call uses it any more."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()


def _wait(pipe: int, event: int, until: float | None) -> None:
    """Return once the pipe is ready, or its other end gone. Raises OutOfTime.

    A timer would be one more thread for each call, and the event loop would wait for each turn of it.
    """
    poll = select.poll()
    poll.register(pipe, event)
    if not poll.poll(None if until is None else max(0.0, until - time.monotonic()) * 1000):
        raise OutOfTime


def _stopping() -> WorkerError:
    return WorkerError("the daemon is stopping")


def _write(pipe: IO[bytes], content: bytes) -> None:
    pipe.write(len(content).to_bytes(_LENGTH) + content)
    pipe.flush()


def _read(pipe: IO[bytes]) -> bytes:
    """One message. Raises EOFError if the other end is gone."""
    head = pipe.read(_LENGTH)
    content = pipe.read(int.from_bytes(head))
    if len(head) < _LENGTH or len(content) < int.from_bytes(head):
        raise EOFError
    return content


# -------------------------------------------------------------------------------------- in the process itself
def serve() -> None:
    """Answer calls from standard input until its end. Only a worker process runs this."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # the daemon ends it, when it has drained
    keep_memory_private()
    source, to = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # output of libraries must not mix with answers
    memory = int.from_bytes(source.read(_LENGTH))
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    with suppress(EOFError):
        while True:
            request = msgspec.msgpack.decode(_read(source), type=_Request)
            _limit_time(request.seconds)
            _write(to, _answered(request))


def _limit_time(seconds: float) -> None:
    """Have the kernel end this process some time after the deadline: the daemon may be gone by then."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    latest = int(usage.ru_utime + usage.ru_stime + seconds) + _GRACE if seconds else hard
    resource.setrlimit(resource.RLIMIT_CPU, (latest, hard))


def _answered(request: _Request) -> bytes:
    try:
        function = attrgetter(request.name)(import_module(request.module))
        return msgspec.msgpack.encode(_Answer(function(*request.arguments)))
    except Exception as error:  # noqa: BLE001  # reported to the daemon, by its class
        return msgspec.msgpack.encode(_Answer(failure=type(error).__name__))
