"""The operator's own providers, release 0.20.4, as a program that makes one store's calls."""

import asyncio
import json
import os
import subprocess
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from syncret.config.fields import Json
from tests.support.servers.golang import built, need_go

_FLAGS: Final = ("-mod=mod", "-ldflags=-s -w")
_PATIENCE: Final = 60.0


class Outcome(NamedTuple):
    """What became of one call; none of them is set if it had nothing to say."""

    value: bytes | None = None
    values: Mapping[str, bytes] | None = None
    exists: bool = False
    state: str = ""
    absent: bool = False
    error: str = ""


def program() -> Path:
    """The program, built now if the cache does not have it (minutes, once)."""
    need_go()
    folder = built(Path(__file__).parent, packages=("./cmd/provider-client",), flags=_FLAGS)
    return folder / "provider-client"


async def called(
    program: Path,
    provider: Mapping[str, Json],
    secrets: Mapping[str, Mapping[str, bytes]],
    calls: Sequence[Mapping[str, Json]],
    environment: Mapping[str, str],
) -> list[Outcome]:
    """What became of each call, made by the operator's provider with this part of a store's manifest."""
    encoded = {
        name: {key: b64encode(value).decode() for key, value in data.items()}
        for name, data in secrets.items()
    }
    line = json.dumps({"provider": provider, "secrets": encoded, "calls": calls}) + "\n"

    def run() -> str:
        done = subprocess.run(
            [program],
            input=line,
            env={**os.environ, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            timeout=_PATIENCE,
            check=True,
        )
        return done.stdout.splitlines()[-1]

    return [_outcome(each) for each in json.loads(await asyncio.to_thread(run))]


def _outcome(found: Mapping[str, Any]) -> Outcome:
    values = found.get("values")
    return Outcome(
        value=b64decode(found["value"]) if "value" in found else None,
        values=None if values is None else {name: b64decode(text) for name, text in values.items()},
        exists=found.get("exists", False),
        state=found.get("state", ""),
        absent=found.get("absent", False),
        error=found.get("error", ""),
    )
