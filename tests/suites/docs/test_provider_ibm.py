"""The guide of IBM Cloud Secrets Manager does what it says, on a server that IBM's own client proves."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from syncret.config.settings import Settings
from syncret.daemon.one_pass import SyncResult, one_pass
from syncret.providers.registry import Registry
from tests.suites.docs.pages import ROOT, blocks
from tests.support.servers.ibm.server import Ibm, ibm

PAGE = ROOT / "docs" / "providers" / "ibm.md"
SHOWN = {block.title: block.text for block in blocks(PAGE) if block.title}
ID = "d5deb37a-7883-4fe2-a5e7-3c15420adc76"
KEY = "9e1c-example"
SERVICE = "iam-ServiceId-syncret"


@pytest.fixture
async def cloud() -> AsyncIterator[Ibm]:
    async with ibm() as cloud:
        cloud.service("syncret")
        cloud.identity.keys = {KEY: SERVICE}
        team, seed = cloud.manager.group("team-a").id, cloud.manager.seed
        token = seed("arbitrary", "token", payload="one-time")
        cloud.manager.secrets[ID] = cloud.manager.secrets.pop(token.id)
        token.id = ID
        seed("username_password", "database", team, username="ada", password="correct horse")
        seed("kv", "cache", team, data={"server": {"host": "cache.internal", "port": 6379}})
        seed("private_cert", "web", team, certificate_template="template", common_name="web.example")
        yield cloud


def held(folder: Path) -> dict[str, str]:
    return {file.name: file.read_text() for file in folder.iterdir()}


async def synced(cloud: Ibm, folder: Path, texts: dict[str, str]) -> SyncResult:
    """One pass with these manifests, which say where this server is."""
    manifests = folder / "manifests"
    manifests.mkdir(exist_ok=True)
    auth = f"auth:\n        secretRef:\n          iamEndpoint: {cloud.url}"
    for title, text in texts.items():
        there = text.replace("https://instance-id.us-south.secrets-manager.appdomain.cloud", cloud.url)
        (manifests / title).write_text(there.replace("auth:\n        secretRef:", auth))
    settings = Settings(
        manifests=(os.fspath(manifests),),
        output_dir=os.fspath(folder / "out"),
        state_file=os.fspath(folder / "state"),
    )
    return await one_pass(settings, Registry())


async def test_the_guide(cloud: Ibm, tmp_path: Path) -> None:
    result = await synced(
        cloud, tmp_path, {title: SHOWN[title] for title in ("store.yaml", "app.yaml", "certificate.yaml")}
    )
    app = held(tmp_path / "out" / "default" / "app")
    certificate = held(tmp_path / "out" / "default" / "certificate")

    assert (result.problems, result.failures) == ([], {})
    assert "".join(f"{key}: {app[key]}\n" for key in sorted(app)) == SHOWN["result"]
    assert sorted(certificate) == ["tls.crt", "tls.key"]
    assert certificate["tls.crt"].count("BEGIN CERTIFICATE") == 2


async def test_calls_are_few(cloud: Ibm, tmp_path: Path) -> None:
    """One login, and one call for each secret that is read, however many properties and objects ask."""
    another = SHOWN["app.yaml"].replace("name: app", "name: another")
    texts = {"store.yaml": SHOWN["store.yaml"], "app.yaml": SHOWN["app.yaml"], "another.yaml": another}
    result = await synced(cloud, tmp_path, texts)

    assert result.failures == {}
    assert cloud.identity.logins == [SERVICE]
    assert len(cloud.manager.calls) == 3


async def test_what_is_gone_deletes_nothing(cloud: Ibm, tmp_path: Path) -> None:
    policy = "    name: ibm\n  target: {deletionPolicy: Delete}\n"
    app = SHOWN["app.yaml"].replace("    name: ibm\n", policy).replace("15m", "1ms")
    texts = {"store.yaml": SHOWN["store.yaml"], "app.yaml": app}
    before = await synced(cloud, tmp_path, texts)
    cloud.manager.secrets.clear()
    after = await synced(cloud, tmp_path, texts)

    assert before.failures == {}
    assert "does not exist" in " ".join(after.failures.values())
    assert len(held(tmp_path / "out" / "default" / "app")) == 7
