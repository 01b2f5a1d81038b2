"""Reads and finds in Secret Manager, beyond what every provider must do."""

import asyncio
import json
from base64 import b64encode

import pytest
from aiohttp import web

from syncret.providers.errors import Denied, Malformed, SyncError, Throttled, Unavailable
from syncret.providers.kit.batching import unpaced
from syncret.providers.kit.http import LARGEST
from syncret.providers.values import FindQuery, RemoteKey, RemoteRef
from syncret.providers.work import Work
from tests.support.opened import Clock, Given
from tests.support.servers.google.errors import GoogleError
from tests.support.servers.google.server import Google
from tests.unit.providers.gcpsm.stores import extract, opened, raw, read, seed

HTML = "<!DOCTYPE html><title>Sign in</title>canary-1d"


async def test_versions_have_numbers_and_names(cloud: Google, given: Given, clock: Clock) -> None:
    seed(cloud, "db", b"one", b"two", b"three", versionAliases={"stable": "2"})
    async with opened(given, clock) as client:
        versions = ("", "latest", "1", "stable", "9", "unknown")
        found = [await read(client, RemoteRef("db", version=version)) for version in versions]

    assert found == [b"three", b"three", b"one", b"two", None, None]


@pytest.mark.parametrize("state", ["DISABLED", "DESTROYED"])
async def test_a_latest_version_that_cannot_be_read(
    cloud: Google, given: Given, clock: Clock, state: str
) -> None:
    secret = seed(cloud, "db", b"one", b"two", b"three")
    secret.versions[2].state = state
    async with opened(given, clock) as strict, opened(given, clock, policy="LatestOrFetch") as fallen:
        with pytest.raises(Malformed, match="disabled or destroyed"):
            await read(strict, RemoteRef("db"))
        assert await read(fallen, RemoteRef("db")) == b"two"
        for version in ("latest", "3"):  # a version that is written is the one that is meant
            with pytest.raises(Malformed, match="disabled or destroyed"):
                await read(fallen, RemoteRef("db", version=version))
        for each in secret.versions:
            each.state = state
        with pytest.raises(Malformed, match="disabled or destroyed"):
            await read(fallen, RemoteRef("db"))


async def test_an_empty_page_is_not_the_end_of_a_list(cloud: Google, given: Given, clock: Clock) -> None:
    """Google filters what a page would hold, and may find nothing on the first."""
    seed(cloud, "db", b"one", b"two").versions[1].state = "DESTROYED"

    def nothing_yet(request: web.Request) -> web.StreamResponse | None:
        first = request.path.endswith("/versions") and "pageToken" not in request.query
        return web.json_response({"nextPageToken": "MA=="}) if first else None

    async with opened(given, clock, policy="LatestOrFetch") as client:
        with cloud.failing(nothing_yet):
            assert await read(client, RemoteRef("db")) == b"one"


async def test_many_disabled_versions_are_few_calls(cloud: Google, given: Given, clock: Clock) -> None:
    secret = seed(cloud, "db", *[b"%d" % number for number in range(151)])
    for version in secret.versions[1:]:
        version.state = "DISABLED"
    async with opened(given, clock, policy="LatestOrFetch") as client:
        assert await read(client, RemoteRef("db")) == b"0"

    assert cloud.manager.calls.count("GET secrets/versions") == 2


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        pytest.param("user", b"ada", id="member"),
        pytest.param("a.b", b"literal", id="a name with a dot goes first"),
        pytest.param("deep.er", b"below", id="path"),
        pytest.param("list.1.x", b"2", id="item"),
        pytest.param("list.#.x", b"[1,2]", id="search"),
        pytest.param("big", b"12345678901234567890", id="digits stay"),
    ],
)
async def test_properties(cloud: Google, given: Given, clock: Clock, path: str, expected: bytes) -> None:
    document = (
        b'{"user":"ada","a.b":"literal","a":{"b":"path"},"deep":{"er":"below"},'
        b'"list":[{"x":1},{"x":2}],"big":12345678901234567890}'
    )
    seed(cloud, "db", document)
    async with opened(given, clock) as client:
        assert await read(client, RemoteRef("db", path)) == expected


