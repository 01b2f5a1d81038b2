"""What an operator reads of stores and objects when Vault does not play along: what is wrong, what to do."""

import json
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import web

from syncret.config.meta import Document
from syncret.daemon.one_pass import SyncResult
from tests.real.vault.support import Mount
from tests.suites.docs.pages import ROOT
from tests.support.passes import external, login, passed, ready, store
from tests.support.servers.gate import Gate, gate
from tests.support.servers.vault.running import vault

pytestmark = pytest.mark.slow

CANARY = "canary-4e1b"
SDKS = {"aioboto3", "aiobotocore", "azure", "boto3", "botocore", "google", "kubernetes"}


@pytest.fixture
def mount() -> Mount:
    made = Mount(vault())
    vault().write(f"{made.path}/data/db", data={"user": CANARY, "port": 5432})
    return made


@pytest.fixture
async def between() -> AsyncIterator[Gate]:
    async with gate(vault().url) as made:
        yield made


def reading(name: str, key: str, prop: str) -> Document:
    return external(name, data=[{"secretKey": "k", "remoteRef": {"key": key, "property": prop}}])


async def synced(folder: Path, token: str, spec: Document, *objects: Document) -> SyncResult:
    auth: Document = {"auth": {"tokenSecretRef": {"name": "login", "key": "token"}}}
    documents = (login("token", token), store("vault", auth | spec), *objects)
    return await passed(folder, *documents, secrets=(CANARY, token))


def told(result: SyncResult) -> str:
    return " ".join(result.failures.values())


@pytest.mark.parametrize(
    ("key", "prop", "expected"),
    [
        pytest.param(
            "db", "port.number", 'cannot find secret data for key: "port.number"', id="into a number"
        ),
        pytest.param("db", "absent", 'cannot find secret data for key: "absent"', id="no such property"),
        pytest.param("../../sys/mounts", "a", "cannot hold the segments", id="a way out"),
    ],
)
async def test_references(mount: Mount, tmp_path: Path, key: str, prop: str, expected: str) -> None:
    spec = {"server": vault().url, "path": mount.path}
    result = await synced(tmp_path, vault().token(mount.policy), spec, reading("es", key, prop))

    assert expected in told(result)
    assert ready(result, "ExternalSecret", "es") == ("False", "SecretSyncedError")
    assert ready(result, "SecretStore", "s") == ("True", "Valid")


@pytest.mark.parametrize(
    ("spec", "expected", "reason"),
    [
        pytest.param({"server": "http://127.0.0.1:1"}, "refuses connections", "", id="nobody listens"),
        pytest.param({"server": "vault"}, "write it with https://", "", id="no URL"),
        pytest.param({"path": "nowhere"}, "and path in the store must be right", "Valid", id="no mount"),
        pytest.param({"version": "v1"}, "set the store's version", "Valid", id="the other version"),
    ],
)
async def test_stores(mount: Mount, tmp_path: Path, spec: Document, expected: str, reason: str) -> None:
    full = {"server": vault().url, "path": mount.path} | spec
    result = await synced(tmp_path, vault().token(mount.policy), full, reading("es", "db", "user"))

    assert expected in told(result)
    assert ready(result, "ExternalSecret", "es") == ("False", "SecretSyncedError")
    assert ready(result, "SecretStore", "s")[0] == ("True" if reason else "False")


async def test_a_token_that_has_expired(mount: Mount, tmp_path: Path) -> None:
    token = vault().token(mount.policy)
    vault().write("auth/token/revoke", token=token)
    spec = {"server": vault().url, "path": mount.path}
    result = await synced(tmp_path, token, spec, reading("es", "db", "user"))

    assert "the token is not valid" in told(result)
    assert "check the Secret in auth.tokenSecretRef, or write a new token there" in told(result)
    assert ready(result, "SecretStore", "s") == ("False", "InvalidProviderConfig")


async def test_a_page_where_vault_is_expected(mount: Mount, between: Gate, tmp_path: Path) -> None:
    spec = {"server": between.url, "path": mount.path}
    page = web.Response(text=f"<html>{CANARY}", content_type="text/html")
    with between.failing(lambda _request: page):
        result = await synced(tmp_path, vault().token(mount.policy), spec, reading("es", "db", "user"))

    assert "the answer is HTML, not JSON" in told(result)


async def test_one_of_twenty_that_is_forbidden(mount: Mount, tmp_path: Path) -> None:
    for number in range(20):
        vault().write(f"{mount.path}/data/key-{number}", data={"user": CANARY})
    closed = {f"{mount.path}/data/key-7": "deny", f"{mount.path}/*": "read"}
    token = vault().token(vault().policy(**closed))
    objects = [reading(f"es-{number}", f"key-{number}", "user") for number in range(20)]
    result = await synced(tmp_path, token, {"server": vault().url, "path": mount.path}, *objects)

    assert len(result.failures) == 1
    assert "reading key-7: permission denied" in told(result)
    assert "a policy of the store's token must allow it" in told(result)
    assert ready(result, "ExternalSecret", "es-7") == ("False", "SecretSyncedError")
    assert ready(result, "ExternalSecret", "es-8") == ("True", "SecretSynced")


def test_a_store_of_vault_brings_in_no_other_client(mount: Mount, tmp_path: Path) -> None:
    code = """
import asyncio, json, sys
from pathlib import Path
from tests.real.vault.test_conditions import reading, synced
spec = {"server": sys.argv[2], "path": sys.argv[3]}
result = asyncio.run(synced(Path(sys.argv[1]), sys.argv[4], spec, reading("es", "db", "user")))
assert not result.failures, result.failures
print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))
"""
    token = vault().token(mount.policy)
    command = [sys.executable, "-c", code, str(tmp_path), vault().url, mount.path, token]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)

    assert not SDKS & set(json.loads(done.stdout))
