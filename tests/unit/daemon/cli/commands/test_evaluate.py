"""`syncret evaluate`, in the process of the test."""

import json
from pathlib import Path
from typing import Final

import pytest

from syncret.config.meta import Document
from syncret.daemon.cli.main import main
from syncret.daemon.core.exports import evaluation

RESOURCE: Final = """\
apiVersion: cache.azure.com/v1api20230801
kind: Redis
metadata: {name: cache, namespace: shop, uid: u1}
spec:
  operatorSpec:
    dynamicSecrets:
      - name: redis
        key: hostPort
        value: "'%s:%s'.format([secret.hostName, secret.sslPort])"
        annotations: {at: secret.hostName, since: resource.status.since}
    dynamicConfigMaps:
      - {name: data, key: id, value: resource.status.id}
status: {id: /subscriptions/1, since: 2024-01-01}
"""
SECRETS: Final = "{hostName: h.example, sslPort: '6380', primaryKey: hunter2}"


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("redis.yaml").write_text(RESOURCE, encoding="utf-8")
    Path("keys.yaml").write_text(SECRETS, encoding="utf-8")


def report(capsys: pytest.CaptureFixture[str]) -> Document:
    document: Document = json.loads(capsys.readouterr().out)
    return document


def test_the_manifests(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", "-f", "redis.yaml", "--secrets", "keys.yaml", "--show-values"]) == 0
    out = capsys.readouterr().out
    assert "hostPort: aC5leGFtcGxlOjYzODA=" in out
    assert "id: /subscriptions/1" in out
    assert "at: h.example" in out


def test_values_are_redacted(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", "-f", "redis.yaml", "--secrets", "keys.yaml", "-o", "json"]) == 0
    document = report(capsys)
    secret, config_map = document["items"]
    assert secret["data"] == {"hostPort": "<redacted>"}
    assert secret["metadata"]["annotations"] == {"at": "<redacted>", "since": "2024-01-01"}
    assert config_map["data"] == {"id": "/subscriptions/1"}
    assert document["hints"] == ["hostName", "sslPort"]
    assert (document["kind"], document["problems"]) == ("ExportReport", [])


def test_a_secret_of_kubernetes(capsys: pytest.CaptureFixture[str]) -> None:
    manifest = "apiVersion: v1\nkind: Secret\ndata: {hostName: aA==}\nstringData: {sslPort: '1'}\n"
    Path("keys.yaml").write_text(manifest, encoding="utf-8")
    assert (
        main(["evaluate", "-f", "redis.yaml", "--secrets", "keys.yaml", "--show-values", "-o", "json"]) == 0
    )
    assert report(capsys)["items"][0]["data"] == {"hostPort": "aDox"}


def test_what_fails_in_an_evaluation(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", "-f", "redis.yaml", "-o", "json"]) == 1
    document = report(capsys)
    assert (document["items"], document["hints"]) == ([], ["hostName", "sslPort"])
    assert {problem["path"] for problem in document["problems"]} == {
        "operatorSpec.dynamicSecrets[0].value",
        "operatorSpec.dynamicSecrets[0].annotations.at",
    }
    problem = document["problems"][0]
    assert (problem["stage"], problem["class"], problem["severity"]) == ("run", "missing_key", "error")


def test_what_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    Path("redis.yaml").write_text(RESOURCE.replace("resource.status.id", "secret.id"), encoding="utf-8")
    assert main(["evaluate", "-f", "redis.yaml", "--secrets", "keys.yaml"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(
        "redis.yaml:12: error: operatorSpec.dynamicConfigMaps[0].value: line 1, column 7: undeclared"
    )
    assert "a ConfigMap gets no secrets" in captured.err


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        pytest.param("redis.yaml", None, "redis.yaml: error: ", id="no file"),
        pytest.param(
            "redis.yaml", "kind: Redis\nspec: {}", "is no resource with a spec.operatorSpec", id="none"
        ),
        pytest.param("redis.yaml", "[]", "is no resource with a spec.operatorSpec", id="a list"),
        pytest.param("redis.yaml", f"{RESOURCE}---\n{RESOURCE}", "must hold one document", id="two"),
        pytest.param("redis.yaml", "a: [", "redis.yaml:", id="no YAML"),
        pytest.param("keys.yaml", "{a: 1}", "must map names to texts", id="a number"),
        pytest.param("keys.yaml", "[]", "must map names to texts", id="a list of secrets"),
        pytest.param(
            "keys.yaml", "{apiVersion: v1, kind: Secret, data: {a: /w==}}", "a is not UTF-8", id="no text"
        ),
    ],
)
def test_files_that_are_no_use(
    file: str, text: str | None, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if text is None:
        Path(file).unlink()
    else:
        Path(file).write_text(text, encoding="utf-8")
    assert main(["evaluate", "-f", "redis.yaml", "--secrets", "keys.yaml"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert expected in captured.err


def test_without_the_engine(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluation, "has_engine", lambda: False)
    assert main(["evaluate", "-f", "redis.yaml"]) == 2
    assert "install syncret with its extra: syncret[exports]" in capsys.readouterr().err