@pytest.mark.parametrize(
    ("value", "path", "problem"),
    [
        pytest.param(b'{"user":"ada"}', "password", "key password does not exist in secret db", id="absent"),
        pytest.param(b'{"port":5432}', "port.deeper", "key port.deeper does not exist", id="into a number"),
        pytest.param(b"canary-1d\xff", "user", "unable to unmarshal secret from JSON", id="no JSON"),
    ],
)
async def test_bad_properties(
    cloud: Google, given: Given, clock: Clock, value: bytes, path: str, problem: str
) -> None:
    seed(cloud, "db", value)
    async with opened(given, clock) as client:
        with pytest.raises(Malformed, match=problem) as caught:
            await read(client, RemoteRef("db", path))

    assert "canary" not in repr(caught.value) + str(vars(caught.value))


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        pytest.param("", {"annotations": {"a.b": "<x>"}, "labels": {"team": "a"}}, id="all"),
        pytest.param("labels", {"team": "a"}, id="labels"),
        pytest.param("annotations", {"a.b": "<x>"}, id="annotations"),
    ],
)
async def test_what_stands_beside_a_secret(
    cloud: Google, given: Given, clock: Clock, path: str, expected: object
) -> None:
    seed(cloud, "db", labels={"team": "a"}, annotations={"a.b": "<x>"})
    async with opened(given, clock) as client:
        found = await read(client, RemoteRef("db", path, metadata=True))

    assert json.loads(found or b"") == expected
    assert b"<" not in (found or b""), "it is escaped as the operator's JSON is"


async def test_one_label_and_one_annotation(cloud: Google, given: Given, clock: Clock) -> None:
    seed(cloud, "db", labels={"team": "a"}, annotations={"a.b": "<x>"})
    seed(cloud, "bare")
    async with opened(given, clock) as client:
        paths = ("labels.team", "annotations.a.b")
        assert [await read(client, RemoteRef("db", path, metadata=True)) for path in paths] == [b"a", b"<x>"]
        assert await extract(client, RemoteRef("db", "labels", metadata=True)) == {"team": b"a"}
        assert await read(client, RemoteRef("bare", "labels", metadata=True)) == b"null"
        assert await read(client, RemoteRef("absent", metadata=True)) is None
        for path in ("labels.none", "annotations.none", "other", "labelsx", "labels."):
            with pytest.raises(Malformed):
                await read(client, RemoteRef("db", path, metadata=True))


async def test_reads_of_many_properties_are_one_call(cloud: Google, given: Given, clock: Clock) -> None:
    seed(cloud, "db", b'{"a":"1","b":"2"}')
    async with opened(given, clock) as client:
        [payload] = (await client.fetch([RemoteKey("db")])).values()
        assert not isinstance(payload, SyncError)
        found = [client.value(payload, RemoteRef("db", name), Work()) for name in "ab"]

    assert [value.raw for value in found if value is not None] == [b"1", b"2"]
    assert cloud.manager.calls == ["GET access"]


# -- finding
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        pytest.param(FindQuery(name="^db-"), ["db-a", "db-b"], id="name"),
        pytest.param(FindQuery(name="-a$", path="web"), ["web-a"], id="name below a path"),
        pytest.param(FindQuery(name=".", path="b-"), [], id="a path is how a name begins"),
        pytest.param(FindQuery(tags=(("team", "x"),)), ["db-a", "web-a"], id="tags"),
        pytest.param(FindQuery(tags=(("team", "x"), ("env", "p"))), ["web-a"], id="all of several tags"),
        pytest.param(FindQuery(tags=(("team", "x"),), path="db"), ["db-a"], id="tags below a path"),
        pytest.param(FindQuery(tags=(("team", 'x" OR labels.team="y'),)), [], id="a value is no filter"),
        pytest.param(
            FindQuery(name="a$", tags=(("team", "y"),)), ["db-a", "web-a"], id="a name goes before tags"
        ),
    ],
)
@pytest.mark.parametrize("place", ["", "us-east1"], ids=["global", "regional"])
async def test_finds(
    cloud: Google,
    given: Given,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
    place: str,
    query: FindQuery,
    expected: list[str],
) -> None:
    monkeypatch.setenv("CLOUDSDK_API_ENDPOINT_OVERRIDES_SECRETMANAGER", cloud.urls[place])
    seed(cloud, "db-a", b"1", place=place, labels={"team": "x"})
    seed(cloud, "db-b", b"2", place=place, labels={"team": "y"})
    seed(cloud, "web-a", b"3", place=place, labels={"team": "x", "env": "p"})
    async with opened(given, clock, location=place or None) as client:
        found = await client.find(query, unpaced, Work())

    assert sorted(found) == expected


