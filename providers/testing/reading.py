"""Cases of a Reader: values, properties, versions, maps, batches; what is absent."""

import pytest

from syncret.providers.contract import Client
from syncret.providers.errors import Denied, Malformed, SyncError
from syncret.providers.testing.calls import fields, read, reader
from syncret.providers.testing.harness import Ability, Entry, Harness
from syncret.providers.testing.running import AsyncCases, needs
from syncret.providers.values import RemoteKey, RemoteRef

USER = b'{"user":"ada","port":5432,"nested":{"a.b":"deep"},"none":null}'


class ReadingCases(AsyncCases):
    """What the engine relies on when it reads."""

    async def test_reads_a_value(self, harness: Harness, client: Client) -> None:
        needs(harness, Ability.READ)
        await harness.seed(Entry(harness.key("a"), harness.whole("one")))

        assert await read(client, RemoteRef(harness.key("a"))) == harness.whole("one")

    async def test_absence_is_an_answer(self, harness: Harness, client: Client) -> None:
        needs(harness, Ability.READ)
        if Ability.ABSENCE in harness.lacks:
            with pytest.raises(Malformed):
                await read(client, RemoteRef(harness.key("absent")))
        needs(harness, Ability.ABSENCE)
        assert await read(client, RemoteRef(harness.key("absent"))) is None

    @pytest.mark.parametrize(
        ("name", "expected"),
        [
            pytest.param("user", b"ada", id="string"),
            pytest.param("port", b"5432", id="number"),
            pytest.param("nested", b'{"a.b":"deep"}', id="object"),
        ],
    )
    async def test_reads_a_property(
        self, harness: Harness, client: Client, name: str, expected: bytes
    ) -> None:
        needs(harness, Ability.READ, Ability.PROPERTY)
        await harness.seed(Entry(harness.key("db"), USER))

        assert await read(client, RemoteRef(harness.key("db"), name)) == expected

    async def test_an_absent_property_is_no_value(self, harness: Harness, client: Client) -> None:
        needs(harness, Ability.READ, Ability.PROPERTY)
        await harness.seed(Entry(harness.key("db"), USER))
        try:
            found = await read(client, RemoteRef(harness.key("db"), "absent"))
        except Malformed as error:
            found, message = None, str(error)
        else:
            message = "absent"

        assert found is None
        assert "absent" in message, "an error names the property that is missing"

    async def test_reads_a_version(self, harness: Harness, client: Client) -> None:
        needs(harness, Ability.READ, Ability.VERSION)
        key, (first, second) = harness.key("a"), harness.versions
        one, two = harness.whole("one"), harness.whole("two")
        await harness.seed(Entry(key, one, version=first), Entry(key, two, version=second))

        assert await read(client, RemoteRef(key, version=first)) == one
        assert await read(client, RemoteRef(key, version=second)) == two

    async def test_reads_a_map(self, harness: Harness, client: Client) -> None:
        needs(harness, Ability.READ, Ability.MAP)
        await harness.seed(Entry(harness.key("db"), USER))
        found = await fields(client, RemoteRef(harness.key("db")))

        assert found is not None
        assert {key: value.raw for key, value in found.items()} == {
            "user": b"ada",
            "port": b"5432",
            "nested": b'{"a.b":"deep"}',
            "none": b"",
        }

    async def test_an_absent_map_is_an_answer(self, harness: Harness, client: Client) -> None:
        needs(harness, Ability.READ, Ability.MAP, Ability.ABSENCE)
        assert await fields(client, RemoteRef(harness.key("absent"))) is None

    async def test_a_batch_answers_key_by_key(self, harness: Harness, client: Client) -> None:
        needs(harness, Ability.READ, Ability.ABSENCE)
        one, two = harness.whole("one"), harness.whole("two")
        await harness.seed(Entry(harness.key("a"), one), Entry(harness.key("b"), two))
        keys = [RemoteKey(harness.key(name)) for name in ("a", "absent", "b")]
        answers = await reader(client).fetch(keys)

        assert set(answers) == {keys[0], keys[2]}

    async def test_one_bad_key_spoils_no_batch(self, harness: Harness, client: Client) -> None:
        needs(harness, Ability.READ, Ability.REFUSE_KEY)
        one, two = harness.whole("one"), harness.whole("two")
        await harness.seed(Entry(harness.key("a"), one), Entry(harness.key("b"), two))
        keys = [RemoteKey(harness.key("a")), RemoteKey(harness.key("b"))]
        with harness.refusing(harness.key("b")):
            answers = await reader(client).fetch(keys)

        assert not isinstance(answers[keys[0]], SyncError)
        assert isinstance(answers[keys[1]], Denied | Malformed)
