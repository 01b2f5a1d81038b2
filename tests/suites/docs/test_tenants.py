"""The page about tenants: its settings bind the folders of the sample, and what it says is refused is."""

import shutil
from pathlib import Path

import pytest

from syncret.config.settings import several_authors
from syncret.config.settings_layers import LayerValue, load_settings
from syncret.daemon.one_pass import one_pass
from syncret.providers.registry import Registry
from tests.real.e2e.manifests import replaced
from tests.real.e2e.process import daemon, files
from tests.suites.docs.pages import ROOT, Block, blocks

SAMPLE = ROOT / "config" / "samples" / "tenants"
PAGE = list(blocks(ROOT / "docs/guides/tenants.md"))


def _block(language: str, title: str) -> Block:
    [found] = (block for block in PAGE if (block.language, block.title) == (language, title))
    return found


@pytest.fixture
def host(tmp_path: Path) -> Path:
    """A host as the page has it, below a folder."""
    shutil.copytree(SAMPLE / "operator", tmp_path / "etc/syncret/manifests")
    for team in ("team-a", "team-b"):
        shutil.copytree(SAMPLE / team, tmp_path / "srv/syncret" / team)
    settings = next(block.text for block in PAGE if block.text.startswith("# /etc/syncret/syncret.yaml"))
    (tmp_path / "syncret.yaml").write_text(
        settings.replace("- /etc", f"- {tmp_path}/etc").replace("/srv", f"{tmp_path}/srv")
    )
    return tmp_path


FILES = {"team-a/database/user", "team-a/database/password", "team-b/session-key/password"}


async def test_the_settings_of_the_page_let_each_team_have_its_files(host: Path) -> None:
    flags = [LayerValue("test", "outputDir", str(host / "out")), LayerValue("test", "stateFile", "")]
    settings = load_settings(host / "syncret.yaml", {}, flags)
    assert several_authors(settings)
    result = await one_pass(settings, Registry())
    assert (result.failures, result.problems) == ({}, [])
    assert files(host / "out").keys() == FILES
    unit = _block("ini", "team-a-app.service").text
    [named] = (line for line in unit.splitlines() if line.startswith("LoadCredential="))
    assert named.removeprefix("LoadCredential=password:/run/syncret/secrets/") in FILES


async def test_a_team_delivers_to_its_own_folder_and_nowhere_else(host: Path) -> None:
    [_, bounds] = [block.text for block in PAGE if block.text.startswith("# /etc/syncret/syncret.yaml")]
    (host / "syncret.yaml").write_text(
        bounds.replace("manifests:\n", f"manifests:\n  - {host}/etc/syncret/manifests\n").replace(
            "/srv", f"{host}/srv"
        )
    )
    team, app = host / "srv/syncret/team-a", _block("yaml", "/srv/syncret/team-a/app.yaml").text
    (team / "app.yaml").write_text(app.partition("  reload:")[0].replace("/srv", f"{host}/srv"))
    elsewhere = app.replace("name: app", "name: elsewhere").replace("/srv/team-a/files", f"{host}/srv/other")
    (team / "elsewhere.yaml").write_text(elsewhere)
    flags = [LayerValue("test", "outputDir", str(host / "out")), LayerValue("test", "stateFile", "")]
    result = await one_pass(load_settings(host / "syncret.yaml", {}, flags), Registry())
    assert [each.problem.message for each in result.problems] == [
        f"{team} may not deliver to {host}/srv/other/database"
    ]
    assert files(host / "srv/team-a/files").keys() == {"database/user", "database/password"}
    assert files(host / "srv/other") == {}


@pytest.mark.slow
def test_what_is_refused_is_said_as_on_the_page(host: Path) -> None:
    with daemon(host, None, "--config", host / "syncret.yaml") as process:
        assert process.problems() == []
        steal = _block("yaml", "/srv/syncret/team-b/steal.yaml").text
        replaced(host / "srv/syncret/team-b/steal.yaml", steal)
        process.until(process.problems, "the document refused")
        told = _block("console", "refused").text.splitlines()[-1]
        assert process.ask("status").stdout.replace(str(host), "").splitlines()[-1] == told
        thief = process.status("thief")
        assert (thief["ready"], thief["reason"]) == (False, "InvalidManifest"), "counted, and never run"
        assert files(host / "out").keys() == FILES
        assert process.stop() == 0
