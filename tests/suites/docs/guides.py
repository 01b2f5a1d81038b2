"""Follows the guide of a provider: its manifests, and what it says that comes out."""

import os
from collections.abc import Mapping
from pathlib import Path

from syncret.config.settings import Settings
from syncret.daemon.one_pass import one_pass
from syncret.providers.registry import Registry
from tests.suites.docs.pages import ROOT, blocks


async def follow(page: str, here: Mapping[str, str], folder: Path) -> None:
    """Sync what a page shows; `here`: what it says, and what is true instead."""
    shown = {block.title: block.text for block in blocks(ROOT / "docs" / "providers" / f"{page}.md")}
    manifests, output = folder / "manifests", folder / "out"
    manifests.mkdir()
    for title in ("store.yaml", "app.yaml", "push.yaml"):
        text = shown.get(title, "")
        for said, true in here.items():
            text = text.replace(said, true)
        (manifests / title).write_text(text)
    settings = Settings(manifests=(os.fspath(manifests),), output_dir=os.fspath(output), state_file="")
    result = await one_pass(settings, Registry())
    app = output / "default" / "app"
    held = {file.name: file.read_text() for file in app.iterdir()} if "app.yaml" in shown else {}

    assert (result.problems, result.failures) == ([], {})
    assert "".join(f"{key}: {held[key]}\n" for key in sorted(held)) == (
        shown["result"] if "app.yaml" in shown else ""
    )
