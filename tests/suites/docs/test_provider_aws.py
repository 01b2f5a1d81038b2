"""The guide of AWS does what it says, on moto behind a gateway that verifies every signature."""

import os
from pathlib import Path
from typing import Any

import pytest

from syncret.config.settings import Settings
from syncret.daemon.one_pass import one_pass
from syncret.providers.registry import Registry
from tests.suites.docs.pages import ROOT, blocks
from tests.support.servers.aws import Gateway, Person, gate, moto

__all__ = ["gate", "moto"]  # fixtures

pytestmark = pytest.mark.slow


def held(folder: Path) -> dict[str, str]:
    return {file.name: file.read_text() for file in folder.iterdir()}


async def test_the_guide(gate: Gateway, tmp_path: Path) -> None:
    page = {
        block.title: block.text for block in blocks(ROOT / "docs" / "providers" / "aws.md") if block.title
    }
    arn = "arn:aws:iam::123456789012:user/app"
    gate.people = {"AKIAEXAMPLEEXAMPLE00": Person(arn, "example-secret-key")}

    async def create(name: str, *values: str, **tags: str) -> None:
        first, *others = values
        listed = [{"Key": key, "Value": value} for key, value in tags.items()]
        given: dict[str, Any] = {"Name": name, "SecretString": first, "Tags": listed}
        await gate.behind("secretsmanager", "CreateSecret", **given)
        for value in others:
            await gate.behind("secretsmanager", "PutSecretValue", SecretId=name, SecretString=value)

    await create("app/database", '{"password": "correct"}', '{"password": "correct horse"}', owner="ada")
    await create("app/cache", '{"host": "cache.internal", "port": 6379}')
    await create("app/web", '{"theme":"dark"}', tier="web")
    for value in ("info", "debug"):
        given = {"Name": "/app/log/level", "Value": value, "Type": "String", "Overwrite": True}
        await gate.behind("ssm", "PutParameter", **given)

    manifests, output = tmp_path / "manifests", tmp_path / "out"
    manifests.mkdir()
    for title, text in page.items():
        if title.endswith(".yaml"):
            (manifests / title).write_text(text)
    settings = Settings(manifests=(os.fspath(manifests),), output_dir=os.fspath(output), state_file="")
    result = await one_pass(settings, Registry())

    assert (result.problems, result.failures) == ([], {})
    app = held(output / "default" / "app")
    assert "".join(f"{key}: {app[key]}\n" for key in sorted(app)) == page["result"]
    assert held(output / "default" / "settings") == {"level": "debug", "first-level": "info"}
    assert held(output / "default" / "registry").keys() == {
        "username",
        "password",
        "proxy_endpoint",
        "expires_at",
    }
    assert "session_token" in held(output / "default" / "session")
    pushed = await gate.behind("secretsmanager", "DescribeSecret", SecretId="app/issued")
    stored = await gate.behind("secretsmanager", "GetSecretValue", SecretId="app/issued")
    tags = {tag["Key"]: tag["Value"] for tag in pushed["Tags"]}
    assert tags == {"team": "platform", "managed-by": "external-secrets"}
    assert (pushed["Description"], stored["SecretString"]) == (
        "Issued by the platform",
        '{"token":"a \\"quoted\\" token"}',
    )
