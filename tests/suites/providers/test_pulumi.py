"""Pulumi ESC passes the suite, on a server written from its published reference."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from syncret.config.meta import Document
from syncret.providers.contract import IssuedToken
from syncret.providers.errors import Denied, Malformed, Unavailable
from syncret.providers.kit.batching import unpaced
from syncret.providers.pushes import RemoteTarget
from syncret.providers.testing import Ability, Entry, Harness, ProviderSuite
from syncret.providers.testing.calls import fields, finder, item, prober, read, reader, writer
from syncret.providers.values import FindQuery, RemoteKey, RemoteRef, SecretBytes
from syncret.providers.work import Work
from tests.suites.providers.rest_harness import LOGIN, RestHarness
from tests.support.opened import NOW
from tests.support.servers.pulumi.server import Pulumi
from tests.support.servers.rest import running

pytestmark = [pytest.mark.slow, pytest.mark.conformance]


class PulumiHarness(RestHarness[Pulumi]):
    provider = "pulumi"
    lacks: Mapping[Ability, str] = {
        Ability.VERSION: "the newest revision of an environment is opened",
        Ability.FIND_TAGS: "values in Pulumi ESC have no tags",
        Ability.OWN: "values in Pulumi ESC have no place for a mark",
        Ability.REFUSE_KEY: "who may open an environment may read all of it",
    }
    options: Mapping[str, Any] = {"auth": {"accessToken": {"secretRef": LOGIN}}}

    def spec(self) -> Document:
        place = {"organization": "acme", "project": "shop", "environment": "prod"}
        return {"apiUrl": f"{self.server.url}/api/esc", **place, **self.options}

    async def seed(self, *entries: Entry) -> None:
        for entry in entries:
            value: object = {"fn::secret": entry.value.decode()}
            *way, last = reversed(entry.key.split("."))
            for part in way:
                value = {part: value}
            self.server.set(last, value)

    def key(self, name: str) -> str:
        return name.replace("/", ".")

    async def stored(self, key: str) -> bytes | None:
        found = self.server.values.get(key)
        return None if found is None else found["fn::secret"].encode()


class TestPulumi(ProviderSuite):
    @pytest.fixture
    @asynccontextmanager
    async def harness(self) -> AsyncGenerator[Harness]:
        async with running(Pulumi()) as server:
            yield PulumiHarness(server)


class ByAccount(PulumiHarness):
    options: Mapping[str, Any] = {
        "auth": {"oidcConfig": {"organization": "acme", "serviceAccountRef": {"name": "app"}}}
    }


class Deprecated(PulumiHarness):
    options: Mapping[str, Any] = {"accessToken": {"secretRef": LOGIN}}


class Elsewhere(PulumiHarness):
    options: Mapping[str, Any] = {**PulumiHarness.options, "environment": "none"}


def filled(server: Pulumi) -> Pulumi:
    server.imported = {"region": "eu"}
    server.set("db", {"user": "ada", "port": 5432, "password": {"fn::secret": "p"}, "ca.crt": "PEM"})
    server.set("hosts", [{"name": "a"}, {"name": "b"}])
    return server


async def test_paths_and_objects() -> None:
    asked = ("db.port", 'db["ca.crt"]', "hosts[1].name", "region", "hosts[2]", "db", "hosts")
    async with running(filled(Pulumi())) as server, PulumiHarness(server).open() as client:
        found = [await read(client, RemoteRef(key)) for key in asked]
        members = await fields(client, RemoteRef("db"))
        below = await finder(client).find(FindQuery(path="db", name="^p"), unpaced, Work())
        absent = await finder(client).find(FindQuery(path="none"), unpaced, Work())
        for bad in ("", ".", "a..b", "a[", "a.", ".a", 'a["'):
            with pytest.raises(Malformed, match="is no path"):
                await read(client, RemoteRef(bad))

    assert found[:4] == [b"5432", b"PEM", b"b", b"eu"]
    assert found[4:] == [
        None,
        b'{"ca.crt":"PEM","password":"p","port":5432,"user":"ada"}',
        b'[{"name":"a"},{"name":"b"}]',
    ]
    assert {name: value.raw for name, value in (members or {}).items()} == {
        "ca.crt": b"PEM",
        "password": b"p",
        "port": b"5432",
        "user": b"ada",
    }
    assert (sorted(below or ()), absent) == (["password", "port"], None)


async def test_a_push_leaves_the_rest_of_the_definition_as_it_is() -> None:
    async with running(filled(Pulumi())) as server, PulumiHarness(server).open() as client:
        await writer(client).push(item("db.password", b"p"))
        before = server.writes
        await writer(client).push(item("db.password", b"new"))
        await writer(client).push(item("db", b"lin", "user"))
        await writer(client).push(item("mail.host.name", b"mail.internal"))
        there = await writer(client).exists(RemoteTarget("db", "user"))
        await writer(client).delete(RemoteTarget("db", "port"))
        await writer(client).delete(RemoteTarget("mail.host.name"))
        await writer(client).delete(RemoteTarget("region"))
        with pytest.raises(Malformed, match="no object"):
            await writer(client).push(item("db.user.name", b"x"))

    assert (before, there, server.imported) == (0, True, {"region": "eu"})
    assert server.definition.startswith("imports:\n- common\n")
    assert server.values["db"] == {
        "user": {"fn::secret": "lin"},
        "password": {"fn::secret": "new"},
        "ca.crt": "PEM",
    }
    assert "mail" not in server.values


TREE = """\
values:
  db:
    tls: {crt: old}
    ca.crt: PEM
  hosts:
  - {name: a, pw: {fn::secret: s1}}
  - b
