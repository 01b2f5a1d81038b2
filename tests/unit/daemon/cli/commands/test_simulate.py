"""A scenario that is malformed, or is none: nothing runs, and each problem has its place and remedy."""

import re
from pathlib import Path

import pytest

from syncret.daemon.cli.main import main

HEAD = "apiVersion: syncret.dev/v1alpha1\nkind: Scenario\n"
GOOD = HEAD + "spec: {steps: [{}]}\n"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param(
            HEAD + "spec:\n  steps:\n  - aply: []\n",
            ["5: error: spec.steps[0].aply: unknown field (did you mean apply?)"],
            id="unknown field",
        ),
        pytest.param(
            HEAD + "spec:\n  step: []\n  flags: 1\n",
            [
                "4: error: spec.step: unknown field (did you mean steps?)",
                "5: error: spec.flags: must be an array, not an integer (start each entry with '- ')",
            ],
            id="all of them",
        ),
        pytest.param(
            "apiVersion: external-secrets.io/v1\nkind: SecretStore\nspec: {provider: {}}\n",
            ["2: error: kind: SecretStore is not a Scenario (apply it in a step of a Scenario, or check it "],
            id="manifest",
        ),
        pytest.param(
            GOOD.replace("v1alpha1", "v1"),
            ['1: error: apiVersion: unsupported value "syncret.dev/v1" (write syncret.dev/v1alpha1)'],
            id="version",
        ),
    ],
)
def test_a_malformed_scenario_runs_nothing(
    text: str, told: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "scenario.yaml"
    file.write_text(f"{text}---\n{GOOD}")
    assert main(["simulate", str(file)]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert len(err.splitlines()) == len(told)
    for line, expected in zip(err.splitlines(), told, strict=True):
        assert line.startswith(f"{file}:{expected}")


def test_a_scenario_among_manifests_is_told_where_it_belongs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "scenario.yaml"
    file.write_text(GOOD)
    for command in ("validate", "sync"):
        assert main([command, "-f", str(file)]) == 2
        told = "".join(capsys.readouterr())
        assert f"{file}:2: error: kind: a Scenario is not a manifest (run it with `syncret simulate`)" in told


def test_a_file_of_manifests_is_one_problem(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "manifests.yaml"
    file.write_text("kind: SecretStore\n---\nkind: ExternalSecret\n---\nkind: ExternalSecret\n")
    assert main(["simulate", str(file)]) == 2
    assert capsys.readouterr().err == (
        f"{file}: error: holds no scenario, but SecretStore, ExternalSecret (a scenario has kind: Scenario; "
        "apply manifests in a step of one, or check them with `syncret validate`)\n"
    )


STEPS = (
    HEAD
    + """\
metadata: {name: push}
spec:
  now: "2026-01-01T00:00:00Z"
  steps:
    - apply:
        - apiVersion: external-secrets.io/v1
          kind: SecretStore
          metadata: {name: s, namespace: default}
          spec: {provider: {fake: {data: [{key: k, value: hunter2-canary}]}}}
        - apiVersion: external-secrets.io/v1
          kind: ExternalSecret
          metadata: {name: good, namespace: default}
          spec: {secretStoreRef: {name: s}, data: [{secretKey: a, remoteRef: {key: k}}]}
        - apiVersion: external-secrets.io/v1
          kind: ExternalSecret
          metadata: {name: bad, namespace: default}
          spec: {secretStoreRef: {name: s}, data: [{secretKey: a, remoteRef: {key: "gone\\e[31m"}}]}
        - apiVersion: external-secrets.io/v1alpha1
          kind: PushSecret
          metadata: {name: p, namespace: default}
          spec:
            deletionPolicy: Delete
            secretStoreRefs: [{name: s}]
            selector: {secret: {name: good}}
            data: [{match: {secretKey: a, remoteRef: {remoteKey: copy}}}]
        - apiVersion: external-secrets.io/v1
          kind: ExternalSecret
          metadata: {name: refused, namespace: default}
          spec: {refreshInterval: 1 day}
    - delete: [{apiVersion: external-secrets.io/v1alpha1, kind: PushSecret, namespace: default, name: p}]
    - {}
"""
)


def test_the_table_shows_what_happens_in_each_step(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "scenario.yaml"
    file.write_text(STEPS)
    assert main(["simulate", str(file)]) == 0
    out = capsys.readouterr().out
    title, _, head, *lines = out.splitlines()
    assert title == "push: 3 steps"
    assert head.split() == ["STEP", "TIME", "READY", "EVENT", "OBJECT", "STATUS"]
    assert lines[0].split()[:5] == [
        "1",
        "2026-01-01T00:00:00Z",
        "NO",
        "refused",
        "ExternalSecret/default/refused",
    ]
    assert "1 day" in lines[0]
    told = [re.split("  +", line.strip()) for line in lines]
    assert ["created", "Secret/default/good"] in told
    assert ["pushed", "copy in SecretStore/s"] in told
    assert ["yes", "SecretSynced", "ExternalSecret/default/good", "secret synced"] in told
    (bad,) = (line for line in told if "ExternalSecret/default/bad" in line)
    assert bad[:2] == ["NO", "SecretSyncedError"]
    assert told.index(bad) < told.index(["yes", "Valid", "SecretStore/default/s", "store validated"])
    assert told.index(bad) < told.index(["removed", "copy in SecretStore/s"])
    assert lines[-1].startswith("3 ")
    assert "canary" not in out
    assert "\x1b" not in out


def test_scenarios_of_one_file_are_tables_one_after_the_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "scenario.yaml"
    file.write_text(f"{GOOD}---\n{GOOD}")
    assert main(["simulate", str(file)]) == 0
    first, second = capsys.readouterr().out.split("\n\nscenario: 1 step\n")
    assert first.startswith("scenario: 1 step\n\nSTEP ")
    assert second.splitlines()[-1].split()[2:] == ["nothing"]
