"""The server that Alibaba Cloud is tested on works with its own client for Go, kms-20160120 3.3.1."""

import asyncio
import json
import os
import subprocess
import time
from pathlib import Path

import pytest

from tests.support.servers.alibaba import server as served
from tests.support.servers.alibaba.server import Kms
from tests.support.servers.golang import built, need_go
from tests.support.servers.rest import running
from tests.support.tls import Authority

pytestmark = [pytest.mark.slow, pytest.mark.differential]

NAME = "shop/db+ä"


async def test_the_life_of_a_secret(tmp_path: Path) -> None:
    need_go()
    program = built(Path(served.__file__).parent / "sdk", flags=("-mod=mod",)) / "kms"
    authority, server = Authority(), Kms(time.time)
    (tmp_path / "ca.pem").write_bytes(authority.pem)
    for name in ("a", "b"):
        server.add(name, "1", tags={"team": name})
    async with running(server, authority.server(tmp_path)):
        environment = {
            "ENDPOINT": server.url.removeprefix("https://"),
            "KEY_ID": server.key_id,
            "KEY_SECRET": server.token,
            "SSL_CERT_FILE": os.fspath(tmp_path / "ca.pem"),
        }
        done = await asyncio.to_thread(
            subprocess.run,
            [program],
            env={**os.environ, **environment},
            stdout=subprocess.PIPE,
            timeout=60,
            check=True,
        )

    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert told == [
        {"answer": None},
        {"answer": None},
        {"answer": "second"},
        {"answer": "first & *~"},
        {"error": "Forbidden.ResourceNotFound"},
        {"answer": ["a1", "b1"]},
        {"answer": [f"{NAME}0"]},
        {"answer": None},
        {"answer": "2033-01-01T00:00:00Z"},
    ]
    assert server.secrets[NAME].versions == {"v1": "first & *~", "v2": "second"}
    assert server.secrets[NAME].place == ("kst-1", "")
