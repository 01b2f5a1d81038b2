"""Runs cases through `syncret simulate`, many in one process, and hands back the world after each step."""

import json
import re
import subprocess
from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, NamedTuple

from syncret.config.fields import Json
from syncret.config.meta import Document
from tests.suites.corpus.runners.cases import Case
from tests.suites.corpus.runners.commands import run
from tests.suites.corpus.runners.comparing import Unknown, list_in
from tests.suites.corpus.runners.expectations import mismatches
from tests.suites.corpus.runners.scenarios import Translated, scenario, translate
from tests.suites.corpus.runners.seen import Seen

BATCH: Final = 60
WORKERS: Final = 2

_REFUSED_TOO: Final = re.compile(r"\brejected (at|by)( the)? (admission|webhook)")
"""The note of a case that tells how a resource fails where no webhook refuses it before."""


class Simulation(NamedTuple):
    """The scenario of a case, and what was reported of its steps."""

    translated: Translated
    steps: Sequence[Document]


def simulated(cases: Sequence[Case], folder: Path) -> dict[Case, Simulation | str]:
    """What became of every case, or why it did not run."""
    outcomes: dict[Case, Simulation | str] = {}
    files: dict[Path, tuple[Case, Translated]] = {}
    for number, case in enumerate(cases):
        try:
            name = f"case-{number:04}"
            translated = translate(case, name)
        except Unknown as error:
            outcomes[case] = str(error)
        else:
            path = folder / f"{name}.json"
            path.write_text(json.dumps(translated.document), encoding="utf-8")
            files[path] = (case, translated)
    for path, steps in results(list(files), folder).items():
        case, translated = files[path]
        outcomes[case] = steps if isinstance(steps, str) else Simulation(translated, steps)
    return outcomes


def results(files: Sequence[Path], folder: Path) -> Mapping[Path, list[Document] | str]:
    """The reported steps of each file's scenario, or why there are none."""
    probe = folder / "empty.json"
    probe.write_text(json.dumps(scenario("empty", [{}])), encoding="utf-8")
    tried = _batch([probe])[probe]
    if isinstance(tried, str):
        return dict.fromkeys(files, tried)
    batches = [files[start : start + BATCH] for start in range(0, len(files), BATCH)]
    with ThreadPoolExecutor(WORKERS) as pool:
        return {path: steps for part in pool.map(_batch, batches) for path, steps in part.items()}


def _batch(files: Sequence[Path]) -> dict[Path, list[Document] | str]:
    """One process for all files; where it fails, one for each half, until it is known which file fails."""
    try:
        done = run("simulate", *map(str, files), "-o", "json", "--show-values")
    except subprocess.TimeoutExpired as error:
        problem = str(error)
    else:
        lines = done.stdout.splitlines()
        if done.returncode == 0 and len(lines) == len(files):
            return {path: _steps(path, json.loads(line)) for path, line in zip(files, lines, strict=True)}
        counted = f"{len(lines)} results of {len(files)}"
        problem = f"exit code {done.returncode}, {counted}: {done.stderr.strip()[-2000:]}"
    if len(files) == 1:
        return {files[0]: f"syncret simulate: {problem}"}
    middle = len(files) // 2
    return {**_batch(files[:middle]), **_batch(files[middle:])}


def _steps(path: Path, result: Document) -> list[Document] | str:
    """The steps of a result, if it is the one of this file's scenario."""
    named = {
        "apiVersion": "syncret.dev/v1alpha1",
        "kind": "SimulationResult",
        "metadata": {"name": path.stem},
    }
    came = {name: value for name, value in result.items() if name != "steps"}
    return list_in(result, "steps") if came == named else f"expected the result {named}; came {came}"


def differences(case: Case, simulation: Simulation) -> Iterator[str]:
    """What came after each step that was not expected. Raises Unknown for what nobody can expect."""
    worlds = list(_worlds(simulation.translated.subject, simulation.steps))
    may_be_refused = _REFUSED_TOO.search(case.body.get("note", "")) is not None
    for place, expected in simulation.translated.expectations:
        for mismatch in mismatches(expected, worlds[place], may_be_refused=may_be_refused):
            yield mismatch if place == 1 else f"step {place - 1}: {mismatch}"


def _worlds(subject: Document, steps: Sequence[Document]) -> Iterator[Seen]:
    """What is seen after each step. What came before the resource counts as coming with it."""
    held: dict[tuple[str, str, str], bytes] = {}
    earlier: dict[str, list[Json]] = {}
    for place, step in enumerate(steps):
        for write in step["writes"]:
            held[_target(write)] = _value(write)
        for delete in step["deletes"]:
            held.pop(_target(delete), None)
        happened: dict[str, list[Json]] = {
            name: [*(earlier.get(name, []) if place == 1 else []), *step[name]]
            for name in ("changes", "writes", "deletes", "rejected")
        }
        yield Seen(subject=subject, objects=step["objects"], held=dict(held), **happened)
        earlier = happened


def _target(call: Mapping[str, Json]) -> tuple[str, str, str]:
    return (call["store"], call["remoteKey"], call.get("property", ""))


def _value(write: Mapping[str, Json]) -> bytes:
    return b64decode(write["valueBase64"])
