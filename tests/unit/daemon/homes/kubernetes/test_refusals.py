"""An API server that throttles, refuses, answers slowly or not at all, and what a home makes of it."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from syncret.daemon.homes.contract import (
    AlreadyExists,
    Conflict,
    Forbidden,
    HomeError,
    Invalid,
    NotFound,
    OutcomeUnknown,
    StorageUnavailable,
    TooManyRequests,
)
from syncret.daemon.homes.kubernetes.access.logins import FixedHeaders
from syncret.daemon.homes.kubernetes.api import ApiServer, NotAllowed
from syncret.providers.kit.http import Body, Http, Timeouts
from tests.support.served import all_to, served

Answer = tuple[int, Mapping[str, object], Mapping[str, str]] | None
"""Status, the API's own account, headers; None: none comes."""

NOTHING = Body(b"{}", "application/json")


def status(code: int, reason: str = "", message: str = "no", **details: object) -> Answer:
    return code, {"kind": "Status", "reason": reason, "message": message, "details": details}, {}


class Server:
    """Answers in turn; the last answer for ever."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.asked = 0

    async def answer(self, request: web.Request) -> web.StreamResponse:
        del request
        self.asked += 1
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if answer is None:
            await asyncio.Event().wait()
            raise AssertionError
        code, body, headers = answer
        return web.json_response(body, status=code, headers=headers)


@asynccontextmanager
async def api_of(server: Server) -> AsyncGenerator[ApiServer]:
    async with (
        served(all_to(server.answer)) as url,
        Http(url, network=None, timeouts=Timeouts(total=0.1)) as http,
    ):
        yield ApiServer(http, FixedHeaders({}))


OK: Answer = (200, {}, {})
AWAY: Answer = (503, {}, {})
THROTTLED: Answer = (429, {}, {"Retry-After": "0"})


async def test_a_read_that_is_throttled_is_made_again() -> None:
    server = Server(THROTTLED, THROTTLED, OK)
    async with api_of(server) as api:
        assert await api.read("/a", doing="reading") is not None
    assert server.asked == 3


async def test_a_read_that_is_always_throttled_ends() -> None:
    server = Server(THROTTLED)
    async with api_of(server) as api:
        with pytest.raises(TooManyRequests):
            await api.read("/a", doing="reading")
    assert server.asked == 5


@pytest.mark.parametrize(("code", "expected"), [(429, 7.0), (503, 7.0)])
async def test_a_write_that_is_throttled_says_for_how_long(code: int, expected: float) -> None:
    server = Server((code, {}, {"Retry-After": "7"}))
    async with api_of(server) as api:
        with pytest.raises(TooManyRequests) as refused:
            await api.write("POST", "/a", NOTHING, doing="writing")
    assert refused.value.retry_after == expected
    assert server.asked == 1


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        pytest.param(status(404, "NotFound"), NotFound, id="no such object"),
        pytest.param(status(409, "AlreadyExists"), AlreadyExists, id="exists"),
        pytest.param(status(409, "Conflict"), Conflict, id="conflict"),
        pytest.param(status(403, "Forbidden"), NotAllowed, id="no right"),
        pytest.param(
            status(403, "Forbidden", causes=[{"reason": "NamespaceTerminating"}]), Forbidden, id="namespace"
        ),
        pytest.param(status(413, "RequestEntityTooLarge"), Invalid, id="too large"),
        pytest.param(
            status(422, "Invalid", causes=[{"field": "spec.a", "message": "bad"}]), Invalid, id="invalid"
        ),
        pytest.param(status(401, "Unauthorized"), StorageUnavailable, id="unknown user"),
        pytest.param(status(500, "InternalError"), OutcomeUnknown, id="fault"),
        pytest.param(AWAY, StorageUnavailable, id="away"),
        pytest.param(None, OutcomeUnknown, id="no answer"),
    ],
)
async def test_what_a_refused_write_means(answer: Answer, expected: type[HomeError]) -> None:
    async with api_of(Server(answer)) as api:
        with pytest.raises(expected) as refused:
            await api.write("POST", "/a", NOTHING, doing="writing")
    assert type(refused.value) is expected
    assert str(refused.value).startswith("writing")


async def test_an_outage_is_known_until_an_answer_comes() -> None:
    changes: list[bool] = []
    server = Server(None, None, OK)
    async with api_of(server) as api:
        api.on_change = lambda: changes.append(api.outage is not None)
        for _ in range(2):
            with pytest.raises(StorageUnavailable):
                await api.read("/a", doing="reading")
        assert await api.read("/a", doing="reading") is not None
    assert changes == [True, False]


async def test_a_page_of_a_proxy_is_no_absence() -> None:
    async with api_of(Server((404, {"error": "no such page"}, {}))) as api:
        with pytest.raises(NotFound):
            await api.read("/a", doing="reading")
    async with api_of(Server(status(404, "NotFound"))) as api:
        assert await api.read("/a", doing="reading") is None
