"""Resources of other operators as files: `syncret sync` writes what they export, and tells what fails."""

from pathlib import Path
from typing import Final

import pytest

from syncret.daemon.cli.main import main
from syncret.daemon.engine.exports import opening
from tests.unit.daemon.engine.exports.test_reconciler import HereThreads

RESOURCE: Final = """\
apiVersion: storage.azure.com/v1
kind: StorageAccount
metadata: {name: acct, namespace: shop}
spec:
  location: westeurope
  operatorSpec:
    dynamicSecrets:
      - {name: place, key: at, value: self.spec.location}
    dynamicConfigMaps:
      - {name: data, key: id, value: self.status.id}
status: {id: /a/b}
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "WorkThreads", HereThreads)
    monkeypatch.chdir(tmp_path)
    Path("m").mkdir(mode=0o700)


def sync(text: str | None) -> int:
    """One pass over this manifest, or over another one alone."""
    file = Path("m/a.yaml")
    if text is None:
        file.unlink()
        Path("m/b.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n")
    else:
        file.write_text(text)
    return main(["sync", "-f", "m", "--output-dir", "out", "--state", "state.db"])


def test_through_its_life(capsys: pytest.CaptureFixture[str]) -> None:
    assert sync(RESOURCE) == 0
    assert Path("out/shop/place/at").read_text() == "westeurope"
    assert "id: /a/b" in Path("out/shop/ConfigMap_data.yaml").read_text()
    assert "exported" in capsys.readouterr().out
    assert sync(RESOURCE.replace("westeurope", "northeurope")) == 0
    assert Path("out/shop/place/at").read_text() == "northeurope"
    assert sync(None) == 0
    assert not Path("out/shop/place").exists()
    assert not Path("out/shop/ConfigMap_data.yaml").exists()


def test_one_that_fails(capsys: pytest.CaptureFixture[str]) -> None:
    assert sync(RESOURCE.replace("self.status.id", "self.status.nothing")) == 1
    assert "there is no key nothing" in capsys.readouterr().out
    assert not Path("out/shop").exists()
