"""The guide on templates: its samples are in the repository and render as it says; so do its errors."""

import re
import shlex
from pathlib import Path

import pytest

from syncret.daemon.cli.main import main
from tests.suites.docs.pages import ROOT, Block, blocks

GUIDE = ROOT / "docs" / "guides" / "templating.md"
SAMPLES = ROOT / "config" / "samples" / "templating"
SHOWN = [block for block in blocks(GUIDE, "console") if "config/samples" in block.text]
TEMPLATES = [block for block in blocks(GUIDE, "text") if block.title]
ERRORS = re.findall(r"^\| `(\{\{.*)` \| line (.*) \|$", GUIDE.read_text(), re.MULTILINE)


def test_every_sample_is_shown() -> None:
    folders = sorted(path.name for path in SAMPLES.iterdir() if path.is_dir())
    assert sorted(Path(block.title).parent.name for block in TEMPLATES) == folders
    assert len(SHOWN) == len(folders) == 5


@pytest.mark.parametrize("block", TEMPLATES, ids=lambda block: Path(block.title).parent.name)
def test_the_guide_shows_the_template(block: Block) -> None:
    assert (ROOT / block.title).read_text() == block.text


@pytest.mark.parametrize("block", SHOWN, ids=str)
def test_the_guide_shows_what_it_renders(
    block: Block, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    command, _, expected = block.text.partition("\n")
    assert main(shlex.split(command.removeprefix("$ syncret "))) == 0
    rendered = capfd.readouterr().out
    assert rendered.removesuffix("\n") == expected.removesuffix("\n")


@pytest.mark.parametrize(("template", "told"), ERRORS, ids=[template for template, _ in ERRORS])
def test_the_guide_shows_what_is_told(
    template: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "t").write_text(template.replace(r"\|", "|"))
    (tmp_path / "data.json").write_text('{"user": "app"}')
    assert main(["template", str(tmp_path / "t"), "--data", str(tmp_path / "data.json")]) == 1
    assert f"line {told}\n" in capsys.readouterr().err


def test_errors_are_shown() -> None:
    assert len(ERRORS) == 7
