"""Without the SDK, a store on AWS says which extra brings it; everything else works."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from syncret.providers.aws.extra import needs_sdk
from syncret.providers.errors import Malformed
from tests.suites.docs.pages import ROOT, blocks

WITHOUT = """
import sys
for name in ("aioboto3", "aiobotocore", "boto3", "botocore"):
    sys.modules[name] = None
from syncret.daemon.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


def without_sdk(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", WITHOUT, *arguments], capture_output=True, text=True, check=False
    )


@pytest.fixture
def manifests(tmp_path: Path) -> str:
    """The first store of the page about AWS, and what reads it."""
    page = ROOT / "docs" / "providers" / "aws.md"
    for block in [each for each in blocks(page, "yaml") if each.title][:2]:
        (tmp_path / block.title).write_text(block.text)
    return os.fspath(tmp_path)


def test_its_manifests_are_valid(manifests: str) -> None:
    assert without_sdk("validate", "-f", manifests).returncode == 0


def test_a_sync_names_the_extra(manifests: str) -> None:
    done = without_sdk("sync", "-f", manifests)
    assert done.returncode == 1
    assert "the SDK of AWS is not installed: there is no module " in done.stdout
    assert "install syncret with its extra: syncret[aws]" in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_the_table_of_providers_needs_no_sdk() -> None:
    assert without_sdk("providers").returncode == 0


def test_a_module_of_ours_that_is_missing_is_no_matter_of_an_extra() -> None:
    with pytest.raises(ModuleNotFoundError), needs_sdk():
        raise ModuleNotFoundError(name="syncret.providers.aws.nowhere")
    with pytest.raises(Malformed), needs_sdk():
        raise ModuleNotFoundError(name="botocore.session")
