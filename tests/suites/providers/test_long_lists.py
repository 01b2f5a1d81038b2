"""Searches in managers that are very large, or lead from page to page for ever: each ends, within limits."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest

from syncret.providers.contract import Finder
from syncret.providers.errors import Malformed, SyncError
from syncret.providers.kit.batching import unpaced
from syncret.providers.kit.paging import MOST_KEPT, MOST_LISTED
from syncret.providers.registry import Registry
from syncret.providers.values import FindQuery, SecretMap
from syncret.providers.work import Work
from tests.support.opened import Given, context
from tests.support.servers.endless import LOGIN, PAGE, Endless, credentials, endless, environment, stores

pytestmark = pytest.mark.slow

PAGED = ["secrets-manager", "parameter-store", "azurekv", "gcpsm", "kubernetes", "crd"]
FINDERS = [*PAGED, "vault"]
MANY = 60
BUDGET = 20.0
"""More than a search may cost: here the bounds of lists are tried, not that of work."""


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> "Search":
    return Search(monkeypatch)


class Search:
    """Finds in a manager through the store of one API."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch

    async def __call__(self, store: str, query: FindQuery, **how: Any) -> SecretMap:  # noqa: ANN401  # of Endless
        async with endless(**how) as manager, self._opened(store, manager) as client:
            return await client.find(query, unpaced, Work(seconds=BUDGET)) or {}

    @asynccontextmanager
    async def _opened(self, store: str, manager: Endless) -> AsyncGenerator[Finder, None]:
        for name, value in environment(manager.url).items():
            self._monkeypatch.setenv(name, value)
        given = Given(
            secrets={LOGIN: {key: value.encode() for key, value in credentials(manager.url).items()}}
        )
        [(name, document)] = stores(manager.url)[store].items()
        provider = Registry().provider(name)
        assert provider.open is not None
        async with provider.open(msgspec.convert(document, provider.spec.model), context(given)) as client:
            assert isinstance(client, Finder)
            yield client


@pytest.mark.parametrize("store", FINDERS)
async def test_one_of_sixty_thousand(found: Search, store: str) -> None:
    """The bound is on what is kept: a large account is searched to its end."""
    pages = 10 if store == "vault" else MANY  # folders within each other
    keys = await found(store, FindQuery(name="wanted"), pages=pages, page=MANY * PAGE // pages)

    assert [key.rpartition("/")[2] for key in keys] == ["wanted"]


@pytest.mark.parametrize("store", FINDERS)
async def test_more_matches_than_an_object_can_use(found: Search, store: str) -> None:
    with pytest.raises(Malformed, match=f"more than {MOST_KEPT} entries match") as caught:
        await found(store, FindQuery(name="entry"), pages=MOST_KEPT // PAGE + 1)

    assert "find.name.regexp" in caught.value.hint


@pytest.mark.parametrize("store", FINDERS)
async def test_a_list_without_an_end(found: Search, store: str) -> None:
    """It ends by the number of its entries, or by the work that they make."""
    with pytest.raises(
        SyncError, match=f"more than {MOST_LISTED} entries to look at|bytes together|workTime"
    ) as caught:
        await found(store, FindQuery(name="nothing-is-called-so"))

    assert caught.value.hint


@pytest.mark.parametrize("store", PAGED)
async def test_a_list_that_leads_back_to_its_beginning(found: Search, store: str) -> None:
    with pytest.raises(Malformed, match="the list does not end"):
        await found(store, FindQuery(name="nothing-is-called-so"), circle=True, page=1)


@pytest.mark.parametrize("store", ["parameter-store", "kubernetes"])
async def test_matches_that_are_too_large_together(found: Search, store: str) -> None:
    with pytest.raises(Malformed, match="bytes together"):
        await found(store, FindQuery(name="entry"), page=20, value="v" * 60_000)
