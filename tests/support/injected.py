"""Errors of the kernel in the system calls of a running process, for as long as a block lasts: by strace."""

import shutil
import subprocess
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

NEEDS: Final = "" if shutil.which("strace") else "needs strace"
_ATTACHED: Final = "attached"


@contextmanager
def failing(pid: int, call: str, error: str, *paths: Path) -> Generator[None, None, None]:
    """A system call on one of these files, or in one of these folders, ends with this error."""
    where: Sequence[str] = [argument for path in paths for argument in ("-P", str(path))]
    command = ["strace", "-f", "-p", str(pid), *where, "-e", f"inject={call}:error={error}"]
    with subprocess.Popen(
        [*command, "-e", f"trace={call}"], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    ) as tracer:
        assert tracer.stderr is not None
        try:
            while _ATTACHED not in (line := tracer.stderr.readline()):
                assert line, "strace ended"
            yield
        finally:
            tracer.terminate()
            tracer.communicate()
