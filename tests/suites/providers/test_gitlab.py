"""GitLab passes the suite, on a server written from its published reference: a project, and a group alone."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager

import pytest

from syncret.config.meta import Document
from syncret.providers.testing import Ability, Entry, Harness, ProviderSuite
from tests.suites.providers.rest_harness import LOGIN, RestHarness
from tests.support.servers.gitlab.server import Gitlab
from tests.support.servers.rest import running


class GitlabHarness(RestHarness[Gitlab]):
    provider = "gitlab"
    lacks: Mapping[Ability, str] = {
        Ability.VERSION: "variables in GitLab have no versions",
        Ability.FIND_PATH: "variables in GitLab have no path",
        Ability.FIND_TAGS: "variables in GitLab have no tags but their environment",
        Ability.OWN: "ESO does not push to GitLab, so that there is no mark to share",
    }
    level = ("projects", "7")
    owner: Document = {"projectID": "7"}

    def spec(self) -> Document:
        return {"url": self.server.url, "auth": {"SecretRef": {"accessToken": LOGIN}}, **self.owner}

    def key(self, name: str) -> str:
        return name.replace("-", "_")

    async def seed(self, *entries: Entry) -> None:
        for entry in entries:
            self.server.set(entry.key, entry.value.decode(), "*", *self.level)

    async def stored(self, key: str) -> bytes | None:
        held = self.server.variables[self.level]
        return next((each["value"].encode() for each in held if each["key"] == key), None)


class OfGroup(GitlabHarness):
    level = ("groups", "1")
    owner: Document = {"groupIDs": ["1"]}


class OfEnvironment(GitlabHarness):
    owner: Document = {"projectID": "shop/api", "environment": "production", "inheritFromGroups": True}


class _OnGitlab(ProviderSuite):
    kind: type[GitlabHarness] = GitlabHarness

    @pytest.fixture
    @asynccontextmanager
    async def harness(self) -> AsyncGenerator[Harness]:
        async with running(Gitlab()) as server:
            yield self.kind(server)


class TestGitlab(_OnGitlab):
    pass


class TestGroup(_OnGitlab):
    kind: type[GitlabHarness] = OfGroup


class TestEnvironment(_OnGitlab):
    """What is seeded is in the environment `*`, and what is pushed in that of the store."""

    kind: type[GitlabHarness] = OfEnvironment