"""


@pytest.mark.parametrize(
    ("key", "name", "place"),
    [
        pytest.param("db", "tls.crt", 'db["tls"]["crt"]', id="a member of a member"),
        pytest.param("db", "mail.user", 'db["mail"]["user"]', id="of a new member"),
        pytest.param("db", r"tls\.key", 'db["tls.key"]', id="a name with a dot"),
        pytest.param("db", "ca.crt", 'db["ca.crt"]', id="a name with a dot that is there"),
        pytest.param("hosts", "0.name", 'hosts[0]["name"]', id="a member of an item"),
        pytest.param("hosts", "1", "hosts[1]", id="an item"),
    ],
)
async def test_a_property_is_one_place_for_reads_and_pushes(key: str, name: str, place: str) -> None:
    target = RemoteTarget(key, name)
    async with running(Pulumi()) as server, PulumiHarness(server).open() as client:
        server.definition = TREE
        for _ in range(2):
            await writer(client).push(item(key, b"NEW", name))
        pushed = (server.writes, await writer(client).exists(target))
        found = [await read(client, RemoteRef(place)), await read(client, RemoteRef(key, name))]
        encrypted = server.values["hosts"][0]["pw"]
        await writer(client).delete(target)
        left = (await writer(client).exists(target), await read(client, RemoteRef(place)))

    assert (pushed, found, left) == ((1, True), [b"NEW", b"NEW"], (False, None))
    assert encrypted == {"fn::secret": "s1"}


async def test_a_property_that_has_no_place_changes_nothing() -> None:
    async with running(Pulumi()) as server, PulumiHarness(server).open() as client:
        server.definition = TREE
        for key, name in (("hosts", "-1"), ("hosts", "2"), ("hosts", "name"), ("db", "new.0")):
            with pytest.raises(Malformed):
                await writer(client).push(item(key, b"NEW", name))
            there = await writer(client).exists(RemoteTarget(key, name))
            await writer(client).delete(RemoteTarget(key, name))
            assert not there

    assert server.definition == TREE


async def test_a_deletion_takes_what_is_empty_then() -> None:
    async with running(Pulumi()) as server, PulumiHarness(server).open() as client:
        server.definition = "values: {db: {tls: {crt: a}}, hosts: [a, b], other: 1}\n"
        await writer(client).delete(RemoteTarget("db", "tls.crt"))
        await writer(client).delete(RemoteTarget("hosts[1]"))
        after_one = server.values
        await writer(client).delete(RemoteTarget("hosts", "0"))

    assert (after_one, server.values) == ({"hosts": ["a"], "other": 1}, {"other": 1})


ODD = """\
imports:
- common
values:
  country: NO
  on: off
  flag: "NO"
  version: 1.10
  zip: 010
  id: 12345678901234567890
  day: 2024-01-01
  nothing: null
  hosts: {y: n, z: ~, a: null}
  text: |
    two
    lines
  password: {fn::secret: old}
