"""Cases of a Writer: values, properties, what others made, deletion, existence."""

import json

import pytest

from syncret.providers.contract import Client
from syncret.providers.errors import Denied, Malformed
from syncret.providers.pushes import RemoteTarget
from syncret.providers.testing.calls import item, read, writer
from syncret.providers.testing.harness import Ability, Entry, Harness
from syncret.providers.testing.running import AsyncCases, needs
from syncret.providers.values import RemoteRef


class PushingCases(AsyncCases):
    """What the engine relies on when it pushes."""

    async def test_pushes_a_new_value_and_changes_it(self, harness: Harness, client: Client) -> None:
        needs(harness, Ability.PUSH)
        key = harness.key("pushed")
        one, two = harness.whole("one"), harness.whole("two")
        await writer(client).push(item(key, one))
        first = await harness.stored(key)
        await writer(client).push(item(key, two))

        assert (first, await harness.stored(key)) == (one, two)

    async def test_an_unchanged_push_writes_nothing(self, harness: Harness, client: Client) -> None:
        needs(harness, Ability.PUSH, Ability.COMPARE)
        key = harness.key("pushed")
        await writer(client).push(item(key, harness.whole("one")))
        before = await harness.writes()
        await writer(client).push(item(key, harness.whole("one")))

        assert before > 0
        assert await harness.writes() == before

    async def test_pushes_properties_side_by_side(self, harness: Harness, client: Client) -> None:
        needs(harness, Ability.PUSH, Ability.PUSH_PROPERTY)
        key = harness.key("pushed")
        target = writer(client)
        await target.push(item(key, b"ada", "user"))
        await target.push(item(key, b'"<s3&cret>\\', "password"))
        before = await harness.writes()
        await target.push(item(key, b"ada", "user"))

        assert json.loads(await harness.stored(key) or b"") == {"user": "ada", "password": '"<s3&cret>\\'}
        assert await harness.writes() == before

    async def test_what_was_pushed_can_be_read(self, harness: Harness, client: Client) -> None:
        needs(harness, Ability.PUSH, Ability.READ)
        one = harness.whole("one")
        await writer(client).push(item(harness.key("pushed"), one))

        assert await read(client, RemoteRef(harness.key("pushed"))) == one

    async def test_what_others_made_is_left_alone(self, harness: Harness, client: Client) -> None:
        needs(harness, Ability.PUSH, Ability.OWN)
        key, one = harness.key("foreign"), harness.whole("one")
        await harness.seed(Entry(key, one))
        with pytest.raises((Denied, Malformed)):
            await writer(client).push(item(key, harness.whole("two")))
        if Ability.DELETE not in harness.lacks:
            await writer(client).delete(RemoteTarget(key))

        assert await harness.stored(key) == one

    async def test_deletes(self, harness: Harness, client: Client) -> None:
        needs(harness, Ability.PUSH, Ability.DELETE)
        key = harness.key("pushed")
        target = writer(client)
        await target.push(item(key, harness.whole("one")))
        await target.delete(RemoteTarget(key))
        await target.delete(RemoteTarget(key))

        assert await harness.stored(key) is None

    async def test_deletes_a_property(self, harness: Harness, client: Client) -> None:
        needs(harness, Ability.PUSH, Ability.PUSH_PROPERTY, Ability.DELETE, Ability.DELETE_PROPERTY)
        key = harness.key("pushed")
        target = writer(client)
        await target.push(item(key, b"ada", "user"))
        await target.push(item(key, b"x", "password"))
        await target.delete(RemoteTarget(key, "password"))
        await target.delete(RemoteTarget(key, "password"))

        assert json.loads(await harness.stored(key) or b"") == {"user": "ada"}

    async def test_says_what_exists(self, harness: Harness, client: Client) -> None:
        needs(harness, Ability.PUSH, Ability.EXISTS)
        key = harness.key("pushed")
        target = writer(client)
        before = await target.exists(RemoteTarget(key))
        await target.push(item(key, harness.whole("one")))

        assert (before, await target.exists(RemoteTarget(key))) == (False, True)

    async def test_says_which_property_exists(self, harness: Harness, client: Client) -> None:
        needs(harness, Ability.PUSH, Ability.PUSH_PROPERTY, Ability.EXISTS)
        key = harness.key("pushed")
        target = writer(client)
        await target.push(item(key, b"ada", "user"))

        assert await target.exists(RemoteTarget(key, "user"))
        assert not await target.exists(RemoteTarget(key, "password"))
