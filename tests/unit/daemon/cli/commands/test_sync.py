"""sync as a person sees it: what it prints, and how it ends."""

import json
from pathlib import Path

import pytest

from syncret.daemon.cli.main import main
from tests.support.manifests import SYNCED

MANIFEST = """\
apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {name: demo}
spec:
  refreshIntervall: 5
  provider: {fake: {data: []}}
"""


def test_warnings_are_told_and_change_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "store.yaml"
    file.write_text(MANIFEST)
    assert main(["sync", "-f", str(file)]) == 0
    told = capsys.readouterr().err.splitlines()
    assert told[0].startswith(f"{file}:5: warning: spec.refreshIntervall: unknown field, it is dropped")
    assert ", 0 invalid in " in told[1]
    assert len(told) == 2


@pytest.mark.parametrize("command", ["sync", "plan"])
def test_objects_of_other_tools_stop_nothing(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "store.yaml").write_text(MANIFEST.replace("refreshIntervall", "refreshInterval"))
    (tmp_path / "kustomization.yaml").write_text("resources: [store.yaml]")
    deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\n---\n"
    (tmp_path / "app.yaml").write_text(
        deployment * 2 + "apiVersion: v1\nkind: Service\nmetadata: {name: d}\n"
    )

    assert main([command, "-f", str(tmp_path)]) == 0
    told = capsys.readouterr().err.splitlines()
    assert told[:2] == [
        f"{tmp_path}/app.yaml:1: note: Deployment of apps is passed over, and 2 more here",
        f"{tmp_path}/kustomization.yaml:1: note: a file of Kustomize or Helm is passed over",
    ]


def test_a_store_that_is_refused_is_not_called_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "store.yaml").write_text(MANIFEST.replace("{fake:", "{vault: {}, fake:"))
    (tmp_path / "app.yaml").write_text(
        "apiVersion: external-secrets.io/v1\nkind: ExternalSecret\nmetadata: {name: app}\n"
        "spec: {secretStoreRef: {name: demo}, data: [{secretKey: a, remoteRef: {key: b}}]}\n"
    )
    assert main(["sync", "-f", str(tmp_path)]) == 2
    told = capsys.readouterr().out
    assert f'could not get SecretStore "demo", invalid: {tmp_path}/store.yaml:1' in told
    assert f"  correct its manifest: syncret validate -f {tmp_path}/store.yaml\n" in told


def test_without_an_output_folder_the_table_says_that_nothing_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "app.yaml").write_text(SYNCED)

    assert main(["sync", "-f", "app.yaml"]) == 0
    out, err = capsys.readouterr()
    assert (
        out.count("no file was written: there is no output folder (name one with --output-dir DIR, or ") == 1
    )
    (row,) = (line for line in out.splitlines() if line.startswith("ExternalSecret"))
    assert row.split()[4] == "-", "WHERE"
    assert err.startswith("1 not written, 0 failed, 0 invalid in ")

    assert main(["sync", "-f", "app.yaml", "--output-dir", "out"]) == 0
    out, err = capsys.readouterr()
    assert "written" not in out
    assert "out/default/app/" in out
    assert err.startswith("1 created, 0 changed, 0 deleted, 0 failed, 0 invalid in ")


def test_without_an_output_folder_documents_are_as_ever(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "app.yaml").write_text(SYNCED)
    listed: list[list[object]] = []
    for more in ([], ["--output-dir", str(tmp_path / "out")]):
        assert main(["sync", "-f", str(tmp_path / "app.yaml"), "-o", "json", *more]) == 0
        out, err = capsys.readouterr()
        assert err == ""
        listed.append([(item["kind"], item.get("data")) for item in json.loads(out)["items"]])
    assert listed[0] == listed[1]


def test_templates_are_rendered_with_the_delimiters_of_the_settings(tmp_path: Path) -> None:
    target = "target: {template: {data: {url: 'at << .k >> {{ .k }}'}}}"
    document = SYNCED.replace("spec: {secretStoreRef", f"spec: {{{target}, secretStoreRef")
    (tmp_path / "a.yaml").write_text(document)
    delimiters = ("--set", "templateDelimiters.left=<<", "--set", "templateDelimiters.right=>>")
    out = tmp_path / "out"
    assert main(["sync", "-f", str(tmp_path / "a.yaml"), "--output-dir", str(out), *delimiters]) == 0
    assert (out / "default" / "app" / "url").read_text() == "at b {{ .k }}"
