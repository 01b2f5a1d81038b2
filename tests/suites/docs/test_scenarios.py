"""Scenarios of the pages run, and come to what the page says."""

import json
from typing import Any

import pytest

from syncret.config.manifests.loader import load_bytes
from syncret.config.meta import Document, member
from syncret.daemon.cli.main import main
from syncret.daemon.core.exports.owner import EXPORTED_BY
from syncret.daemon.simulate.scenario import read_scenario
from syncret.daemon.simulate.simulation import run_scenario
from syncret.providers.registry import Registry
from tests.suites.docs.pages import ROOT, Block, blocks, every

REGISTRY = Registry()
PAGE = ROOT / "docs" / "concepts" / "simulate.md"
SAMPLE = ROOT / "config" / "samples" / "rotation" / "scenario.yaml"
FILTER = (
    "jq -c '.steps[] | [.now, .reads, (.changes | map(.action)), "
    '(.objects[] | select(.kind == "ExternalSecret").status.conditions[0] | .reason, .message)]\''
)
SCENARIOS = [block for block in every("yaml") if "kind: Scenario" in block.text]


def _run(text: str) -> Document:
    [loaded] = load_bytes("scenario.yaml", text.encode())
    assert loaded.document is not None
    scenario, problems = read_scenario(loaded.document, REGISTRY)
    assert scenario is not None, problems
    return run_scenario(scenario, REGISTRY, now=0.0)


def _filtered(step: Document) -> list[Any]:
    """What the page's filter makes of a step."""
    [condition] = [
        each["status"]["conditions"][0] for each in step["objects"] if each["kind"] == "ExternalSecret"
    ]
    actions = [change["action"] for change in step["changes"]]
    return [step["now"], step["reads"], actions, condition["reason"], condition["message"]]


@pytest.mark.parametrize("block", SCENARIOS, ids=str)
def test_a_scenario_of_a_page_runs(block: Block) -> None:
    last = _run(block.text)["steps"][-1]

    assert last["rejected"] == []
    synced = [each for each in last["objects"] if each["kind"] == "ExternalSecret"]
    assert synced or [each for each in last["objects"] if EXPORTED_BY in _labels(each)]


def _labels(document: Document) -> Document:
    return member(document, "metadata", "labels")


def test_the_page_shows_what_comes_of_its_scenario(capsys: pytest.CaptureFixture[str]) -> None:
    first, *_ = [block for block in SCENARIOS if block.page == "docs/concepts/simulate.md"]
    [table, told] = [block for block in blocks(PAGE, "console") if "simulate" in block.text]
    command, *lines = told.text.splitlines()

    assert main(["simulate", str(SAMPLE)]) == 0
    assert table.text == f"$ syncret simulate {SAMPLE.relative_to(ROOT)}\n{capsys.readouterr().out}"
    assert command == f"$ syncret simulate {SAMPLE.relative_to(ROOT)} -o json | {FILTER}"
    assert [json.loads(line) for line in lines] == [_filtered(step) for step in _run(first.text)["steps"]]


def test_the_scenario_of_the_page_is_the_sample() -> None:
    assert [block for block in SCENARIOS if block.text == SAMPLE.read_text()]
