"""What the pages and the samples show can be used as it stands: manifests, scenarios, settings."""

import os
from pathlib import Path

import pytest

from syncret.config.manifests.loader import LoadedDocument, load, load_bytes
from syncret.config.meta import is_object
from syncret.config.schema.admission import admit
from syncret.config.settings_layers import load_settings
from syncret.daemon.cli.exit_codes import OK
from syncret.daemon.cli.main import main
from syncret.daemon.simulate.scenario import read_scenario
from syncret.providers.registry import Registry
from tests.suites.docs.pages import ROOT, Block, every

REGISTRY = Registry()
SAMPLES = ROOT / "config" / "samples"
FOLDERS = sorted(path for path in SAMPLES.iterdir() if path.is_dir() and path.name != "templating")
"""Samples of manifests; `templating` has templates and their data, and a test of its own."""
OTHERS_KINDS = {"Pod", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"}
"""Kinds of Kubernetes that a page shows and that we do not read."""
OF_RELEASES = {"Module", "Release", "Platform", "ResolvedRelease"}
"""What `syncret release` alone reads; its page runs them."""
GUIDE = "docs/guides/writing-a-provider.md"
"""Its store is of the provider that the page itself brings; a test of its own judges it."""


def _errors(document: LoadedDocument) -> list[str]:
    found = list(document.problems)
    given = document.document
    if given is not None and given.get("kind") == "Scenario":
        found += read_scenario(given, REGISTRY)[1]
    elif given is not None:
        found += admit(given, REGISTRY).problems
    return [str(problem) for problem in found if problem.fatal]


def _documents(block: Block) -> list[LoadedDocument]:
    return list(load_bytes(str(block), block.text.encode()))


@pytest.mark.parametrize("block", every("yaml"), ids=str)
def test_yaml_of_a_page_is_read_and_manifests_are_accepted(block: Block) -> None:
    for loaded in _documents(block):
        assert is_object(loaded.document)
        kind = loaded.document.get("kind")
        if kind is not None and kind not in OTHERS_KINDS | OF_RELEASES and block.page != GUIDE:
            assert _errors(loaded) == []


@pytest.mark.parametrize(
    "block", [block for block in every("yaml") if block.text.startswith("# /etc/syncret/")], ids=str
)
def test_settings_of_a_page_are_accepted(block: Block, tmp_path: Path) -> None:
    file = tmp_path / "syncret.yaml"
    file.write_text(block.text)

    assert load_settings(file, {}, ()) != load_settings(None, {}, ())


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_sample_is_accepted_and_says_what_it_is(folder: Path) -> None:
    loaded = load([folder])

    assert loaded
    assert [error for each in loaded for error in _errors(each)] == []
    assert len((folder / "README.md").read_text().splitlines()) == 1


@pytest.mark.parametrize("name", [folder.name for folder in FOLDERS if folder.name != "rotation"])
def test_a_sample_has_no_warning(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", "--strict", "-f", os.fspath(SAMPLES / name)]) == OK
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("name", [folder.name for folder in FOLDERS if folder.name != "rotation"])
def test_a_sample_is_synced(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    code = main(["sync", "-f", os.fspath(SAMPLES / name), "--output-dir", os.fspath(out)])
    told = capsys.readouterr()

    assert (code, told.err.splitlines()[-1].partition(" in ")[0].partition(", 0 ch")[2]) == (
        OK,
        "anged, 0 deleted, 0 failed, 0 invalid",
    )
    assert "False" not in told.out


def test_every_sample_is_told_of() -> None:
    told = (ROOT / "docs" / "getting-started.md").read_text() + (ROOT / "README.md").read_text()

    assert [folder.name for folder in FOLDERS if folder.name not in told] == []
