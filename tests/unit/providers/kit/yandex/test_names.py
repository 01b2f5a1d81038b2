"""Searches of a folder in Yandex Cloud, on a server written from its protocol files."""

from pathlib import Path

import pytest

from syncret.providers.contract import Finder
from syncret.providers.errors import SyncError
from syncret.providers.kit.batching import unpaced
from syncret.providers.testing.calls import read
from syncret.providers.values import FindQuery, RemoteRef
from syncret.providers.work import Work
from tests.suites.providers.test_yandex import (
    AUTHORITY,
    CertificateHarness,
    LockboxByNameHarness,
    YandexHarness,
)
from tests.support.opened import NOW
from tests.support.servers.rest import running
from tests.support.servers.yandex.server import Yandex


@pytest.mark.parametrize(
    ("made", "statuses"),
    [
        pytest.param(LockboxByNameHarness, ("CREATING", "INACTIVE"), id="secrets"),
        pytest.param(CertificateHarness, ("VALIDATING", "INVALID"), id="certificates"),
    ],
)
async def test_what_has_nothing_to_read_is_not_found(
    made: type[YandexHarness], statuses: tuple[str, ...], tmp_path: Path
) -> None:
    """A search for the others works; who names one is told."""
    async with running(Yandex(lambda: NOW), AUTHORITY.server(tmp_path)) as server:
        server.statuses = {status.lower(): status for status in statuses}
        for name in ("good", *server.statuses):
            server.secrets[name] = [{"value": "text"}]
            server.certificates[name] = [(["chain"], "key")]
        async with made(server).open() as client:
            assert isinstance(client, Finder)
            found = await client.find(FindQuery(name=""), unpaced, Work())
            for name in server.statuses:
                with pytest.raises(SyncError):
                    await read(client, RemoteRef(name))

    assert set(found or ()) == {"good"}