async def test_finds_through_many_pages(cloud: Google, given: Given, clock: Clock) -> None:
    for index in range(2100):
        seed(cloud, f"s-{index:04}", *([b"v"] if index % 100 == 0 else []))
    async with opened(given, clock) as client:
        found = await client.find(FindQuery(name="00$"), unpaced, Work())

    assert raw(found) == {f"s-{index:04}": b"v" for index in range(0, 2100, 100)}
    assert cloud.manager.calls.count("GET secrets") == 3
    assert cloud.manager.calls.count("GET access") == 21


async def test_a_project_that_is_gone_is_no_project_without_secrets(
    cloud: Google, given: Given, clock: Clock
) -> None:
    async with opened(given, clock) as client:
        gone = GoogleError("NOT_FOUND", "Project is not there")
        with cloud.failing(lambda _: gone.response()), pytest.raises(Malformed, match="no such project"):
            await client.find(FindQuery(name=""), unpaced, Work())


async def test_what_is_found_without_a_version_is_left_out(cloud: Google, given: Given, clock: Clock) -> None:
    seed(cloud, "empty")
    seed(cloud, "full", b"1")
    async with opened(given, clock) as client:
        assert raw(await client.find(FindQuery(name=""), unpaced, Work())) == {"full": b"1"}


async def test_one_that_is_refused_ends_the_search(cloud: Google, given: Given, clock: Clock) -> None:
    for index in range(50):
        seed(cloud, f"s-{index}", b"v")
    cloud.manager.refused = {f"s-{index}" for index in range(50)}
    async with opened(given, clock) as client:
        with pytest.raises(Denied):
            await client.find(FindQuery(name=""), unpaced, Work())

    assert cloud.manager.calls.count("GET access") < 20


async def test_a_path_alone_finds_nothing(cloud: Google, given: Given, clock: Clock) -> None:
    async with opened(given, clock) as client:
        with pytest.raises(Malformed, match="unexpected find operator"):
            await client.find(FindQuery(path="db"), unpaced, Work())


# -- failing
@pytest.mark.parametrize(
    ("answer", "expected", "message"),
    [
        pytest.param(
            web.Response(text=HTML, content_type="text/html"), Malformed, "HTML, not JSON", id="HTML"
        ),
        pytest.param(
            web.Response(text=HTML, status=404, content_type="text/html"),
            Malformed,
            "not from Google",
            id="a 404 of somebody else is no absence",
        ),
        pytest.param(
            web.json_response({"payload": {"data": "%%%"}}), Malformed, "not base64", id="no base64"
        ),
        pytest.param(web.json_response([]), Malformed, "another shape", id="another JSON"),
        pytest.param(
            GoogleError("RESOURCE_EXHAUSTED", "canary-1d").response(), Throttled, "429", id="throttled"
        ),
        pytest.param(GoogleError("INTERNAL", "canary-1d").response(), Unavailable, "500", id="internal"),
        pytest.param(
            GoogleError("PERMISSION_DENIED", "canary-1d", reason="SERVICE_DISABLED").response(),
            Denied,
            "enable the API",
            id="API not enabled",
        ),
        pytest.param(
            GoogleError("PERMISSION_DENIED", "canary-1d").response(), Denied, "project acme", id="denied"
        ),
        pytest.param(
            GoogleError("INVALID_ARGUMENT", "canary-1d").response(), Malformed, "invalid", id="invalid"
        ),
        pytest.param(web.Response(body=b"x" * (LARGEST + 1)), Malformed, "larger than", id="too large"),
    ],
)
async def test_bad_answers(
    cloud: Google,
    given: Given,
    clock: Clock,
    answer: web.Response,
    expected: type[SyncError],
    message: str,
) -> None:
    def fault(request: web.Request) -> web.StreamResponse | None:
        if not request.path.endswith(":access"):
            return None
        return web.Response(body=answer.body, status=answer.status, headers=answer.headers)

    async with opened(given, clock) as client:
        with cloud.failing(fault), pytest.raises(expected) as caught:
            await read(client, RemoteRef("db"))

    assert message in f"{caught.value} {caught.value.hint}"
    assert "canary" not in repr(caught.value) + str(vars(caught.value))


