"""The server that Nebius is tested on works with Nebius's own client, `nebius` for Python."""

import time
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import pytest

from tests.support.servers.grpc import grpc_running
from tests.support.servers.nebius.server import Nebius
from tests.support.tls import Authority

pytestmark = pytest.mark.slow

AUTHORITY: Final = Authority()


async def test_payloads_as_a_service_account(tmp_path: Path) -> None:
    api: Any = import_module("nebius.api.nebius.mysterybox.v1")  # imports for a second, and has its own types
    constant: Any = import_module("nebius.base.resolver").Constant
    sdk: Any = import_module("nebius.sdk").SDK
    trust = import_module("grpc").ssl_channel_credentials(AUTHORITY.pem)
    server, file = Nebius(time.time), tmp_path / "credentials.json"
    file.write_bytes(server.key_file())
    server.secrets["s"] = [{"a": "1"}, {"a": "2", "b": b"\xff"}]
    async with grpc_running(server, AUTHORITY.pair()):
        vendor = sdk(
            credentials_file_name=file,
            resolver=constant(f"127.0.0.1:{server.port}"),
            tls_credentials=trust,
            user_agent_prefix="test/1",
        )
        payloads = api.PayloadServiceClient(vendor)
        now = await payloads.get(api.GetPayloadRequest(secret_id="s"))
        before = await payloads.get(api.GetPayloadRequest(secret_id="s", version_id="v1"))
        refused = {}
        server.refused.add("t")
        for key in ("absent", "t"):
            with pytest.raises(Exception, match="Request error") as raised:
                await payloads.get(api.GetPayloadRequest(secret_id=key))
            refused[key] = str(raised.value).split()[2].strip(":")
        await vendor.close()

    found = {entry.key: entry.string_value or entry.binary_value for entry in now.data}
    assert (now.version_id, found) == ("v2", {"a": "2", "b": b"\xff"})
    assert [entry.string_value for entry in before.data] == ["1"]
    assert refused == {"absent": "NOT_FOUND", "t": "PERMISSION_DENIED"}
    assert server.logins == 1
