"""What the pages for operators claim, tried: a lost state, alerts and queries, a translated template."""

import base64
import os
import re
from pathlib import Path

import pytest
import yaml

from syncret.config.manifests.loader import load_bytes
from syncret.daemon.cli.exit_codes import OK
from syncret.daemon.cli.main import main
from syncret.daemon.ops.metric_families import FAMILIES
from syncret.daemon.simulate.scenario import read_scenario
from syncret.daemon.simulate.simulation import run_scenario
from syncret.providers.registry import Registry
from tests.suites.docs.pages import ROOT, blocks, text_of
from tests.support.metrics import known_metrics

MONITORING = "docs/guides/monitoring.md"
FROM_AGENT = "docs/guides/from-vault-agent.md"
MANIFEST = """\
apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {name: demo}
spec: {provider: {fake: {data: [{key: database, value: '{"user": "app"}'}]}}}
---
apiVersion: generators.external-secrets.io/v1alpha1
kind: Password
metadata: {name: password}
spec: {length: 24, noUpper: false, allowRepeat: true}
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: once}
spec:
  refreshPolicy: CreatedOnce
  dataFrom: [{sourceRef: {generatorRef: {kind: Password, name: password}}}]
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: never}
spec:
  refreshInterval: "0"
  dataFrom: [{sourceRef: {generatorRef: {kind: Password, name: password}}}]
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: database}
spec:
  secretStoreRef: {name: demo}
  dataFrom: [{extract: {key: database}}]
"""
ONCE = ("once", "never")
FORMER = """\
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: former}
spec:
  secretStoreRef: {name: demo}
  dataFrom: [{extract: {key: database}}]
"""


def test_what_is_lost_with_the_state_file(tmp_path: Path) -> None:
    manifests, out, state = tmp_path / "manifests", tmp_path / "out", tmp_path / "state.db"
    manifests.mkdir()
    (manifests / "all.yaml").write_text(MANIFEST)
    (manifests / "former.yaml").write_text(FORMER)

    def sync() -> None:
        given = ["-f", os.fspath(manifests), "--output-dir", os.fspath(out), "--state", os.fspath(state)]
        assert main(["sync", *given]) == OK

    sync()
    kept, generated = out / "default/database/user", [out / f"default/{name}/password" for name in ONCE]
    before, drawn = kept.stat().st_ino, [file.read_text() for file in generated]
    sync()
    assert [file.read_text() for file in generated] == drawn
    for file in tmp_path.glob("state.db*"):
        file.unlink()
    (manifests / "former.yaml").unlink()
    sync()

    assert kept.stat().st_ino == before  # right already: not touched
    assert not set(drawn) & {file.read_text() for file in generated}
    assert (out / "default/former/user").exists()


def test_the_page_explains_every_alert() -> None:
    rules = yaml.safe_load((ROOT / "deploy/prometheus/alerts.yaml").read_text())["groups"][0]["rules"]
    shown = re.findall(r"^\| `(Syncret\w+)` \| (\w+) \|", text_of(MONITORING), re.MULTILINE)

    assert shown == [(rule["alert"], rule["labels"]["severity"]) for rule in rules]


def test_the_queries_of_the_page_ask_for_metrics_that_there_are() -> None:
    known = known_metrics() | {family.name for family in FAMILIES}
    named = re.findall(r"\b(?:syncret|process|externalsecret)_[a-z_]+", text_of(MONITORING))

    assert len(named) > len(set(named)) > len(FAMILIES) // 4
    assert set(named) <= known


@pytest.mark.parametrize("title", ["database.yaml", "try.yaml"])
def test_the_translated_template_is_the_one_that_is_tried(title: str) -> None:
    [block] = [block for block in blocks(ROOT / FROM_AGENT, "yaml") if block.title == title]
    template = re.search(r"database\.ini: \|\n(.*?)\n +dataFrom", block.text, re.DOTALL)

    assert template is not None
    assert re.sub(r"(?m)^ +", "", template[1]) == "[database]\nuser = {{ .user }}\npassword = {{ .password }}"


def test_the_translated_template_renders_what_the_page_shows() -> None:
    [scenario] = [block for block in blocks(ROOT / FROM_AGENT, "yaml") if block.title == "try.yaml"]
    [told] = [block for block in blocks(ROOT / FROM_AGENT, "console") if "simulate" in block.text]
    [loaded] = load_bytes("try.yaml", scenario.text.encode())
    assert loaded.document is not None
    registry = Registry()
    read, problems = read_scenario(loaded.document, registry)
    assert read is not None, problems
    [secret] = [
        each
        for each in run_scenario(read, registry, now=0.0)["steps"][0]["objects"]
        if each["kind"] == "Secret"
    ]

    assert base64.b64decode(secret["data"]["database.ini"]).decode() == told.text.partition("\n")[2]
