"""The guides of managers that speak gRPC do what they say, on servers that our names for them lead to."""

import time
from pathlib import Path
from typing import Final

import pytest

from tests.suites.docs.guides import follow
from tests.support.servers.cloudru.server import CloudRu
from tests.support.servers.grpc import grpc_running
from tests.support.servers.nebius.server import Nebius
from tests.support.tls import Authority, trust
from tests.support.tunnel import tunnel_to

pytestmark = pytest.mark.slow

AUTHORITY: Final = Authority()


@pytest.fixture(autouse=True)
def trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    trust(monkeypatch, AUTHORITY)


async def test_cloudru(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    server = CloudRu()
    server.key_id, server.secret = "cloudru-example", "secret-example"
    server.add("shop/database", b"tr0ub4dor")
    server.add("shop/database", b"correct horse")
    server.add("shop/cache", b'{"server": {"host": "cache.internal"}}')
    async with grpc_running(server, AUTHORITY.pair()):
        for name in ("CLOUDRU_CSM_ADDRESS", "CLOUDRU_IAM_ADDRESS"):
            monkeypatch.setenv(name, f"127.0.0.1:{server.port}")
        await follow("cloudrusm", {}, tmp_path)

    assert server.secrets["shop/api-token"].versions == [b"t-1"]


async def test_nebius(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    server, domain = Nebius(time.time), "api.nebius.cloud"
    server.secrets = {
        "mbsec-e00database": [{"user": "ada", "password": "correct horse"}],
        "mbsec-e00mail": [{"host": "mail.internal"}],
    }
    pair = AUTHORITY.pair(f"dpl.mysterybox.{domain},tokens.iam.{domain}")
    async with grpc_running(server, pair), tunnel_to(server.port) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        example = "(the credentials of the service account, as Nebius gave them)"
        await follow("nebiusmysterybox", {example: server.key_file().decode()}, tmp_path)
