"""What every provider must do. One subclass a provider, with a fixture `harness`:

class TestFake(ProviderSuite):
    @pytest.fixture
    def harness(self) -> Harness: ...
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextvars import ContextVar
from typing import TypeVar

import pytest

from syncret.providers.aws.sdk import ServiceApi
from syncret.providers.contract import (
    Client,
    Finder,
    FindQuery,
    RemoteKey,
    RemoteRef,
    RemoteTarget,
    Writer,
)
from syncret.providers.errors import Denied, Malformed, SyncError, Throttled, Unavailable
from syncret.providers.kit.batching import unpaced
from syncret.providers.kit.http import Http
from syncret.providers.work import Work
from tests.suites.providers.client_calls import (
    chain,
    failing,
    fields,
    finder,
    item,
    prober,
    read,
    reader,
    writer,
)
from tests.suites.providers.harness import Ability, Entry, Fault, Harness

T = TypeVar("T")
CANARY = "canary-9b1f4c"
USER = b'{"user":"ada","port":5432,"nested":{"a.b":"deep"},"none":null}'
STEPS = 12
"""How many turns of the loop a call is let live before it is cancelled, at most."""


def needs(harness: Harness, *abilities: Ability) -> None:
    """Skip where the provider is documented to lack one of these."""
    for ability in abilities:
        if ability in harness.lacks:
            assert harness.lacks[ability], f"{ability} is lacking without a reason"
            pytest.skip(f"lacks {ability}: {harness.lacks[ability]}")


class Pacing:
    """Counts the calls of a search, and the requests that are sent outside of one."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls = 0
        self.requests_outside = 0
        self._inside = ContextVar("inside", default=False)
        for sender, method in ((Http, "request"), (ServiceApi, "call")):
            monkeypatch.setattr(sender, method, self._watched(getattr(sender, method)))

    async def paced(self, request: Callable[[], Awaitable[T]], /) -> T:
        self.calls += 1
        token = self._inside.set(True)
        try:
            return await request()
        finally:
            self._inside.reset(token)

    def _watched(self, send: Callable[..., Awaitable[object]]) -> Callable[..., Awaitable[object]]:
        async def watched(*args: object, **kwargs: object) -> object:
            self.requests_outside += not self._inside.get()
            return await send(*args, **kwargs)

        return watched


async def refused(_: Callable[[], Awaitable[T]], /) -> T:
    """No call may be made now."""
    raise Throttled("not now")


