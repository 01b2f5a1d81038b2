"""The guide of Google Secret Manager does what it says, on a server that Google's own client proves."""

import json
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from syncret.config.settings import Settings
from syncret.daemon.one_pass import one_pass
from syncret.providers.registry import Registry
from tests.suites.docs.pages import ROOT, blocks
from tests.support.servers.google.secrets import Secret
from tests.support.servers.google.server import Google, google
from tests.support.servers.google.variables import variables

PAGE = ROOT / "docs" / "providers" / "gcpsm.md"
SHOWN = {block.title: block.text for block in blocks(PAGE) if block.title}
PROJECT = "projects/123456789012"
PARTS = ("store.yaml", "app.yaml", "push.yaml", "registry.yaml")


@pytest.fixture
async def cloud(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Google]:
    async with google() as cloud:
        for name, value in variables(cloud).items():
            monkeypatch.setenv(name, value)
        yield cloud


def seed(cloud: Google, name: str, *values: bytes, **labels: str) -> None:
    config: dict[str, Any] = {"replication": {"automatic": {}}, "labels": labels}
    secret = Secret(f"{PROJECT}/secrets/{name}", 0, config)
    cloud.manager.secrets[secret.name] = secret
    for value in values:
        secret.add(value, None, cloud.identity.now)


def held(folder: Path) -> dict[str, str]:
    return {file.name: file.read_text() for file in folder.iterdir()}


async def synced(cloud: Google, folder: Path, texts: dict[str, str]) -> Path:
    """Where the Secrets are once these manifests were synced, with a key that is good."""
    key = cloud.identity.key_json(cloud.identity.account("syncret")).decode()
    [example] = [line.strip() for line in SHOWN["store.yaml"].splitlines() if "service_account" in line]
    assert json.loads(example)["type"] == "service_account"
    manifests, output = folder / "manifests", folder / "out"
    manifests.mkdir()
    for title, text in texts.items():
        (manifests / title).write_text(text.replace(example, key))
    settings = Settings(manifests=(os.fspath(manifests),), output_dir=os.fspath(output), state_file="")
    result = await one_pass(settings, Registry())

    assert (result.problems, result.failures) == ([], {})
    return output / "default"


async def test_the_guide(cloud: Google, tmp_path: Path) -> None:
    seed(cloud, "database", b'{"password": "correct"}', b'{"password": "correct horse"}', owner="ada")
    seed(cloud, "cache", b'{"host": "cache.internal", "port": 6379}')
    seed(cloud, "web-theme", b"dark", tier="front")
    output = await synced(cloud, tmp_path, {title: SHOWN[title] for title in PARTS})
    app, registry = held(output / "app"), held(output / "registry")

    assert "".join(f"{key}: {app[key]}\n" for key in sorted(app)) == SHOWN["result"]
    token = cloud.manager.secrets[f"{PROJECT}/secrets/issued-token"]
    assert [version.payload for version in token.versions] == [b'a "quoted" token']
    assert token.config["labels"] == {"managed-by": "external-secrets", "team": "platform"}
    places = [each["location"] for each in token.config["replication"]["userManaged"]["replicas"]]
    assert places == ["europe-west3", "europe-west4"]
    [version] = cloud.manager.secrets[f"{PROJECT}/secrets/issued-settings"].versions
    assert json.loads(version.payload) == {"login": {"token": 'a "quoted" token'}}
    login = json.loads(registry[".dockerconfigjson"])["auths"]["europe-docker.pkg.dev"]
    assert cloud.identity.tokens[login["password"]].principal == "syncret@acme.iam.gserviceaccount.com"


async def test_calls_are_few(cloud: Google, tmp_path: Path) -> None:
    """One login, and one call for each version that is read, however many properties and objects ask."""
    seed(cloud, "database", b'{"password": "correct"}', b'{"password": "correct horse"}', owner="ada")
    seed(cloud, "cache", b"{}")
    another = SHOWN["app.yaml"].replace("name: app", "name: another")
    texts = {"store.yaml": SHOWN["store.yaml"], "app.yaml": SHOWN["app.yaml"], "another.yaml": another}
    await synced(cloud, tmp_path, texts)

    assert cloud.identity.logins == ["syncret@acme.iam.gserviceaccount.com"]
    assert cloud.manager.calls.count("GET access") == 3
    assert cloud.manager.calls.count("GET secrets") == 2, "the labels of one, and a search"
