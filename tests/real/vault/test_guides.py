"""The guides of Vault and OpenBao do what they say, on a real Vault."""

import os
from pathlib import Path
from typing import Any

import pytest

from syncret.config.settings import Settings
from syncret.daemon.one_pass import one_pass
from syncret.providers.registry import Registry
from tests.suites.docs.pages import ROOT, blocks
from tests.support.servers.vault.running import vault

pytestmark = pytest.mark.slow


def shown(page: str) -> dict[str, str]:
    return {block.title: block.text for block in blocks(ROOT / "docs" / "providers" / page) if block.title}


async def synced(folder: Path, texts: dict[str, str], replaced: dict[str, str]) -> Path:
    """Where the Secrets are once these manifests were synced, with some words replaced."""
    manifests, output = folder / "manifests", folder / "out"
    manifests.mkdir()
    for title, text in texts.items():
        for old, new in replaced.items():
            assert old in "".join(texts.values())
            text = text.replace(old, new)  # noqa: PLW2901  # word by word
        (manifests / title).write_text(text)
    settings = Settings(manifests=(os.fspath(manifests),), output_dir=os.fspath(output), state_file="")
    result = await one_pass(settings, Registry())

    assert (result.problems, result.failures) == ([], {})
    return output / "default"


def held(folder: Path) -> dict[str, str]:
    return {file.name: file.read_text() for file in folder.iterdir()}


async def test_the_guide_of_vault(tmp_path: Path) -> None:
    server, page = vault(), shown("vault.md")
    mount, engine, login = server.mount(version="2"), server.mount("leased-kv"), server.login("approle")
    for password in ("correct", "correct horse"):
        server.write(f"{mount}/data/app/database", data={"password": password})
    server.write(f"{mount}/metadata/app/database", custom_metadata={"owner": "ada"})
    server.write(f"{mount}/data/app/cache", data={"host": "cache.internal", "port": 6379})
    server.write(f"{mount}/data/app/web", data={"theme": "dark"})
    server.write(f"{mount}/metadata/app/web", custom_metadata={"tier": "web"})
    server.write(f"{engine}/creds/app", username="v-app-1", ttl="1h")
    rights = {f"{mount}/*": "create read update list", f"{engine}/*": "read", "sys/leases/revoke": "update"}
    server.write(f"auth/{login}/role/app", token_policies=[server.policy(**rights)], role_id=f"app-{login}")
    server.write(f"auth/{login}/role/app/custom-secret-id", secret_id="5f3b-example")
    texts = {title: page[title] for title in ("store.yaml", "app.yaml", "push.yaml", "dynamic.yaml")}
    words = {
        "https://vault.example": server.url,
        "path: kv": f"path: {mount}",
        "path: approle": f"path: {login}",
        "roleId: app": f"roleId: app-{login}",
        "database/creds": f"{engine}/creds",
    }
    output = await synced(tmp_path, texts, words)
    app = held(output / "app")
    issued: dict[str, Any] = server.read(f"{mount}/data/app/issued") or {}

    assert "".join(f"{key}: {app[key]}\n" for key in sorted(app)) == page["result"]
    assert issued["data"] == {"token": 'a "quoted" token'}
    assert issued["metadata"]["custom_metadata"] == {"managed-by": "external-secrets"}
    assert held(output / "database")["username"] == "v-app-1"


async def test_the_guide_of_openbao(tmp_path: Path) -> None:
    server, page = vault(), shown("openbao.md")
    mount, login = server.mount(version="2"), server.login("userpass")
    server.write(f"{mount}/data/app/database", data={"password": "x"})
    server.write(f"{mount}/data/app/cache", data={"port": 6379})
    policy = server.policy(**{f"{mount}/*": "read list", f"sys/mounts/{mount}": "read"})
    server.write(f"auth/{login}/users/app", password="correct horse", token_policies=[policy])
    words = {
        "https://bao.example": server.url,
        "path: kv": f"path: {mount}",
        "path: userpass": f"path: {login}",
    }
    output = await synced(tmp_path, {title: page[title] for title in ("store.yaml", "app.yaml")}, words)

    assert held(output / "app") == {"password": "x", "cache": '{"port":6379}'}
