"""The bundle, before the validators of the Operator Lifecycle Manager."""

from pathlib import Path

import pytest

from syncret.daemon.cli.main import main
from tests.support.servers.olm.checking import checked

pytestmark = pytest.mark.slow

IMAGES = ("--image", "registry.example.com/syncret:1.2.3", "--bitwarden-image", "registry.example.com/b:0.5")


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """A bundle as the command writes it."""
    folder = tmp_path / "bundle"
    assert main(["export", "operator", *IMAGES, "--bundle", str(folder)]) == 0
    return folder


def test_the_validators_find_no_error(bundle: Path) -> None:
    code, findings = checked(bundle)
    assert code == 0, findings
    assert findings[-1].startswith("syncret-operator.v"), findings
    assert findings[-1].endswith(f": {len([*bundle.glob('manifests/*')]) - 1} CRDs")


def test_the_validators_find_what_is_wrong(bundle: Path) -> None:
    """A CRD that is owned and not there."""
    next(bundle.glob("manifests/external-secrets.io_externalsecrets.yaml")).unlink()
    code, findings = checked(bundle)
    assert code == 1
    assert any(each.startswith("Error") and "Kind=ExternalSecret" in each for each in findings), findings
