"""Authorities of a file are trusted beside the system's, also once it appears or changes."""

from pathlib import Path

import pytest
import structlog
from aiohttp import web

from syncret.daemon.trusted_ca import LARGEST, TrustedFile, trusted_ca
from syncret.providers.errors import Malformed
from syncret.providers.kit.http import Http, tls
from tests.support.opened import NETWORK
from tests.support.served import all_to, served
from tests.support.tls import Authority, trust


async def ok(request: web.Request) -> web.StreamResponse:
    del request
    return web.json_response({})


@pytest.fixture(autouse=True)
def _nobody_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    trust(monkeypatch)


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority()


async def reached(url: str) -> bool:
    async with Http(url, network=NETWORK) as http:
        try:
            await http.request("GET", "/", doing="reading key a")
        except Malformed:
            return False
    return True


async def test_a_file_that_appears_and_changes(authority: Authority, tmp_path: Path) -> None:
    other, path = Authority("another"), tmp_path / "ca.crt"
    file = TrustedFile(path)
    async with served(all_to(ok), authority.server(tmp_path)) as url:
        file.look()
        assert not await reached(url)
        path.write_bytes(other.pem)
        file.look()
        assert not await reached(url)
        path.write_bytes(other.pem + authority.pem)
        file.look()
        assert await reached(url)


async def test_the_system_s_own_are_still_trusted(authority: Authority, tmp_path: Path) -> None:
    path = tmp_path / "ca.crt"
    path.write_bytes(authority.pem)
    async with trusted_ca(str(path)):
        context = tls.Tls().of_session()
    assert len(context.get_ca_certs()) > 1 or context.cert_store_stats()["x509_ca"] > 1


async def test_none_is_named() -> None:
    before = tls.Tls().of_session().cert_store_stats()
    async with trusted_ca(""):
        assert tls.Tls().of_session().cert_store_stats() == before


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"no certificate", "the file holds no readable PEM certificate"),
        (b" " * (LARGEST + 1), f"is larger than {LARGEST} bytes"),
    ],
)
def test_a_damaged_file_is_told_once(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "ca.crt"
    path.write_bytes(content)
    file = TrustedFile(path)
    with structlog.testing.capture_logs() as logs:
        file.look()
        file.look()
    assert [entry["reason"].partition(" (")[0] for entry in logs] == [reason]


def test_an_empty_file_is_none(tmp_path: Path) -> None:
    (tmp_path / "ca.crt").touch()
    with structlog.testing.capture_logs() as logs:
        TrustedFile(tmp_path / "ca.crt").look()
    assert logs == []


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with structlog.testing.capture_logs() as logs:
        TrustedFile(tmp_path).look()
    assert [entry["reason"] for entry in logs] == ["Is a directory"]