"""


async def test_a_push_leaves_yaml_as_it_is_written() -> None:
    async with running(Pulumi()) as server, PulumiHarness(server).open() as client:
        server.definition = ODD.replace("a: null", "a: ")
        await writer(client).push(item("password", b"NO"))

    changed = ODD.replace("{fn::secret: old}", '\n    fn::secret: "NO"').replace("password: ", "password:")
    assert server.definition == changed


@pytest.mark.parametrize("definition", ["values:\n", "values: {}\n", "values:\n  a: {}\n"])
async def test_the_first_value_of_an_environment(definition: str) -> None:
    async with running(Pulumi()) as server, PulumiHarness(server).open() as client:
        server.definition = definition
        await writer(client).push(item("a.b", b"one"))

    assert server.definition == 'values:\n  a:\n    b:\n      fn::secret: "one"\n'


@pytest.mark.parametrize(
    "definition",
    [
        pytest.param("- a\n", id="a list"),
        pytest.param("values: {a: 1, a: 2}\n", id="a key twice"),
        pytest.param(f"values: {'[' * 200}{']' * 200}\n", id="too deep"),
        pytest.param("values: {}\n---\nvalues: {}\n", id="two documents"),
        pytest.param("values: {}\n---\n", id="an empty document"),
    ],
)
async def test_a_definition_that_is_not_understood_is_not_changed(definition: str) -> None:
    async with running(Unread()) as server, PulumiHarness(server).open() as client:
        server.definition = definition
        with pytest.raises(Malformed, match="the definition of the environment is no YAML object"):
            await writer(client).push(item("a", b"one"))

    assert server.definition == definition


class Unread(Pulumi):
    """Evaluates to nothing, whatever the definition says."""

    @property
    def values(self) -> dict[str, Any]:
        return {}


class Busy(Pulumi):
    """Another program changes the definition each time it is read."""

    async def _definition(self, request: web.Request) -> web.Response:
        answer = await super()._definition(request)
        self.set("theirs", "new")
        return answer


async def test_a_change_meanwhile_is_not_overwritten() -> None:
    async with running(Busy()) as server, PulumiHarness(server).open() as client:
        with pytest.raises(Unavailable, match="another program changed the environment meanwhile"):
            await writer(client).push(item("ours", b"one"))

    assert server.values == {"theirs": "new"}


async def test_null_is_a_value_and_what_is_unknown_is_not() -> None:
    unknown: Document = {"fn::open::none": {}}
    async with running(Pulumi()) as server, PulumiHarness(server).open() as client:
        server.set("db", {"port": None, "password": unknown, "user": "ada"})
        server.set("computed", unknown)
        keys = [RemoteKey(key) for key in ("db.user", "db.port", "db.password", "db", "computed.a", "none")]
        found = await reader(client).fetch(keys)
        matched = await finder(client).find(FindQuery(path="db", name="user|port"), unpaced, Work())
        with pytest.raises(Malformed, match="a value is not known"):
            await finder(client).find(FindQuery(path="db"), unpaced, Work())

    values = {key.key: value.raw for key, value in found.items() if isinstance(value, SecretBytes)}
    assert values == {"db.user": b"ada", "db.port": b""}
    assert [key.key for key, value in found.items() if isinstance(value, Malformed)] == [
        *("db.password", "db", "computed.a")
    ]
    assert {name: value.raw for name, value in (matched or {}).items()} == {"user": b"ada", "port": b""}


@pytest.mark.parametrize("by", [ByAccount, Deprecated])
async def test_other_logins(by: type[PulumiHarness]) -> None:
    async with running(filled(Pulumi())) as server:
        store = by(server)
        store.given.tokens["app"] = IssuedToken(SecretBytes(b"jwt-of-app"), NOW + 600)
        async with store.open() as client:
            found = await read(client, RemoteRef("region"))

    assert found == b"eu"


async def test_an_account_that_is_not_trusted() -> None:
    async with running(Pulumi()) as server:
        store = ByAccount(server)
        store.given.tokens["app"] = IssuedToken(SecretBytes(b"other"), NOW + 600)
        with pytest.raises(Denied, match="the login is refused") as caught:
            async with store.open():
                pass

    assert "the audience urn:pulumi:org:acme" in caught.value.hint


async def test_an_environment_that_does_not_exist() -> None:
    async with running(Pulumi()) as server, Elsewhere(server).open() as client:
        for call in (
            read(client, RemoteRef("a")),
            prober(client).probe(),
            writer(client).delete(RemoteTarget("a")),
        ):
            with pytest.raises(Malformed, match="environment acme/shop/none does not exist"):
                await call
