"""Which kinds an API server has, and what it does not say by a mere 404."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from syncret.config.fields import Json
from syncret.config.meta import GroupKind
from syncret.config.resources.kinds import EXTERNAL_SECRET
from syncret.daemon.homes.contract import NotFound
from syncret.daemon.homes.kubernetes.access.logins import FixedHeaders
from syncret.daemon.homes.kubernetes.api import ApiServer
from syncret.daemon.homes.kubernetes.resources import Resources
from syncret.providers.kit.http import Http
from syncret.providers.registry import Registry
from tests.support.served import all_to, served

WIDGET = GroupKind("example.com", "Widget")
OURS = {"name": EXTERNAL_SECRET.group, "versions": [{"version": "v1"}]}


@asynccontextmanager
async def resources(pages: Mapping[str, Json], asked: list[str] | None = None) -> AsyncGenerator[Resources]:
    """Of a server that has these pages, and answers all else in plain text; `asked` gets the paths."""
    paths: list[str] = [] if asked is None else asked

    async def answer(request: web.Request) -> web.Response:
        paths.append(request.path)
        if request.path in pages:
            return web.json_response(pages[request.path])
        return web.Response(status=404, text="404 page not found\n")

    async with served(all_to(answer)) as url, Http(url, network=None, parses=False) as http:
        yield Resources(ApiServer(http, FixedHeaders({})), Registry())


@pytest.mark.parametrize("kind", [EXTERNAL_SECRET.group_kind, WIDGET], ids=str)
async def test_without_its_group_a_kind_is_not_served(kind: GroupKind) -> None:
    async with resources({"/apis": {"groups": [{"name": "apps", "versions": [{"version": "v1"}]}]}}) as found:
        assert await found.find(kind) is None


async def test_without_its_version_a_kind_is_not_served() -> None:
    older = {"name": EXTERNAL_SECRET.group, "versions": [{"version": "v1alpha1"}]}
    async with resources({"/apis": {"groups": [older]}}) as found:
        assert await found.find(EXTERNAL_SECRET.group_kind) is None


@pytest.mark.parametrize(
    "pages",
    [
        pytest.param({}, id="no API server"),
        pytest.param({"/apis": {"groups": [OURS]}}, id="it has the group"),
    ],
)
async def test_a_404_of_something_in_front_of_the_server_is_an_error(pages: Mapping[str, Json]) -> None:
    async with resources(pages) as found:
        with pytest.raises(NotFound):
            await found.find(EXTERNAL_SECRET.group_kind)


async def test_a_kind_that_is_served_is_found() -> None:
    listed = {"resources": [{"name": "externalsecrets", "kind": "ExternalSecret", "namespaced": True}]}
    async with resources({f"/apis/{EXTERNAL_SECRET.api_version}": listed}) as found:
        resource = await found.find(EXTERNAL_SECRET.group_kind)
    assert resource is not None
    assert resource.path("a", "b") == "/apis/external-secrets.io/v1/namespaces/a/externalsecrets/b"


async def test_kinds_of_one_group_are_asked_for_once_however_many_look_for_them() -> None:
    pages: dict[str, Json] = {
        "/apis/example.com": {"name": "example.com", "versions": [{"version": "v1"}]},
        "/apis/example.com/v1": {
            "resources": [
                {"name": "widgets", "kind": "Widget", "namespaced": True},
                {"name": "gadgets", "kind": "Gadget", "namespaced": True},
            ]
        },
    }
    asked: list[str] = []
    async with resources(pages, asked) as found:
        gadget = GroupKind("example.com", "Gadget")
        both = await asyncio.gather(*(found.find(each) for each in (WIDGET, gadget, WIDGET)))
    assert [each.plural for each in both if each is not None] == ["widgets", "gadgets", "widgets"]
    assert sorted(asked) == sorted(pages)
