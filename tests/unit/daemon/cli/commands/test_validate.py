"""What `validate -o json` shows of a document."""

import json
from pathlib import Path

import pytest

from syncret.daemon.cli.main import main

PLANTED = "planted-4711"


@pytest.mark.parametrize(
    "document",
    [
        pytest.param("stringData: {k: planted-4711}", id="no kind"),
        pytest.param("{apiVersion: example.com/v1, kind: Thing, spec: planted-4711}", id="foreign"),
        pytest.param("{apiVersion: external-secrets.io/v1, kind: Thing, spec: planted-4711}", id="misspelt"),
        pytest.param("{apiVersion: v2, kind: Secret, stringData: {k: planted-4711}}", id="wrong version"),
        pytest.param("{apiVersion: v1, kind: Secret, stringData: [planted-4711]}", id="malformed"),
    ],
)
def test_values_are_shown_on_demand_only(
    document: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.yaml").write_text(document)
    command = ["validate", "-f", str(tmp_path), "-o", "json"]
    assert main(command) == 2
    assert PLANTED not in capsys.readouterr().out
    assert main([*command, "--show-values"]) == 2
    assert PLANTED in json.dumps(json.loads(capsys.readouterr().out)["items"][0]["object"])


def test_a_name_cannot_forge_a_line_of_the_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.yaml").write_text('{apiVersion: v1, kind: "X\\e[2J\\nall is well"}')
    assert main(["validate", "-f", str(tmp_path)]) == 2
    assert capsys.readouterr().out.count("\n") == 1


@pytest.mark.parametrize(
    "command",
    [["simulate"], ["template"], ["template", "/dev/null", "--data"]],
    ids=["scenario", "template", "data"],
)
def test_a_file_that_never_ends_is_refused(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*command, "/dev/zero"]) in {1, 2}
    assert "larger than" in (told := capsys.readouterr().err) or "longer than" in told


PROFILE = """\
apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {name: ibm}
spec:
  provider:
    ibm:
      serviceUrl: https://ibm.example
      auth: {containerAuth: {profile: reader, tokenLocation: %s}}
"""


@pytest.mark.parametrize(
    ("path", "warned"),
    [
        ("/var/run/secrets/tokens/ibm", False),
        ("/run/secrets/tokens/ibm", False),
        ("/var/run/secrets/../../etc/passwd", True),
        ("/proc/self/fd/1", True),
        ("tokens/ibm", True),
        ("/var/run/secrets", True),
    ],
)
def test_a_file_that_the_daemon_would_not_read_is_a_warning(
    path: str,
    warned: bool,  # noqa: FBT001  # a column
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "a.yaml").write_text(PROFILE % path)
    assert main(["validate", "-f", str(tmp_path), "-o", "json"]) == 0
    problems = json.loads(capsys.readouterr().out)["items"][0]["problems"]
    assert [(each["severity"], each["path"], each["line"]) for each in problems] == warned * [
        ("warning", "spec.provider.ibm.auth.containerAuth.tokenLocation", 8)
    ]
    assert all("manifestFiles" in each["message"] for each in problems)
