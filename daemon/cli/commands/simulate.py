"""`syncret simulate`: runs the scenarios of some files, and prints one result for each."""

import sys
import time
from argparse import Namespace
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from syncret.config.errors import Problem
from syncret.config.manifests.loader import read_bounded, unreadable
from syncret.config.meta import Document, is_object
from syncret.config.text.yaml import LIMITS, parse_text
from syncret.config.text.yaml_lines import Lines
from syncret.daemon.cli.exit_codes import INVALID, OK
from syncret.daemon.cli.printing import print_json, print_problem, print_yaml
from syncret.daemon.cli.simulation_table import print_simulation
from syncret.daemon.core.redact import REDACTED, redacted
from syncret.daemon.simulate.scenario import KIND, Scenario, read_scenario
from syncret.daemon.simulate.simulation import run_scenario
from syncret.providers.registry import Registry


class _Read(NamedTuple):
    """One document of a file: a scenario, or its problems."""

    file: str
    scenario: Scenario | None
    problems: tuple[Problem, ...]


def run(options: Namespace) -> int:
    """Run all scenarios; none is run if one of them is malformed."""
    registry = Registry()
    found = [each for file in options.scenario for each in _read(file, registry)]
    broken = [(each.file, problem) for each in found for problem in each.problems]
    for file, problem in broken:
        print_problem(sys.stderr, file, problem)
    if broken:
        return INVALID
    show = {"yaml": print_yaml, "json": print_json, "table": print_simulation}[options.output]
    scenarios = [each.scenario for each in found if each.scenario is not None]
    for number, scenario in enumerate(scenarios):
        result = run_scenario(scenario, registry, now=time.time())
        if number and options.output == "table":
            sys.stdout.write("\n")
        show(result if options.show_values else _without_values(result))
        sys.stdout.flush()
    return OK


def _read(file: str, registry: Registry) -> Iterator[_Read]:
    try:
        data = read_bounded(file, LIMITS.file + 1)
    except (OSError, ValueError) as error:
        yield _Read(file, None, (unreadable(error),))
        return
    documents = list(parse_text(data, as_json=file.endswith(".json")))
    kinds = [parsed.value.get("kind") for parsed in documents if is_object(parsed.value)]
    others = [kind for kind in kinds if isinstance(kind, str)]
    if not documents or (others and len(others) == len(documents) and KIND not in others):
        hint = "a scenario has kind: Scenario"
        if others:
            hint += "; apply manifests in a step of one, or check them with `syncret validate`"
        message = (
            f"holds no scenario, but {', '.join(dict.fromkeys(others))}" if others else "holds no scenario"
        )
        yield _Read(file, None, (Problem(path="", message=message, hint=hint),))
        return
    for parsed in documents:
        if parsed.problems or not is_object(parsed.value):
            problem = Problem(
                path="", message="is not a mapping", hint="a scenario has kind: Scenario", line=parsed.line
            )
            yield _Read(file, None, parsed.problems or (problem,))
            continue
        scenario, problems = read_scenario(parsed.value, registry)
        yield _Read(file, scenario, tuple(_placed(problem, parsed.lines) for problem in problems))


def _placed(problem: Problem, lines: Lines) -> Problem:
    return msgspec.structs.replace(problem, line=lines.of(problem.path))


def _without_values(result: Document) -> Document:
    """The result with the values of Secrets, of `fake` stores and of pushes redacted."""
    steps = [
        {
            **step,
            "objects": [redacted(document) for document in step["objects"]],
            "writes": [{**write, "valueBase64": REDACTED} for write in step["writes"]],
        }
        for step in result["steps"]
    ]
    return {**result, "steps": steps}
