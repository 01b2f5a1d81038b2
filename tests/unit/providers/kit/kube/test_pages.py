"""Lists of an API server whose objects are large."""

import json

import pytest
from aiohttp import web

from syncret.config.fields import Json
from syncret.providers.errors import Malformed
from syncret.providers.kit.batching import unpaced
from syncret.providers.kit.http import Http
from syncret.providers.kit.kube.access import FixedHeaders
from syncret.providers.kit.kube.client import PAGE, Kube
from tests.support.opened import NETWORK
from tests.support.served import all_to, served

OBJECTS = 20
LARGEST = 10_000


async def test_a_page_that_is_too_large_is_read_in_parts() -> None:
    """An API server counts objects, not bytes; each of them alone is smaller than a response may be."""
    limits: list[int] = []

    async def handle(request: web.Request) -> web.Response:
        limit, start = int(request.query["limit"]), int(request.query.get("continue", 0))
        limits.append(limit)
        end = min(start + limit, OBJECTS)
        items = [{"metadata": {"name": str(number)}, "text": "x" * 1000} for number in range(start, end)]
        page = {"items": items, "metadata": {"continue": str(end) if end < OBJECTS else ""}}
        return web.Response(body=json.dumps(page).encode())

    async with served(all_to(handle)) as url, Http(url, largest=LARGEST, network=NETWORK) as http:
        kube = Kube(http, FixedHeaders({}))
        found = [
            item["metadata"]["name"] async for item in kube.list("/api/v1/secrets", unpaced, doing="listing")
        ]

    assert found == [str(number) for number in range(OBJECTS)]
    assert limits[0] == PAGE
    assert limits[-1] < OBJECTS
    assert limits == sorted(limits, reverse=True), "what fitted once is asked for again"


NAMELESS: list[Json] = [{"metadata": {"name": "a"}}, {"data": {}}]
NUMBERED: list[Json] = [{"metadata": {"name": 5}}]
LISTED: list[Json] = [{"metadata": {"name": "a", "namespace": []}}]


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        pytest.param(NAMELESS, "has no name", id="no metadata"),
        pytest.param(NUMBERED, "has no name", id="a number for a name"),
        pytest.param(LISTED, "has no name", id="a list for a namespace"),
        pytest.param(["canary"], "has no name", id="no objects"),
        pytest.param("canary", "is no list", id="a text"),
    ],
)
async def test_a_list_that_is_none_is_an_error_of_the_answer(items: Json, expected: str) -> None:
    """Nothing of it is taken: half of a list would look like the absence of the rest."""

    async def handle(_request: web.Request) -> web.Response:
        return web.json_response({"items": items})

    async with served(all_to(handle)) as url, Http(url, network=NETWORK) as http:
        with pytest.raises(Malformed, match=expected) as caught:
            async for _ in Kube(http, FixedHeaders({})).list("/api/v1/secrets", unpaced, doing="listing"):
                pass

    assert "canary" not in f"{caught.value} {caught.value.hint}"
