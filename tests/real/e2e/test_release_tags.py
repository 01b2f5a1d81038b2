"""Tags of a release are read with our own providers, each with its own login: Vault, AWS, webhook, fake."""

import asyncio
import json
import os
from base64 import b64decode
from pathlib import Path

import pytest

from syncret.config.meta import Document
from tests.real.e2e.process import syncret
from tests.suites.docs.pages import ROOT, blocks
from tests.support.served import served
from tests.support.servers.aws import Gateway, Person, gate, moto
from tests.support.servers.small_vault import small_vault, vault_store
from tests.support.servers.webhook import SecretsApi

__all__ = ["gate", "moto"]  # fixtures

pytestmark = pytest.mark.slow

TAGS = {
    "vault": "@secret(source=eso, path=app, key=password)",
    "aws": "@secret(store=aws, path=app/database, key=password)",
    "webhook": "@secret(store=team-api, path=database, key=password)",
    "fake": "@secret(store=fake, path=db, key=password)",
}
PARTS = """\
apiVersion: syncret.dev/v1alpha1
kind: Platform
spec: {secretStoreRef: {name: vault, kind: SecretStore}}
---
apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {name: fake}
spec: {provider: {fake: {data: [{key: db, value: '{"password": "of the fake"}'}]}}}
"""


def stores_of(guide: str) -> str:
    """The manifests of the store that a guide shows."""
    page = blocks(ROOT / "docs" / "providers" / f"{guide}.md")
    return next(block.text for block in page if block.title == "store.yaml")


async def test_four_providers_in_one_release(gate: Gateway, tmp_path: Path) -> None:
    gate.people = {"AKIAEXAMPLEEXAMPLE00": Person("arn:aws:iam::123456789012:user/app", "example-secret-key")}
    await gate.behind(
        "secretsmanager", "CreateSecret", Name="app/database", SecretString='{"password": "of AWS"}'
    )
    api = SecretsApi("9e1c-example")
    api.values["database", ""] = b'{"password": "of the webhook"}'
    config: Document = {
        name: {"$opm": "secret", "$secretName": "app", "$dataKey": name, "$constraints": {"minRunes": 1}}
        for name in TAGS
    }
    module = {
        "kind": "Module",
        "metadata": {"name": "app"},
        "spec": {"config": config, "container": {"image": "x"}},
    }
    module["apiVersion"] = "syncret.dev/v1alpha1"
    with small_vault() as vault:
        async with served(api.app()) as url:
            files = {
                "module.json": json.dumps(module),
                "values.json": json.dumps(TAGS),
                "parts.yaml": PARTS,
                "vault.yaml": vault_store(vault),
                "aws.yaml": stores_of("aws"),
                "webhook.yaml": stores_of("webhook").replace("https://secrets.example", url),
            }
            given: list[str | Path] = []
            for name, text in files.items():
                (tmp_path / name).write_text(text)
                given += ["-f", tmp_path / name]
            ambient = {name: value for name, value in os.environ.items() if name.startswith("AWS_")}
            flags = ("--resolve", "secret", "-o", "json", "--show-values")
            done = await asyncio.to_thread(syncret, "release", *given, *flags, env=ambient)
            shut = await asyncio.to_thread(syncret, "release", *given, env=ambient)
        assert (vault.reads, len(vault.logins)) == (["app"], 1)
    report = json.loads(done.stdout)
    assert (done.returncode, report["problems"]) == (0, [])
    assert {each["origin"] for each in report["secrets"]} == {"secret"}
    assert {each["constraints"] for each in report["secrets"]} == {"satisfied"}
    (secret,) = (item for item in report["items"] if item["kind"] == "Secret")
    assert {key: b64decode(value).decode() for key, value in secret["data"].items()} == {
        "vault": "1",
        "aws": "of AWS",
        "webhook": "of the webhook",
        "fake": "of the fake",
    }
    assert shut.returncode == 2  # nothing is read unless asked for
    assert shut.stderr.count("add --resolve secret") == len(TAGS)
