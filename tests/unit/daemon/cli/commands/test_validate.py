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


def reported(capsys: pytest.CaptureFixture[str], folder: Path, *flags: str) -> tuple[int, str, str]:
    code = main(["validate", "-f", str(folder), *flags])
    told = capsys.readouterr()
    return code, told.out, told.err


WITH_TEMPLATE = """\
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {{name: {name}}}
spec:
  secretStoreRef: {{name: gone}}
  target:
    template:
      data:
        url: |-
          first
          {template}
  data: [{{secretKey: user, remoteRef: {{key: db}}}}]
"""


def test_what_fails_when_it_is_used_is_a_runtime_warning_at_its_very_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.yaml").write_text(WITH_TEMPLATE.format(name="a", template="{{ .user | toBase64 }}"))
    code, out, _ = reported(capsys, tmp_path, "-o", "json")
    reference, template = json.loads(out)["items"][0]["problems"]

    assert code == 0
    assert "runtime" not in reference
    assert template == {
        "severity": "warning",
        "runtime": True,
        "path": "spec.target.template.data.url",
        "line": 11,
        "message": 'the template does not parse: line 2, column 12: function "toBase64" not defined',
        "hint": "did you mean b64enc?",
    }


@pytest.mark.parametrize(
    ("template", "message"),
    [
        pytest.param("<< .user >> {{ .x }", None, id="in order"),
        pytest.param("<< .user | toBase64 >>", 'function "toBase64" not defined', id="an unknown function"),
        pytest.param("<< .usr >>", 'reads the key "usr"', id="an unknown key"),
    ],
)
def test_templates_are_read_with_the_delimiters_of_the_settings(
    template: str, message: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.yaml").write_text(WITH_TEMPLATE.format(name="a", template=template))
    delimiters = ("--set", "templateDelimiters.left=<<", "--set", "templateDelimiters.right=>>")
    _, out, _ = reported(capsys, tmp_path, "-o", "json", *delimiters)
    told = [each["message"] for each in json.loads(out)["items"][0]["problems"] if each.get("runtime")]
    assert len(told) == (message is not None)
    assert all(message in each for each in told if message)


@pytest.mark.parametrize("output", ["text", "json"])
def test_strict_lets_warnings_count(output: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.yaml").write_text(WITH_TEMPLATE.format(name="a", template="{{ .usr }}"))
    assert reported(capsys, tmp_path, "-o", output)[0] == 0
    assert reported(capsys, tmp_path, "--strict", "-o", output)[0] == 2


def test_equal_warnings_are_one_line_with_their_first_places(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in "abcd":
        (tmp_path / f"{name}.yaml").write_text(WITH_TEMPLATE.format(name=name, template="{{ .user }}"))
    code, out, err = reported(capsys, tmp_path)
    (line,) = out.splitlines()

    assert (code, err) == (0, "4 documents: 0 errors, 4 warnings\n")
    assert line.startswith(
        f"{tmp_path}/a.yaml:5: warning: spec.secretStoreRef.name: SecretStore/default/gone "
    )
    assert line.endswith(f"; 4 times: {tmp_path}/a.yaml:5, {tmp_path}/b.yaml:5, {tmp_path}/c.yaml:5, ...")
    items = json.loads(reported(capsys, tmp_path, "-o", "json")[1])["items"]
    assert [len(item["problems"]) for item in items] == [1, 1, 1, 1]


def test_objects_of_other_tools_are_notes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "kustomization.yaml").write_text("resources: [a.yaml]")
    (tmp_path / "deployment.yaml").write_text(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d, namespace: ns}\nspec: {a: 1, a: 2}\n"
    )
    code, out, err = reported(capsys, tmp_path, "--strict")
    assert (code, err) == (0, "2 documents: 0 errors, 0 warnings, 2 notes\n")
    assert out.splitlines() == [
        f"{tmp_path}/deployment.yaml:1: note: Deployment of apps is passed over",
        f"{tmp_path}/kustomization.yaml:1: note: a file of Kustomize or Helm is passed over",
    ]
    items = json.loads(reported(capsys, tmp_path, "-o", "json", "--show-values")[1])["items"]
    assert items[0] == {
        "file": f"{tmp_path}/deployment.yaml",
        "line": 1,
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "namespace": "ns",
        "name": "d",
        "problems": [],
    }
    assert (items[1]["problems"], "object" in items[1]) == ([], False)


def test_that_a_cluster_would_call_fake_unmaintained_is_in_json_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.yaml").write_text(
        "{apiVersion: external-secrets.io/v1, kind: SecretStore, metadata: {name: s},"
        " spec: {provider: {fake: {data: []}}}}"
    )
    assert reported(capsys, tmp_path, "--strict") == (0, "", "1 document: 0 errors, 0 warnings\n")
    (problem,) = json.loads(reported(capsys, tmp_path, "-o", "json")[1])["items"][0]["problems"]
    assert (problem["severity"], problem["message"]) == ("warning", "store s isn't currently maintained")


