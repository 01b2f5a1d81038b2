"""Requests to an API server: which of them leave, as whom, and what a refusal means."""

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web

from syncret.config.meta import Document
from syncret.daemon.homes.contract import StorageUnavailable
from syncret.daemon.homes.kubernetes.access.logins import FileToken, FixedHeaders
from syncret.daemon.homes.kubernetes.api import ApiServer, no_fence
from syncret.daemon.homes.kubernetes.opening import http_to, own_access
from syncret.providers.kit.http import Http, json_body
from syncret.providers.kit.http.client import user_agent
from syncret.providers.kit.kube.client import Login
from tests.support.served import all_to, served


class Server:
    """Knows one token, and writes down what it was asked."""

    def __init__(self) -> None:
        self.token = "one"
        self.asked: list[tuple[str, str]] = []

    async def answer(self, request: web.Request) -> web.Response:
        self.asked.append((request.method, request.headers.get("Authorization", "")))
        if request.headers.get("Authorization", "") not in {"", f"Bearer {self.token}"}:
            return web.json_response({"kind": "Status", "code": 401}, status=401)
        return web.json_response({"received": await request.json() if request.can_read_body else None})


@asynccontextmanager
async def asking(
    server: Server,
    *,
    fence: Callable[[], float] = no_fence,
    login: Login = FixedHeaders({}),  # noqa: B008  # immutable
) -> AsyncGenerator[ApiServer]:
    async with served(all_to(server.answer)) as url, Http(url, network=None, parses=False) as http:
        yield ApiServer(http, login, fence=fence)


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
async def test_i20_a_write_leaves_only_while_the_fence_stands(method: str) -> None:
    server, left = Server(), [5.0]
    async with asking(server, fence=lambda: left[0]) as api:
        answer = await api.write(method, "/x", json_body({"a": 1}), doing="writing")
        assert answer.decode(dict) == {"received": {"a": 1}}
        left[0] = 0.0
        with pytest.raises(StorageUnavailable, match="another replica"):
            await api.write(method, "/x", json_body({"a": 1}), doing="writing")
    assert len(server.asked) == 1


@pytest.mark.parametrize("warm", [True, False], ids=["on a connection that is open", "on a new one"])
async def test_i20_a_process_that_is_stopped_before_the_bytes_leave_sends_none(warm: bool) -> None:  # noqa: FBT001
    """The fence stands when the write begins, and has fallen when the socket is given its bytes."""
    server = Server()
    times = iter([5.0, 5.0] * warm + [5.0, 0.0])
    async with asking(server, fence=lambda: next(times)) as api:
        if warm:
            await api.write("PUT", "/x", json_body({"a": 1}), doing="writing")
        with pytest.raises(StorageUnavailable, match="another replica"):
            await api.write("PUT", "/x", json_body({"a": 2}), doing="writing")
    assert len(server.asked) == warm
    assert api.outage is None, "the server is there"


async def test_i19_a_token_that_was_replaced_is_read_again_once_it_is_refused(tmp_path: Path) -> None:
    server, file = Server(), tmp_path / "token"
    file.write_text("one")
    async with asking(server, login=FileToken(file)) as api:
        await api.read("/x", doing="reading")
        file.write_text("two")
        await api.read("/x", doing="reading")
        server.token = "two"
        answer = await api.write("PUT", "/x", json_body({}), doing="writing")
        assert answer.status == 200
    assert server.asked == [
        ("GET", "Bearer one"),
        ("GET", "Bearer one"),
        ("PUT", "Bearer one"),
        ("PUT", "Bearer two"),
    ]


async def test_i19_a_token_is_read_again_every_minute(tmp_path: Path) -> None:
    server, file, now = Server(), tmp_path / "token", [1000.0]
    file.write_text("one")
    async with asking(server, login=FileToken(file, clock=lambda: now[0])) as api:
        await api.read("/x", doing="reading")
        file.write_text("two")
        server.token = "two"
        now[0] += 61
        await api.read("/x", doing="reading")
    assert [token for _, token in server.asked] == ["Bearer one", "Bearer two"]


async def test_i19_a_refused_token_is_no_failure_of_an_object(tmp_path: Path) -> None:
    """It is the home's: the object waits for it, and nothing is written into its status."""
    server, file = Server(), tmp_path / "token"
    file.write_text("revoked")
    async with asking(server, login=FileToken(file)) as api:
        with pytest.raises(StorageUnavailable) as error:
            await api.read("/x", doing="reading Secret/a/b")
    assert "still valid" in error.value.hint


@pytest.mark.parametrize(
    ("pod", "expected"),
    [
        pytest.param("syncret-6d4f-x", " (syncret-6d4f-x)", id="a pod"),
        pytest.param("", "", id="no pod"),
        pytest.param("a\nX-Other: b", "", id="no name of a pod"),
    ],
)
async def test_the_server_is_told_which_replica_asks(tmp_path: Path, pod: str, expected: str) -> None:
    """Its audit log tells them apart by that."""
    agents: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        agents.append(request.headers["User-Agent"])
        return web.json_response({})

    async with served(all_to(answer)) as url:
        config = tmp_path / "config"
        cluster = {"name": "c", "cluster": {"server": url}}
        context = {"name": "c", "context": {"cluster": "c", "user": "u"}}
        user: Document = {"name": "u", "user": {}}
        document: Document = {
            "current-context": "c",
            "contexts": [context],
            "clusters": [cluster],
            "users": [user],
        }
        config.write_text(json.dumps(document))
        chosen = own_access(str(config), "", {"POD_NAME": pod})
        async with http_to(chosen) as http:
            await ApiServer(http, chosen.login).read("/x", doing="reading")
    (agent,) = agents
    assert agent == user_agent() + expected
