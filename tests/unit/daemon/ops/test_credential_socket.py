"""The socket for credentials: which one the daemon listens on, and who is answered there."""

import asyncio
import os
import socket
from collections.abc import Generator
from pathlib import Path

import pytest

from syncret.config.settings import Settings
from syncret.daemon.core.delivery.credentials import REFUSAL
from syncret.daemon.delivery.credentials.server import Request
from syncret.daemon.ops import credential_socket as module
from syncret.daemon.ops.credential_socket import CredentialSocket, passed_sockets
from tests.support.systemd import messages, notify_socket


@pytest.fixture
def listener(tmp_path: Path) -> Generator[socket.socket, None, None]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as found:
        found.bind(str(tmp_path / "passed"))
        found.listen()
        yield found


def passed(**changes: str) -> dict[str, str]:
    return {"LISTEN_PID": str(os.getpid()), "LISTEN_FDS": "1", "LISTEN_FDNAMES": "credentials", **changes}


@pytest.mark.parametrize(
    "environ",
    [
        pytest.param({}, id="none"),
        pytest.param(passed(LISTEN_PID="1"), id="for another process"),
        pytest.param(passed(LISTEN_FDNAMES="other"), id="with another name"),
    ],
)
def test_no_socket_that_is_not_meant(environ: dict[str, str]) -> None:
    assert passed_sockets(environ) == []


def test_the_socket_that_systemd_passes_is_found_by_its_name(
    listener: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_FIRST_PASSED", listener.fileno() - 1)
    ((name, found),) = passed_sockets(passed(LISTEN_FDS="2", LISTEN_FDNAMES="other:credentials"))
    assert name == "credentials"
    assert found.getsockname() == listener.getsockname()
    assert not found.get_inheritable()
    found.detach()


async def test_a_setting_names_a_socket_which_goes_with_the_daemon(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "s"
    settings = Settings(credential_socket=str(path))
    credentials = CredentialSocket({})
    assert credentials.offers(settings) is not None
    async with credentials.service(settings):
        assert path.stat().st_mode & 0o777 == 0o600
    assert not path.exists()


async def test_without_either_there_is_nothing_to_ask_on() -> None:
    credentials = CredentialSocket({})
    assert credentials.offers(Settings()) is None
    async with credentials.service(Settings()):
        pass


async def test_who_waits_when_the_process_ends_is_refused_and_not_kept(tmp_path: Path) -> None:
    ours, theirs = socket.socketpair()
    with notify_socket(tmp_path / "notify") as heard:
        credentials = CredentialSocket({"NOTIFY_SOCKET": heard.getsockname()})
        credentials.left = [Request(connection=ours, deadline=0.0, name="asked-1")]
        refusing = asyncio.to_thread(credentials.close)
        reader, writer = await asyncio.open_unix_connection(sock=theirs)
        _, answer = await asyncio.gather(refusing, reader.read())
        assert answer == REFUSAL
        writer.close()
        await writer.wait_closed()
        assert messages(heard) == ["FDSTOREREMOVE=1\nFDNAME=asked-1"]
