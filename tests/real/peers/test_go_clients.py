"""Servers of our tests work with the vendors' own clients for Go: go-dvls 0.20.1, okms-sdk-go 0.5.4."""

import asyncio
import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.servers.dvls import server as dvls
from tests.support.servers.dvls.server import VAULT, Dvls
from tests.support.servers.golang import built, need_go
from tests.support.servers.ovh import server as ovh
from tests.support.servers.ovh.server import DOMAIN, Ovh
from tests.support.servers.rest import running

pytestmark = [pytest.mark.slow, pytest.mark.differential]


async def told(module: str | None, program: str, environment: Mapping[str, str]) -> list[dict[str, Any]]:
    """What the program beside a server says of each of its calls."""
    assert module is not None
    path = built(Path(module).parent / "sdk", flags=("-mod=mod",)) / program
    done = await asyncio.to_thread(
        subprocess.run,
        [path],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        timeout=60,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


async def test_devolutions_server() -> None:
    need_go()
    server = Dvls()
    server.add("db", "shopping", username="eve")
    server.add("prod", "shop", "Folder/Folder")
    mail = server.add("mail", "", "ApiKey", apiId="7", apiKey="k")
    async with running(server):
        login = {"ENDPOINT": server.url, "APP_KEY": "shop", "APP_SECRET": server.secret}
        calls = await told(dvls.__file__, "dvls", login)

    head = {"entry-id": "00000000-0000-0000-0000-000000000004", "entry-name": "db", "username": "ada"}
    assert calls == [
        {"answer": VAULT},
        {"error": "vault not found"},
        {"answer": [True, {**head, "password": "first"}, "shop\\prod", ["a"]]},
        {"answer": {**head, "password": "second"}},
        {"answer": ["shopping\\db", "\\mail", "shop\\prod\\db"]},
        {"answer": ["shop\\prod\\db"]},
        {"answer": []},
        {"answer": {"entry-id": mail, "entry-name": "mail", "api-id": "7", "api-key": "k"}},
        {"answer": None},
        {"status": 404},
        {"error": "entry not found"},
        {"status": 401},
    ]
    assert server.logins == 3


async def test_ovhcloud() -> None:
    need_go()
    server = Ovh()
    server.secrets = {path: [{"a": path}] for path in ("mail", "shop/eu/web", "web")}
    path, port = "shop/db ä", {"password": {"port": 5432}}
    async with running(server):
        calls = await told(
            ovh.__file__, "okms", {"ENDPOINT": server.url, "DOMAIN": DOMAIN, "TOKEN": server.token}
        )

    absent = {"status": 404, "category": "Not Found", "code": 17125377}
    assert calls == [
        {"answer": [path, 1]},
        {"answer": 2},
        {"status": 409, "category": "Conflict", "code": 50438145},
        {"answer": [2, True, port, 2]},
        {"answer": [1, True, {"password": "first"}, 2]},
        {**absent, "code": 17125378},
        {"answer": None},
        absent,
        {"answer": ["mail", "shop/eu/web", "web", path]},
        {"answer": ["eu/", "db ä"]},
        {"answer": None},
        absent,
        {"status": 401, "category": "Authentication", "code": 50475011},
    ]
