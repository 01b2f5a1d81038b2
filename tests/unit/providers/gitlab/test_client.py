"""Environments, groups, lists and pushes, on a server written from GitLab's published reference."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest

from syncret.config.fields import Json
from syncret.config.meta import Document
from syncret.providers.errors import Malformed
from syncret.providers.gitlab import PROVIDER
from syncret.providers.gitlab.client import GitlabClient
from syncret.providers.gitlab.connection import open_store
from syncret.providers.kit.batching import unpaced
from syncret.providers.pushes import PushItem, RemoteTarget
from syncret.providers.values import FindQuery, RemoteKey, SecretBytes
from syncret.providers.work import Work
from tests.support.opened import Given, context
from tests.support.servers.gitlab.server import Gitlab
from tests.support.servers.rest import running
from tests.support.specs import spec_of


@pytest.fixture
async def gitlab() -> AsyncIterator[Gitlab]:
    async with running(Gitlab()) as server:
        yield server


def opened(gitlab: Gitlab, **spec: Json) -> AbstractAsyncContextManager[GitlabClient]:
    given = Given(secrets={"login": {"token": f"{gitlab.token}\n".encode()}})
    auth = {"SecretRef": {"accessToken": {"name": "login", "key": "token"}}}
    return open_store(spec_of(PROVIDER, {"url": gitlab.url, "auth": auth, **spec}), context(given))


async def read(client: GitlabClient, *names: str) -> dict[str, object]:
    found = await client.fetch([RemoteKey(name) for name in names])
    return {key.key: value for key, value in found.items()}


def seed(gitlab: Gitlab) -> None:
    """One key everywhere, others in some places."""
    gitlab.set("ALL", "project *")
    gitlab.set("ALL", "project production", "production")
    gitlab.set("ALL", "group 1", "*", "groups", "1")
    gitlab.set("GROUPS", "group 1", "*", "groups", "1")
    gitlab.set("GROUPS", "group 2", "*", "groups", "2")
    gitlab.set("STAGING", "project staging", "staging")
    gitlab.set("EMPTY", "")
    gitlab.set("EMPTY", "group 2", "*", "groups", "2")


LEVELS: Document = {"projectID": "7", "groupIDs": ["1", "2"], "environment": "production"}


@pytest.mark.parametrize("others", [pytest.param(0, id="one by one"), pytest.param(20, id="by lists")])
async def test_the_nearest_variable_counts(gitlab: Gitlab, others: int) -> None:
    seed(gitlab)
    names = [f"OTHER_{number}" for number in range(others)]
    async with opened(gitlab, **LEVELS) as client:
        found = await read(client, "ALL", "GROUPS", "STAGING", "EMPTY", "GONE", *names)

    assert found == {
        "ALL": SecretBytes(b"project production"),
        "GROUPS": SecretBytes(b"group 2"),
        "EMPTY": SecretBytes(b"group 2"),
    }


@pytest.mark.parametrize("others", [pytest.param(0, id="one by one"), pytest.param(20, id="by lists")])
async def test_a_key_in_several_environments_needs_one(gitlab: Gitlab, others: int) -> None:
    seed(gitlab)
    names = [f"OTHER_{number}" for number in range(others)]
    async with opened(gitlab, projectID="7") as client:
        found = await read(client, "ALL", "EMPTY", *names)

    both = [found["ALL"], found["EMPTY"]]
    assert [type(each) for each in both] == [Malformed, Malformed]
    assert [str(each) for each in both] == [
        "reading variable ALL: several variables have this key, in different environments",
        "invalid secret received. no secret string for key: EMPTY",
    ]


@pytest.mark.parametrize("path", ["/", "/api/v4", "/api/v4/"])
async def test_the_path_of_the_api_is_not_needed(gitlab: Gitlab, path: str) -> None:
    gitlab.set("A", "1")
    async with opened(gitlab, url=f"{gitlab.url}{path}", projectID="7") as client:
        assert await read(client, "A") == {"A": SecretBytes(b"1")}


async def test_many_keys_are_read_by_lists(gitlab: Gitlab) -> None:
    for number in range(200):
        gitlab.set(f"K{number}", "v")
    async with opened(gitlab, projectID="7") as client:
        assert len(await read(client, *(f"K{number}" for number in range(200)))) == 200

    assert [call.partition("?")[2] for call in gitlab.calls] == ["per_page=100&page=1", "per_page=100&page=2"]


async def test_groups_above_the_project_are_asked_for_once(gitlab: Gitlab) -> None:
    gitlab.groups = [{"id": 2, "full_path": "shop/team"}, {"id": 1, "full_path": "shop"}]
    seed(gitlab)
    async with opened(gitlab, projectID="7", inheritFromGroups=True) as client:
        found = [await read(client, "GROUPS") for _ in range(2)]

    assert found == [{"GROUPS": SecretBytes(b"group 2")}] * 2
    assert sum("/projects/7/groups" in call for call in gitlab.calls) == 1


async def test_a_project_that_cannot_be_seen_is_no_absence(gitlab: Gitlab) -> None:
    async with opened(gitlab, projectID="8") as client:
        found = await read(client, "ALL")
        with pytest.raises(Malformed, match="HTTP 404"):
            await client.probe()

    assert isinstance(found["ALL"], Malformed)
    assert "check url, projectID and groupIDs" in found["ALL"].hint


@pytest.mark.parametrize(
    ("spec", "tags", "expected"),
    [
        pytest.param(
            LEVELS, None, {"ALL": "project production", "GROUPS": "group 1", "EMPTY": ""}, id="the store's"
        ),
        pytest.param(
            {"projectID": "7"},
            (("environment_scope", "staging"),),
            {"ALL": "project *", "STAGING": "project staging", "EMPTY": ""},
            id="a tag's",
        ),
    ],
)
async def test_searches(gitlab: Gitlab, spec: Document, tags: Any, expected: dict[str, str]) -> None:  # noqa: ANN401
    seed(gitlab)
    async with opened(gitlab, **spec) as client:
        found = await client.find(FindQuery(name="", tags=tags), unpaced, Work())

    assert {key: value.raw.decode() for key, value in found.items()} == expected


@pytest.mark.parametrize(
    ("query", "message"),
    [
        pytest.param(FindQuery(path="a"), "have no path", id="path"),
        pytest.param(FindQuery(), "found by name", id="nothing"),
        pytest.param(FindQuery("", tags=(("a", "b"),)), "only supports 'environment_scope'", id="other tag"),
        pytest.param(
            FindQuery("", tags=(("environment_scope", "x"),)), "constrained by 'environment'", id="twice"
        ),
    ],
)
async def test_searches_that_cannot_be(gitlab: Gitlab, query: FindQuery, message: str) -> None:
    async with opened(gitlab, **LEVELS) as client:
        with pytest.raises(Malformed, match=message):
            await client.find(query, unpaced, Work())


def metadata(**spec: Json) -> Document:
    return {
        "apiVersion": "kubernetes.external-secrets.io/v1alpha1",
        "kind": "PushSecretMetadata",
        "spec": spec,
    }


async def test_a_push_is_of_the_stores_environment_and_sets_what_its_metadata_say(gitlab: Gitlab) -> None:
    async with opened(gitlab, projectID="7", environment="production") as client:
        item = PushItem("new-key", "", SecretBytes(b"a$b"), metadata(masked=True))
        await client.push(item)
        await client.push(item)
        await client.push(PushItem("new-key", "", SecretBytes(b"a$b"), metadata(masked=False)))
        await client.delete(RemoteTarget("ALL"))

    [held] = gitlab.variables["projects", "7"]
    wanted = {
        "key": "new_key",
        "value": "a$b",
        "environment_scope": "production",
        "raw": True,
        "masked": False,
    }
    assert {name: held[name] for name in wanted} == wanted
    assert gitlab.writes == 2


async def test_a_push_to_one_of_several_groups_is_refused(gitlab: Gitlab) -> None:
    async with opened(gitlab, groupIDs=["1", "2"]) as client:
        with pytest.raises(Malformed, match="several groups to push to"):
            await client.push(PushItem("a", "", SecretBytes(b"x")))


@pytest.mark.parametrize("others", [pytest.param(0, id="one by one"), pytest.param(20, id="by lists")])
async def test_what_is_unchanged_moves_no_body(gitlab: Gitlab, others: int) -> None:
    gitlab.set("A", "first")
    names = ["A", *(f"OTHER_{number}" for number in range(others))]
    asked: list[bool] = []
    async with opened(gitlab, projectID="7") as client:
        first = await read(client, *names)
        with gitlab.failing(lambda request: asked.append("If-None-Match" in request.headers)):
            second = await read(client, "A", *names[1:])
            gitlab.set("A", "second")
            third = await read(client, "A", *names[1:])

    assert first == second == {"A": SecretBytes(b"first")}
    assert third == {"A": SecretBytes(b"second")}
    assert asked[:1] + asked[-1:] == [True, True]


async def test_an_unchanged_page_may_have_a_new_one_after_it(gitlab: Gitlab) -> None:
    """The tag is that of the body; which page comes next is a header."""
    names = [f"K_{number:03}" for number in range(101)]
    for name in names[:100]:
        gitlab.set(name, "v")
    async with opened(gitlab, projectID="7") as client:
        before = await read(client, *names)
        gitlab.set(names[100], "v")
        after = await read(client, *names)

    assert (len(before), len(after)) == (100, 101)
