"""The guide of Azure Key Vault does what it says, on a server that Azure's own clients prove."""

import asyncio
import json
from pathlib import Path

import pytest

from tests.real.e2e.process import environment, syncret
from tests.suites.docs.pages import ROOT, blocks
from tests.support.jwts import private_key
from tests.support.servers.azure.directory import TENANT
from tests.support.servers.azure.material import created_key
from tests.support.servers.azure.server import Azure, azure

pytestmark = pytest.mark.slow

PAGE = ROOT / "docs" / "providers" / "azurekv.md"
SHOWN = {block.title: block.text for block in blocks(PAGE) if block.title}
PARTS = ("store.yaml", "app.yaml", "push.yaml", "registry.yaml")
FORMER = "5a1f0b6e2c7d4e8f9a0b1c2d3e4f5a6b"
END = 1_893_553_445


def seed(cloud: Azure) -> None:
    """What the page says that the vault holds."""
    add = cloud.vault.add
    add("secrets/database", {"value": '{"password": "correct"}'}, name=FORMER)
    beside = {"tags": {"owner": "ada"}, "attributes": {"exp": END}}
    add("secrets/database", {"value": '{"password": "correct horse"}'}, beside)
    add("secrets/cache", {"value": '{"host": "cache.internal", "port": 6379}'})
    add("secrets/web-theme", {"value": "dark"}, {"tags": {"tier": "front"}})
    add("keys/signing", {"key": created_key(private_key("signing"))})


async def synced(cloud: Azure, folder: Path, texts: dict[str, str]) -> Path:
    """Where the Secrets are once these manifests were synced over TLS, with an application that is known."""
    application = cloud.member("syncret", secret="5f3b-example")
    words = {
        "https://acme.vault.azure.net": cloud.secure_url,
        "acme.azurecr.io": cloud.host,
        "0b7d7c1e-8f0a-4a6c-9a55-7f3f2f1f0a11": TENANT,
        "6d1f9f4e-3a52-4b8e-9d54-1f0f6a0c1b7e": application.client_id,
    }
    manifests = folder / "manifests"
    manifests.mkdir()
    for title, text in texts.items():
        for old, new in words.items():
            text = text.replace(old, new)  # noqa: PLW2901  # word by word
        (manifests / title).write_text(text)
    env = environment(AZURE_AUTHORITY_HOST=cloud.secure_url, SSL_CERT_FILE=cloud.bundle)
    output = folder / "out"
    ran = await asyncio.to_thread(syncret, "sync", "-f", manifests, "--output-dir", output, env=env)

    assert ran.returncode == 0, ran.stderr
    return output / "default"


def held(folder: Path) -> dict[str, str]:
    return {file.name: file.read_text() for file in folder.iterdir()}


async def test_the_guide(tmp_path: Path) -> None:
    async with azure() as cloud:
        seed(cloud)
        output = await synced(cloud, tmp_path, {title: SHOWN[title] for title in PARTS})
        app, registry = held(output / "app"), held(output / "registry")

        assert "".join(f"{key}: {app[key]}\n" for key in sorted(app)) == SHOWN["result"]
        [token] = cloud.vault.items["secrets/issued-token"].versions
        assert token.fields == {"value": 'a "quoted" token', "contentType": "text/plain"}
        assert token.tags == {"managed-by": "external-secrets", "team": "platform"}
        assert token.attributes["exp"] == END
        login = json.loads(registry[".dockerconfigjson"])["auths"][cloud.host]
        assert cloud.registry.access_tokens == {login["password"]: "repository:app:pull"}
        assert login["username"] == "00000000-0000-0000-0000-000000000000"


async def test_calls_are_few(tmp_path: Path) -> None:
    """One login, and one call for each version that is read, whatever is asked of it and by how many."""
    another = SHOWN["app.yaml"].replace("name: app", "name: another")
    async with azure() as cloud:
        seed(cloud)
        texts = {"store.yaml": SHOWN["store.yaml"], "app.yaml": SHOWN["app.yaml"], "another.yaml": another}
        await synced(cloud, tmp_path, texts)

        assert len(cloud.directory.logins) == 1
        assert sorted(cloud.vault.calls) == [
            "GET keys/signing",
            "GET secrets",
            "GET secrets/cache",
            "GET secrets/database",
            f"GET secrets/database/{FORMER}",
            "GET secrets/web-theme",
        ]