class ProviderSuite:
    """The behaviour that the engine counts on."""

    @pytest.fixture
    async def client(self, harness: Harness) -> AsyncIterator[Client]:
        before = asyncio.all_tasks()
        async with harness.open() as client:
            yield client
        left = {task for task in asyncio.all_tasks() - before if task is not asyncio.current_task()}
        if left:  # a server within the test takes a moment to see that no client is connected any more
            _, left = await asyncio.wait(left, timeout=5)
        assert not {task.get_name() for task in left}, "a closed client leaves no task behind"

    # -- reading
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

    # -- finding
    async def test_finds_by_name(self, harness: Harness, client: Client) -> None:
        needs(harness, Ability.FIND_NAME)
        names = ("db-a", "db-b", "web")
        await harness.seed(*(Entry(harness.key(name), harness.whole(name)) for name in names))
        found = await finder(client).find(FindQuery(name="db-[ab]$"), unpaced, Work())

        assert found is not None
        assert sorted(value.raw for value in found.values()) == [harness.whole(name) for name in names[:2]]

    async def test_finding_nothing_is_an_answer(self, harness: Harness, client: Client) -> None:
        needs(harness, Ability.FIND_NAME)
        await harness.seed(Entry(harness.key("web"), harness.whole("web")))
        assert await finder(client).find(FindQuery(name="^nothing-is-named-so$"), unpaced, Work()) == {}

    async def test_a_broken_expression_is_reported(self, harness: Harness, client: Client) -> None:
        needs(harness, Ability.FIND_NAME)
        with pytest.raises(Malformed):
            await finder(client).find(FindQuery(name="("), unpaced, Work())

    async def test_finds_by_path(self, harness: Harness, client: Client) -> None:
        if Ability.FIND_PATH in harness.lacks:
            await self._refused_aloud(client, FindQuery(path="db"))
        needs(harness, Ability.FIND_PATH)
        one, two = harness.whole("one"), harness.whole("two")
        await harness.seed(Entry(harness.key("db/a"), one), Entry(harness.key("web/a"), two))
        found = await finder(client).find(FindQuery(path=harness.key("db")), unpaced, Work())

        assert found is not None
        assert [value.raw for value in found.values()] == [one]

    async def test_finds_by_tags(self, harness: Harness, client: Client) -> None:
        if Ability.FIND_TAGS in harness.lacks:
            await self._refused_aloud(client, FindQuery(tags=(("team", "a"),)))
        needs(harness, Ability.FIND_TAGS)
        one, two = harness.whole("one"), harness.whole("two")
        await harness.seed(
            Entry(harness.key("a"), one, tags={"team": "a", "env": "x"}),
            Entry(harness.key("b"), two, tags={"team": "b"}),
        )
        found = await finder(client).find(FindQuery(tags=(("team", "a"),)), unpaced, Work())

        assert found is not None
        assert [value.raw for value in found.values()] == [one]

    @pytest.mark.parametrize(
        ("ability", "query"),
        [
            pytest.param(Ability.FIND_NAME, FindQuery(name="a$"), id="by name"),
            pytest.param(Ability.FIND_PATH, FindQuery(path="db"), id="by path"),
            pytest.param(Ability.FIND_TAGS, FindQuery(tags=(("team", "a"),)), id="by tags"),
        ],
    )
    async def test_each_request_of_a_search_is_a_call_of_its_own(
        self,
        harness: Harness,
        client: Client,
        monkeypatch: pytest.MonkeyPatch,
        ability: Ability,
        query: FindQuery,
    ) -> None:
        """Or a search would pass the token bucket, the time limit and the metrics by."""
        needs(harness, ability)
        names = ("db/a", "db/b") if ability is Ability.FIND_PATH else ("a", "b")
        entries = [Entry(harness.key(name), harness.whole(name), tags={"team": "a"}) for name in names]
        await harness.seed(*entries)
        if query.path:
            query = query._replace(path=harness.key(query.path))
        pacing = Pacing(monkeypatch)
        found = await finder(client).find(query, pacing.paced, Work())

        assert found
        assert pacing.requests_outside == 0
        assert pacing.calls >= 1
        with pytest.raises(Throttled):
            await finder(client).find(query, refused, Work())

    async def _refused_aloud(self, client: Client, query: FindQuery) -> None:
        if isinstance(client, Finder):
            with pytest.raises(Malformed):
                await client.find(query, unpaced, Work())

    # -- pushing
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

    # -- failing
    async def test_can_be_probed(self, harness: Harness, client: Client) -> None:
        needs(harness, Ability.PROBE)
        assert await prober(client).probe() in {"ready", "unknown"}

    @pytest.mark.parametrize(
        ("fault", "ability", "expected"),
        [
            pytest.param(Fault.THROTTLE, Ability.THROTTLE, Throttled, id="throttled"),
            pytest.param(Fault.DENY, Ability.DENY, Denied, id="denied"),
            pytest.param(Fault.TIME_OUT, Ability.TIME_OUT, Unavailable, id="timed out"),
        ],
    )
    async def test_failures_are_distinguished(
        self, harness: Harness, client: Client, fault: Fault, ability: Ability, expected: type[SyncError]
    ) -> None:
        needs(harness, Ability.READ, ability)
        secret = harness.whole(CANARY)
        await harness.seed(Entry(harness.key("a"), secret))
        with harness.broken(fault), pytest.raises(expected) as caught:
            await failing(client, RemoteRef(harness.key("a")).remote_key())

        assert not [word for word in (CANARY, *harness.canaries) if word in chain(caught.value)]
        assert await read(client, RemoteRef(harness.key("a"))) == secret, "it recovers"

    async def test_new_credentials_are_taken_up(self, harness: Harness, client: Client) -> None:
        needs(harness, Ability.READ, Ability.ROTATE)
        ref, one = RemoteRef(harness.key("a")), harness.whole("one")
        await harness.seed(Entry(ref.key, one))
        before = await read(client, ref)
        await harness.rotate()
        try:
            meanwhile = await read(client, ref)
        except Denied:
            meanwhile = one  # the engine opens another client when a Secret changes
        async with harness.open() as anew:
            assert (before, meanwhile, await read(anew, ref)) == (one, one, one)

    async def test_a_call_can_be_cancelled_anywhere(self, harness: Harness, client: Client) -> None:
        needs(harness, Ability.READ)
        one = harness.whole("one")
        await harness.seed(Entry(harness.key("a"), one))
        ref = RemoteRef(harness.key("a"))
        for steps in range(STEPS):
            call = asyncio.create_task(read(client, ref), name="to be cancelled")
            for _ in range(steps):
                await asyncio.sleep(0)
            call.cancel()
            await asyncio.wait([call])
            assert call.cancelled() or call.result() == one

        assert await read(client, ref) == one

    async def test_no_error_holds_a_value(self, harness: Harness, client: Client) -> None:
        key, pushed = harness.key("canary"), harness.key("pushed")
        acts: list[Callable[[], Awaitable[object]]] = []
        if Ability.READ not in harness.lacks:
            await harness.seed(Entry(key, harness.whole(f'{CANARY} "{CANARY}')))
            acts += [lambda: fields(client, RemoteRef(key)), lambda: read(client, RemoteRef(key, CANARY[:6]))]
        if isinstance(client, Writer) and Ability.PUSH not in harness.lacks:
            target = client
            acts += [
                lambda: target.push(item(pushed, CANARY.encode())),
                lambda: target.push(item(pushed, CANARY.encode(), "property")),
                lambda: target.push(item(key, CANARY.encode())),
            ]
        for act in acts:
            try:
                await act()
            except SyncError as error:
                words = [word for word in (CANARY, *harness.canaries) if word in chain(error)]
                assert not words, "an error holds a value"

        assert not [word for word in (CANARY, *harness.canaries) if word in repr(client)]