def test_a_field_that_is_written_twice_causes_no_second_problem(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.yaml").write_text(
        "apiVersion: external-secrets.io/v1\nkind: ExternalSecret\nmetadata: {name: a}\nspec:\n"
        "  data: [{secretKey: a, remoteRef: {key: b}}]\n  data: []\n"
    )
    code, out, _ = reported(capsys, tmp_path)
    assert code == 2
    assert out == f"{tmp_path}/a.yaml:6: error: spec.data: the key appears twice (remove one of them)\n"


CONSTRAINED = """\
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata:
  name: db
  annotations:
    syncret.dev/constraints: '{annotation}'
spec:
  secretStoreRef: {{name: s}}
  data: [{{secretKey: password, remoteRef: {{key: db}}}}]
---
apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {{name: s}}
spec: {{provider: {{fake: {{data: []}}}}}}
"""


@pytest.mark.parametrize(
    ("annotation", "message", "hint"),
    [
        pytest.param('{"keys": {"password": [{"minRunes": 8}]}}', None, "", id="in order"),
        pytest.param("{planted-4711", "it is not JSON", 'write {"keys"', id="no JSON"),
        pytest.param(
            '{"keys": {"password": [{"minRune": 8}]}}',
            "password: there is no constraint minRune",
            "did you mean minRunes?",
            id="unknown",
        ),
        pytest.param(
            '{"keys": {"pasword": [{"minRunes": 8}]}}',
            "is about the key pasword, which no entry of data makes",
            "did you mean password?",
            id="another key",
        ),
        pytest.param(
            '{"keys": {"password": [{"minRunes": 9}, {"maxRunes": 8}]}}',
            "no value of password can satisfy it: minRunes is above maxRunes",
            "correct one of them",
            id="limits",
        ),
        pytest.param(
            '{"keys": {"password": [{"minRunes": 9}, {"oneOf": ["short"]}]}}',
            "no choice of oneOf satisfies the others",
            "correct one of them",
            id="choices",
        ),
    ],
)
def test_constraints_that_hold_back_every_value_or_none(
    annotation: str, message: str | None, hint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.yaml").write_text(CONSTRAINED.format(annotation=annotation))
    code, out, _ = reported(capsys, tmp_path, "-o", "json")
    problems = json.loads(out)["items"][0]["problems"]
    assert code == 0
    assert PLANTED not in json.dumps(problems)
    assert len(problems) == (message is not None)
    for each in problems:
        assert (each["path"], each["line"]) == ('metadata.annotations["syncret.dev/constraints"]', 6)
        assert each["runtime"]
        assert str(message) in each["message"]
        assert hint in each["hint"]


def test_constraints_of_a_cluster_wide_object(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.yaml").write_text(
        "apiVersion: external-secrets.io/v1\nkind: ClusterExternalSecret\nmetadata: {name: db}\nspec:\n"
        "  namespaceSelectors: [{}]\n"
        "  externalSecretMetadata: {annotations: {syncret.dev/constraints: '[]'}}\n"
        "  externalSecretSpec: {secretStoreRef: {name: s, kind: ClusterSecretStore},"
        " data: [{secretKey: a, remoteRef: {key: a}}]}\n"
    )
    _, out, _ = reported(capsys, tmp_path, "-o", "json")
    told = [each for each in json.loads(out)["items"][0]["problems"] if each.get("runtime")]
    assert [(each["path"], each["line"]) for each in told] == [
        ('spec.externalSecretMetadata.annotations["syncret.dev/constraints"]', 6)
    ]


PARTS = """\
apiVersion: syncret.dev/v1alpha1
kind: Module
metadata: {name: app}
spec:
  config: {password: {$opm: secret, $secretName: db, $dataKey: password, $constraints: {minRunes: 8}}}
  container: {image: x}
---
apiVersion: syncret.dev/v1alpha1
kind: Release
spec:
  values:
    password: %s
"""


@pytest.mark.parametrize(
    ("password", "code", "path"),
    [
        pytest.param("{value: planted-4711}", 0, None, id="in order"),
        pytest.param("{valeu: planted-4711}", 2, "spec.values.password.valeu", id="unknown"),
        pytest.param("{value: '4711'}", 2, "spec.values.password.value", id="violated"),
        pytest.param("'@env(PASSWORD)'", 0, None, id="a tag, which `release` may resolve"),
        pytest.param("'@evn(PASSWORD)'", 2, "spec.values.password", id="no tag"),
    ],
)
def test_a_release_whose_parts_stand_in_one_file(
    password: str, code: int, path: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.yaml").write_text(PARTS % password)
    assert main(["validate", "-f", str(tmp_path), "-o", "json"]) == code
    out = capsys.readouterr().out
    module, release = json.loads(out)["items"]
    assert PLANTED not in out
    told = [each for each in [*module["problems"], *release["problems"]] if each["severity"] == "error"]
    assert [(each["path"], each["line"]) for each in told] == ([] if path is None else [(path, 12)])
    assert release["problems"][-1:] == told[-1:] or not told


def test_parts_in_several_files_are_for_the_command_that_is_given_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number, text in enumerate((PARTS % "{valeu: x}").split("---\n")):
        (tmp_path / f"{number}.yaml").write_text(text)
    assert main(["validate", "-f", str(tmp_path)]) == 0
    assert "is a part of a release" in capsys.readouterr().out
