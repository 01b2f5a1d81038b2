"""The alert rules: valid, tested, and about metrics that exist."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from syncret.daemon.cli.parser.arguments import parser
from tests.suites.docs.pages import ROOT, blocks
from tests.support.metrics import known_metrics, metrics_of

FOLDER = Path(__file__).parents[3] / "deploy/prometheus"
RULES: list[dict[str, Any]] = yaml.safe_load((FOLDER / "alerts.yaml").read_text())["groups"][0]["rules"]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: str(rule["alert"]))
def test_a_rule_asks_for_metrics_that_there_are_and_says_what_to_do(rule: dict[str, Any]) -> None:
    assert metrics_of(rule["expr"]) <= known_metrics()
    assert rule["labels"]["severity"] in {"critical", "warning"}
    assert rule["annotations"].keys() == {"summary", "description"}


def test_commands_in_the_rules_can_be_typed() -> None:
    text = (FOLDER / "alerts.yaml").read_text()
    for command in re.findall(r"`syncret ([^`]*)`", text):
        parser().parse_args(re.sub(r"{{.*?}}", "x", command).split())


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("promtool") is None, reason="needs promtool (Debian: prometheus)")
@pytest.mark.parametrize(
    "arguments", [["check", "rules", "alerts.yaml"], ["test", "rules", "alerts_test.yaml"]]
)
def test_promtool_agrees(arguments: list[str]) -> None:
    ran = subprocess.run(["promtool", *arguments], cwd=FOLDER, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("promtool") is None, reason="needs promtool (Debian: prometheus)")
def test_promtool_takes_the_settings_of_the_page(tmp_path: Path) -> None:
    page = ROOT / "docs" / "guides" / "monitoring.md"
    [block] = [block for block in blocks(page, "yaml") if block.title == "prometheus.yml"]
    file = tmp_path / block.title
    file.write_text(block.text.replace("/etc/prometheus/rules/syncret.yaml", str(FOLDER / "alerts.yaml")))
    ran = subprocess.run(["promtool", "check", "config", file], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
