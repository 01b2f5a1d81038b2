"""Manifests as files: private, complete, and all in their places or none."""

import os
from pathlib import Path

import pytest

from syncret.config.meta import Document
from syncret.config.text.yaml import to_yaml
from syncret.daemon.cli.releasing import output_folder


def test_files_are_private_whatever_stood_there(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "out"
    folder.mkdir(parents=True)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("untouched")
    (folder / "a.yaml").symlink_to(elsewhere)
    (folder / "other").write_text("stays")
    output_folder.write(folder, {"a.yaml": "1", "b.yaml": "2"})
    assert {path.name: path.read_text() for path in folder.iterdir()} == {
        "a.yaml": "1",
        "b.yaml": "2",
        "other": "stays",
    }
    assert elsewhere.read_text() == "untouched"
    assert {oct((folder / name).stat().st_mode & 0o777) for name in ("a.yaml", "b.yaml")} == {"0o600"}


def test_a_failure_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.yaml").write_text("old")
    written: list[int] = []

    def full(descriptor: int) -> None:
        written.append(descriptor)
        if len(written) == 2:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        output_folder.write(tmp_path, {"a.yaml": "new", "b.yaml": "new"})
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a.yaml": "old"}


def manifest(name: str, instance: str = "prod", kind: str = "Secret", **metadata: str) -> Document:
    labels = {"app.kubernetes.io/instance": instance, "app.kubernetes.io/managed-by": "syncret"}
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "labels": labels, **metadata}}


def test_only_what_an_earlier_run_of_the_release_made_is_left_over(tmp_path: Path) -> None:
    made = manifest("new")
    (tmp_path / "link").write_text(to_yaml(manifest("linked")))
    (tmp_path / "secret-linked.yaml").symlink_to(tmp_path / "link")
    (tmp_path / "secret-folder.yaml").mkdir()
    texts = {
        "secret-new.yaml": to_yaml(made),
        "secret-old.yaml": to_yaml(manifest("old")),
        "externalsecret-old.yaml": to_yaml(manifest("old", kind="ExternalSecret")),
        "secret-other.yaml": to_yaml(manifest("other", instance="other")),
        "secret-elsewhere.yaml": to_yaml(manifest("elsewhere", namespace="shop")),
        "secret-renamed.yaml": to_yaml(manifest("old")),
        "secret-two.yaml": f"{to_yaml(manifest('two'))}---\n{to_yaml(manifest('two'))}",
        "secret-mine.yaml": "kind: Secret\nmetadata: {name: mine}\n",
        "secret-broken.yaml": "{",
        "configmap-old.yaml": to_yaml(manifest("old", kind="ConfigMap")),
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    gone = output_folder.left_over(tmp_path, [made])
    assert [path.name for path in gone] == ["secret-old.yaml", "externalsecret-old.yaml"]
    output_folder.write(tmp_path, {"secret-new.yaml": "1"}, gone)
    left = {path.name for path in tmp_path.iterdir()}
    assert texts.keys() - left == {"secret-old.yaml", "externalsecret-old.yaml"}
    assert output_folder.left_over(tmp_path / "nothing", [made]) == []