async def test_a_value_of_five_megabytes(cloud: Google, given: Given, clock: Clock) -> None:
    value = b"x" * (5 * 2**20)
    body = {"payload": {"data": b64encode(value).decode()}}
    async with opened(given, clock) as client:
        with cloud.failing(lambda request: web.json_response(body)):
            assert await read(client, RemoteRef("db")) == value


@pytest.mark.parametrize("name", ["a/b", "a.b", "", "..", "x" * 256, "projects/p/secrets/s"])
async def test_an_invalid_name_is_reported(cloud: Google, given: Given, clock: Clock, name: str) -> None:
    async with opened(given, clock) as client:
        with pytest.raises(Malformed, match="cannot be the name of a secret"):
            await read(client, RemoteRef(name))

    assert cloud.manager.calls == []


async def test_a_project_that_does_not_exist(cloud: Google, given: Given, clock: Clock) -> None:
    async with opened(given, clock, project_id="other") as client:
        with pytest.raises(Denied) as caught:
            await read(client, RemoteRef("db"))

    assert "in project other (does it exist?)" in caught.value.hint


async def test_a_region_that_does_not_exist(
    cloud: Google, given: Given, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CLOUDSDK_API_ENDPOINT_OVERRIDES_SECRETMANAGER")
    monkeypatch.setenv("GOOGLE_CLOUD_UNIVERSE_DOMAIN", "google.invalid")
    async with opened(given, clock, location="us-nowhere1") as client:
        with pytest.raises(Unavailable, match=r"secretmanager\.us-nowhere1\.rep\.google\.invalid") as caught:
            await read(client, RemoteRef("db"))

    assert "is us-nowhere1 a location of Google?" in caught.value.hint


async def test_a_location_is_no_way_to_another_host(cloud: Google, given: Given, clock: Clock) -> None:
    with pytest.raises(Malformed, match="not a location of Google"):
        async with opened(given, clock, location="evil.example/#"):
            pass

    assert cloud.identity.logins == []


async def test_a_region_answers_for_its_own_secrets_alone(
    cloud: Google, given: Given, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLOUDSDK_API_ENDPOINT_OVERRIDES_SECRETMANAGER", cloud.urls["us-east1"])
    seed(cloud, "db", b"there", place="us-east1")
    seed(cloud, "db", b"global")
    async with opened(given, clock, location="us-east1") as client:
        assert await read(client, RemoteRef("db")) == b"there"


async def test_a_search_leaves_nothing_behind_when_cancelled(
    cloud: Google, given: Given, clock: Clock
) -> None:
    for index in range(20):
        seed(cloud, f"s-{index}", b"v")
    reading = asyncio.Event()

    def notice(request: web.Request) -> None:
        if request.path.endswith(":access"):
            reading.set()

    async with opened(given, clock) as client:
        before = asyncio.all_tasks()
        with cloud.failing(notice):
            search = asyncio.create_task(client.find(FindQuery(name=""), unpaced, Work()), name="search")
            await reading.wait()
            search.cancel()
            await asyncio.wait([search])
        ours = {task.get_name() for task in asyncio.all_tasks() - before}
        assert not [name for name in ours if name.startswith("gcpsm")]
        assert len(await client.find(FindQuery(name=""), unpaced, Work())) == 20
