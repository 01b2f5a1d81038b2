"""The guide of webhook stores does what it says, against a server of that API."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from syncret.config.settings import Settings
from syncret.daemon.one_pass import one_pass
from syncret.providers.registry import Registry
from tests.suites.docs.pages import ROOT, blocks
from tests.support.served import served
from tests.support.servers.webhook import SecretsApi

PAGE = ROOT / "docs" / "providers" / "webhook.md"
SHOWN = {block.title: block.text for block in blocks(PAGE) if block.title}


@pytest.fixture
def api() -> SecretsApi:
    api = SecretsApi("9e1c-example")
    api.values["database", ""] = b'{"user": "app", "password": "correct horse"}'
    api.values["cache", ""] = b'{"host": "cache.internal", "port": 6379}'
    return api


@pytest.fixture
async def url(api: SecretsApi) -> AsyncIterator[str]:
    async with served(api.app()) as url:
        yield url


async def test_the_guide(api: SecretsApi, url: str, tmp_path: Path) -> None:
    manifests, output = tmp_path / "manifests", tmp_path / "out"
    manifests.mkdir()
    for title in ("store.yaml", "app.yaml", "push.yaml"):
        (manifests / title).write_text(SHOWN[title].replace("https://secrets.example", url))
    settings = Settings(manifests=(os.fspath(manifests),), output_dir=os.fspath(output), state_file="")
    result = await one_pass(settings, Registry())
    held = {file.name: file.read_text() for file in (output / "default" / "app").iterdir()}

    assert (result.problems, result.failures) == ([], {})
    assert "".join(f"{key}: {held[key]}\n" for key in sorted(held)) == SHOWN["result"]
    assert api.values["issued-token", ""] == b'{"value": "a \\"quoted\\" token"}'
    assert (api.requests["GET database"], api.requests["GET cache"]) == (1, 1)
