"""Providers and generators of other packages: the commands know them, and a broken one is one clear line."""

import json
import os
import sys
from pathlib import Path

import pytest

from syncret.daemon.cli.main import main
from tests.support.third_party import WORDS, install

API = "generators.external-secrets.io/v1alpha1"


def manifests(folder: Path, *, kind: str = "Words", spec: str = "{count: 2}") -> str:
    """A generator, a cluster-wide one, and an ExternalSecret for each."""
    file = folder / "words.yaml"
    file.write_text(f"""\
apiVersion: {API}
kind: {kind}
metadata: {{name: two}}
spec: {spec}
---
apiVersion: {API}
kind: ClusterGenerator
metadata: {{name: everywhere}}
spec: {{kind: {kind}, generator: {{wordsSpec: {{}}}}}}
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {{name: two}}
spec:
  refreshInterval: 1h
  dataFrom: [{{sourceRef: {{generatorRef: {{apiVersion: {API}, kind: {kind}, name: two}}}}}}]
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {{name: three}}
spec:
  refreshInterval: 1h
  dataFrom:
    - sourceRef: {{generatorRef: {{apiVersion: {API}, kind: ClusterGenerator, name: everywhere}}}}
""")
    return os.fspath(file)


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of installed packages."""
    folder = tmp_path / "packages"
    folder.mkdir()
    monkeypatch.setattr(sys, "path", [os.fspath(folder), *sys.path])
    return folder


@pytest.fixture
def words(packages: Path) -> None:
    install(packages, "acme-words", {"words_of_acme": WORDS}, generators={"Words": "words_of_acme:GENERATOR"})


@pytest.mark.usefixtures("words")
class TestAGeneratorOfAnotherPackage:
    def test_validates(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["validate", "-f", manifests(tmp_path)]) == 0
        assert capsys.readouterr().err == "4 documents: 0 errors, 0 warnings\n"

    def test_has_a_schema_that_counts(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["validate", "-f", manifests(tmp_path, spec="{count: 11}")]) == 2
        assert "words.yaml:4: error: spec.count: must be less than" in capsys.readouterr().out

    def test_is_suggested_for_a_misspelt_kind(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["validate", "-f", manifests(tmp_path, kind="Word")]) == 2
        told = capsys.readouterr().out
        assert 'words.yaml:2: error: kind: unknown kind "Word" (did you mean Words?)' in told
        assert 'generatorRef.kind: unsupported value "Word" (write one of Words, ' in told
        assert 'spec.kind: unsupported value "Word" (write one of Words, ' in told

    def test_is_synced(self, tmp_path: Path) -> None:
        out = tmp_path / "out"
        assert main(["sync", "-f", manifests(tmp_path), "--output-dir", os.fspath(out)]) == 0
        assert (out / "default/two/words").read_text() == "correct correct"
        assert (out / "default/three/words").read_text() == "correct correct correct"

    def test_is_planned(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["plan", "-f", manifests(tmp_path)]) == 0
        assert "+ Secret/default/two\n    + words\n" in capsys.readouterr().out

    def test_is_in_the_schemas(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["export", "schema", "Words"]) == 0
        assert (
            json.loads(capsys.readouterr().out)["properties"]["spec"]["properties"]["count"]["default"] == 3
        )
        assert main(["export", "schema", "ClusterGenerator"]) == 0
        spec = json.loads(capsys.readouterr().out)["properties"]["spec"]["properties"]
        assert "Words" in spec["kind"]["enum"]
        assert "wordsSpec" in spec["generator"]["properties"]
        assert main(["export", "crds"]) == 0
        assert "\n    kind: Words\n" in capsys.readouterr().out

    def test_is_completed(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["export", "completion", "bash"]) == 0
        assert " Words" in capsys.readouterr().out

    def test_is_listed(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["providers", "-o", "json"]) == 0
        rows = {row["kind"]: row for row in json.loads(capsys.readouterr().out)["generators"]}
        assert rows["Words"]["reachable"]


CAUSE = "cannot be loaded from acme_gone:IT of acme-gone: No module named 'acme_gone'"
REMEDY = "(repair or uninstall acme-gone)"


@pytest.fixture
def broken(packages: Path) -> None:
    """A package of which the module is gone."""
    entries = {"providers": {"gone": "acme_gone:IT"}, "generators": {"Words": "acme_gone:IT"}}
    install(packages, "acme-gone", {}, **entries)


STORE = """\
apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {name: gone}
spec:
  provider:
    gone: {}
"""


@pytest.mark.usefixtures("broken")
class TestABrokenEntryPoint:
    def test_is_a_line_after_the_tables(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["providers"]) == 1
        told = capsys.readouterr()
        assert "\nvault " in told.out
        assert told.err.splitlines() == [
            f"syncret: provider 'gone' {CAUSE} {REMEDY}",
            f"syncret: generator 'Words' {CAUSE} {REMEDY}",
        ]

    def test_is_an_error_of_each_document_that_needs_it(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        store = tmp_path / "store.yaml"
        store.write_text(STORE)
        assert main(["validate", "-f", os.fspath(store), "-f", manifests(tmp_path)]) == 2
        told = capsys.readouterr().out
        assert f"store.yaml:6: error: spec.provider.gone: provider 'gone' {CAUSE} {REMEDY}" in told
        assert f"words.yaml:2: error: kind: generator 'Words' {CAUSE} {REMEDY}" in told
        assert f"words.yaml:9: error: spec.generator.wordsSpec: generator 'Words' {CAUSE}" in told

    @pytest.mark.parametrize("command", ["sync", "plan"])
    def test_does_not_keep_others_from_being_synced(
        self, command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        store = tmp_path / "store.yaml"
        store.write_text(
            f"{STORE}---\n"
            f"{{apiVersion: {API}, kind: UUID, metadata: {{name: u}}}}\n---\n"
            "apiVersion: external-secrets.io/v1\nkind: ExternalSecret\nmetadata: {name: good}\n"
            f"spec: {{dataFrom: [{{sourceRef: {{generatorRef: {{kind: UUID, name: u}}}}}}]}}\n"
        )
        assert main([command, "-f", os.fspath(store)]) == 2
        told = capsys.readouterr()
        assert "default/good" in told.out
        assert f"store.yaml:6: error: spec.provider.gone: provider 'gone' {CAUSE} {REMEDY}" in told.err

    @pytest.mark.parametrize("arguments", [["crds"], ["schema", "SecretStore"]], ids=["crds", "schema"])
    def test_is_one_line_where_a_schema_needs_it(
        self, arguments: list[str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["export", *arguments]) == 1
        assert capsys.readouterr().err == f"syncret: provider 'gone' {CAUSE} {REMEDY}\n"

    def test_is_nothing_to_a_schema_that_does_not(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["export", "schema", "ExternalSecret"]) == 0
        assert main(["export", "completion", "bash"]) == 0
