"""Runs cases of templates through `syncret template`, each as a process of its own."""

import json
import os
import re
import subprocess
import sys
from base64 import b64encode
from collections.abc import Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from syncret.config.fields import Json
from tests.suites.corpus.runners.cases import Case
from tests.suites.corpus.runners.commands import TIMEOUT

WORKERS: Final = 2
_SYNCRET: Final = Path(sys.executable).with_name("syncret")


class Rendering(NamedTuple):
    """What the process said."""

    code: int
    out: bytes
    told: str


@contextmanager
def rendering(cases: Sequence[Case], folder: Path) -> Generator[Mapping[Case, Future[Rendering]], None, None]:
    """Renders every case, a few at a time; each has its own future."""
    with ThreadPoolExecutor(WORKERS) as pool:
        yield {case: pool.submit(_render, folder, case) for case in cases}
        pool.shutdown(cancel_futures=True)


def _render(folder: Path, case: Case) -> Rendering:
    place = folder / str(id(case))
    place.mkdir()
    (place / "template").write_bytes(_text(case.body["template"]))
    (place / "data.json").write_text(json.dumps(_data(case)), encoding="utf-8")
    done = subprocess.run(
        [_SYNCRET, "template", place / "template", "--data", place / "data.json", *_flags(case)],
        capture_output=True,
        timeout=TIMEOUT,
        check=False,
        env={**os.environ, "TZ": "UTC"},
    )
    return Rendering(done.returncode, done.stdout, done.stderr.decode(errors="replace"))


def _text(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _data(case: Case) -> Json:
    """A document for `--data`: a Secret stands for a map of strings, which may be binary."""
    body = case.body
    if body.get("env") == "go":
        return body["data"]
    data = body.get("data_b64")
    if data is None:
        data = {key: b64encode(_text(value)).decode() for key, value in body["data"].items()}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "data"}, "data": data}


def _flags(case: Case) -> Iterator[str]:
    body = case.body
    env = body.get("env", "eso")
    missing = {"go": body.get("missingkey", "default"), "transform": "default"}.get(env, "error")
    yield from ("--missing-key", missing)
    if env == "go":
        yield from ("--functions", "go")
    if "delims" in body:
        yield f"--delims={','.join(body['delims'])}"
    if body.get("parse_only") is True:
        yield "--check"


def mismatches(case: Case, rendering: Rendering) -> Iterator[str]:
    """What came that was not expected."""
    body = case.body
    fails = body.get("error") is True
    if body.get("parse_only") is True:
        fails = not body.get("want_parse", not fails)
    if rendering.code != (1 if fails else 0):
        expected = "an error" if fails else "none"
        yield f"expected {expected}; came exit code {rendering.code}, {rendering.told.strip()!r}"
    elif fails:
        if rendering.out or not re.fullmatch(
            r"error: template .*line \d+, column \d+: .*\n", rendering.told, re.DOTALL
        ):
            yield f"expected one message with its place; came {rendering.told!r} and {rendering.out!r}"
    elif "want_regex" in body:
        if not re.search(body["want_regex"], rendering.out.decode(errors="replace"), re.DOTALL):
            yield f"expected what matches {body['want_regex']!r}; came {rendering.out!r}"
    elif body.get("parse_only") is not True and rendering.out != str(body["want"]).encode():
        yield f"expected {body['want']!r}; came {rendering.out!r}"
