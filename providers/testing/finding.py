"""Cases of a Finder: by name, path and tags; each request of a search is a call of its own."""

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import ClassVar, TypeAlias, TypeVar

import pytest

from syncret.providers.contract import Client, Finder
from syncret.providers.errors import Malformed, Throttled
from syncret.providers.kit.batching import unpaced
from syncret.providers.kit.http import Http
from syncret.providers.testing.calls import finder
from syncret.providers.testing.harness import Ability, Entry, Harness
from syncret.providers.testing.running import AsyncCases, needs
from syncret.providers.values import FindQuery
from syncret.providers.work import Work

T = TypeVar("T")

Senders: TypeAlias = tuple[tuple[type, str], ...]
"""Methods that send a request."""


class Pacing:
    """Counts the calls of a search, and the requests that are sent outside of one."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, senders: Senders) -> None:
        self.calls = 0
        self.requests_outside = 0
        self._inside = ContextVar("inside", default=False)
        for sender, method in senders:
            monkeypatch.setattr(sender, method, self._watched(getattr(sender, method)))

    async def paced(self, request: Callable[[], Awaitable[T]], /, *, reads: int = 0) -> T:
        del reads
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


async def refused(_: Callable[[], Awaitable[T]], /, *, reads: int = 0) -> T:
    """No call may be made now."""
    del reads
    raise Throttled("not now")


class FindingCases(AsyncCases):
    """What the engine relies on when it searches."""

    senders: ClassVar[Senders] = ((Http, "request"),)
    """What the provider sends requests with, as class and method: a client with an SDK names the SDK's."""

    def found(self, harness: Harness, text: str) -> bytes:
        """What a search yields for an entry with this text, if that is not what a read of it does."""
        return harness.whole(text)

    async def test_finds_by_name(self, harness: Harness, client: Client) -> None:
        needs(harness, Ability.FIND_NAME)
        names = ("db-a", "db-b", "web")
        await harness.seed(*(Entry(harness.key(name), harness.whole(name)) for name in names))
        found = await finder(client).find(FindQuery(name="(?i)db.[ab]$"), unpaced, Work())

        assert found is not None
        assert sorted(value.raw for value in found.values()) == [
            self.found(harness, name) for name in names[:2]
        ]

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
        assert [value.raw for value in found.values()] == [self.found(harness, "one")]

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
        assert [value.raw for value in found.values()] == [self.found(harness, "one")]

    @pytest.mark.parametrize(
        ("ability", "query"),
        [
            pytest.param(Ability.FIND_NAME, FindQuery(name="(?i)a$"), id="by name"),
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
        """Otherwise a search would bypass the token bucket, the time limit and the metrics."""
        needs(harness, ability)
        names = ("db/a", "db/b") if ability is Ability.FIND_PATH else ("a", "b")
        entries = [Entry(harness.key(name), harness.whole(name), tags={"team": "a"}) for name in names]
        await harness.seed(*entries)
        if query.path:
            query = query._replace(path=harness.key(query.path))
        pacing = Pacing(monkeypatch, self.senders)
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
