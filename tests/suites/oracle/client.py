"""Asks the oracle: the operator's own packages, in a process that answers one question at a time."""

import base64
import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, Self, cast

from tests.support.servers.golang import built

MODULE: Final = Path(__file__).with_name("engine")


@dataclass(frozen=True, slots=True)
class Answer:
    """What one side says: a result, or the class of what went wrong (`parse`, `execute`, `failed`)."""

    result: object = None
    failed: str = ""
    why: str = ""
    """For people; never compared."""
    bounded: bool = False
    """Only a bound of ours was in the way."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Answer) and (self.result, self.failed) == (other.result, other.failed)

    def __hash__(self) -> int:
        return hash(self.failed)


class Oracle:
    """The process. A context manager; built when it is first needed."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [built(MODULE) / "oracle"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "TZ": "UTC", "GOMEMLIMIT": "1GiB"},
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(timeout=10)

    def ask(self, operation: str, **question: object) -> Answer:
        """The answer to one question; bytes travel as base64."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        line = json.dumps({"op": operation, **question}, default=_encode)
        self._process.stdin.write(line.encode() + b"\n")
        self._process.stdin.flush()
        told = self._process.stdout.readline()
        assert told, f"the oracle died of {line[:2000]}"
        answer = cast("dict[str, object]", json.loads(told))
        failed, why = str(answer.get("class", "")), str(answer.get("error", ""))
        assert failed != "request", why
        return Answer(None if failed else answer.get("result"), failed, why)


def bytes_of(result: object) -> bytes:
    """Bytes as the oracle writes them."""
    return base64.b64decode(cast("str", result or ""))


def map_of(result: object) -> dict[str, bytes]:
    """A map of bytes as the oracle writes it."""
    return {key: bytes_of(value) for key, value in cast("Mapping[str, str]", result or {}).items()}


def _encode(value: object) -> str:
    assert isinstance(value, bytes)
    return base64.b64encode(value).decode()
