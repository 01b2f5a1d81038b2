"""1Password Connect passes the suite, on a server written from its published OpenAPI document."""

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager

import pytest

from syncret.config.meta import Document
from syncret.providers.testing import Ability, Entry, Harness, ProviderSuite
from tests.suites.providers.rest_harness import LOGIN, RestHarness
from tests.support.servers.onepassword.server import Connect
from tests.support.servers.rest import running


class OnePasswordHarness(RestHarness[Connect]):
    """A value is the field `password` of an item; one that is a JSON object is a field for each member.

    A search looks for fields, so that what is found has a field of its own name: `db/a` is the field `a` of
    the item `db`. Tags are words without values: a tag with the value `b` is not put there.
    """

    provider = "onepassword"
    lacks: Mapping[Ability, str] = {
        Ability.VERSION: "a Connect server reads items as they are now",
        Ability.OWN: "ESO marks nothing in 1Password",
    }

    def spec(self) -> Document:
        auth = {"secretRef": {"connectTokenSecretRef": LOGIN}}
        return {"connectHost": self.server.url, "vaults": {"staging": 1, "shared": 2}, "auth": auth}

    async def seed(self, *entries: Entry) -> None:
        for entry in entries:
            title, _, label = entry.key.partition("/")
            tags = [tag for tag, value in entry.tags.items() if value != "b"]
            self.server.add(title, tags=tags, **fields_of(entry, title, label))

    async def stored(self, key: str) -> bytes | None:
        for item in self.server.items.values():
            if item["title"] == key:
                fields = {each["label"]: each["value"] for each in item["fields"]}
                return (fields["password"] if fields.keys() == {"password"} else json.dumps(fields)).encode()
        return None


def fields_of(entry: Entry, title: str, label: str) -> dict[str, str]:
    """What stands in an item for an entry."""
    text = entry.value.decode()
    if text.startswith("{"):
        return {name: _text(value) for name, value in json.loads(text).items()}
    if label or entry.tags:
        return {label or title: text}
    return {"password": text, title: text}


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, separators=(",", ":"))


class TestOnePassword(ProviderSuite):
    @pytest.fixture
    @asynccontextmanager
    async def harness(self) -> AsyncGenerator[Harness]:
        async with running(Connect("staging", "shared")) as server:
            yield OnePasswordHarness(server)
