"""The client of a Conjur store: the endpoints, and what it does with them.

https://docs.cyberark.com/conjur-open-source/latest/en/content/developer/lp_rest_api.htm
"""

from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from functools import partial
from typing import Final
from urllib.parse import quote_plus

import msgspec

from syncret.providers.contract import Paced
from syncret.providers.errors import Denied, Malformed, SyncError
from syncret.providers.kit.batching import map_concurrently, read_each, reading
from syncret.providers.kit.golang import regexp
from syncret.providers.kit.paging import Matches, Page, pages
from syncret.providers.kit.remote_keys import Versioned
from syncret.providers.kit.rest.api import Api
from syncret.providers.kit.rest.clients import ApiClient
from syncret.providers.kit.rest.endpoints import Endpoint
from syncret.providers.kit.rest.texts import TextValues
from syncret.providers.values import FindQuery, RemoteKey, SecretBytes, SecretMap
from syncret.providers.work import Work

_GRANT: Final = "permit the store's role to read and execute the variable, by a policy"

READ: Final = Endpoint("GET", "/secrets/{account}/variable/{id}", "reading variable {id}", _GRANT)
BATCH: Final = Endpoint("GET", "/secrets", "reading variables", _GRANT)
LIST: Final = Endpoint("GET", "/resources/{account}", "listing variables", _GRANT)

_PAGE: Final = 100
_MOST: Final = 50
_LONGEST: Final = 6000
"""IDs of a batch, and characters of them as they are in its URL: a server takes eight thousand or more."""


class _Annotation(msgspec.Struct):
    name: str
    value: str


class _Resource(msgspec.Struct):
    id: str
    annotations: list[_Annotation] = []

    @property
    def name(self) -> str:
        return self.id.split(":", 2)[-1]

    def has(self, tags: Sequence[tuple[str, str]]) -> bool:
        return set(tags) <= {(each.name, each.value) for each in self.annotations}


class ConjurClient(Versioned, ApiClient, TextValues):
    """Reads, finds and probes.

    Conjur says "not found" also of a variable that the role may not see, so that no `deletionPolicy` applies.
    """

    def __init__(self, account: str, api: Api) -> None:
        super().__init__(api)
        self._account = account

    # -- read
    async def fetch(self, keys: Sequence[RemoteKey]) -> Mapping[RemoteKey, SecretBytes | SyncError]:
        """Current values in one request; if it is refused for one of them, and older ones, each by itself."""
        found: dict[RemoteKey, SecretBytes | SyncError] = {}
        for some in self._divided([key for key in keys if not key.version and "," not in key.key]):
            try:
                values = await self._read_batch([key.key for key in some]) if len(some) > 1 else {}
            except (Denied, Malformed):  # each says why
                values = {}
            found |= {key: values[key.key] for key in some if key.key in values}
        return found | await read_each([key for key in keys if key not in found], self._read)

    async def _read_batch(self, names: Sequence[str]) -> dict[str, SecretBytes]:
        ids = ",".join(self._full_id(name) for name in names)
        answer = await self._api.call(BATCH, params={"variable_ids": ids})
        found = answer.decode(dict[str, str])
        return {full.split(":", 2)[-1]: SecretBytes(value.encode()) for full, value in found.items()}

    async def _read(self, key: RemoteKey) -> SecretBytes:
        params = {"version": key.version} if key.version else {}
        answer = await self._api.look_up(READ, params=params, account=self._account, id=key.key)
        if answer is None:
            which = f"version {key.version} of variable {key.key}" if key.version else f"variable {key.key}"
            raise Malformed(
                f"{which} does not exist, or has no value",
                hint="or the store's role may not see it: Conjur says the same then; check its policy",
            )
        return SecretBytes(answer.body)

    # -- find
    async def find(self, query: FindQuery, paced: Paced, work: Work) -> SecretMap:
        """Variables that the role sees, whose ID matches, or that have all the annotations."""
        if query.path is not None and query.name is None and not query.tags:
            raise Malformed(
                "variables in Conjur are not found by path", hint="write find.name.regexp, or tags"
            )
        matches = regexp.matcher(query.name or "", work)
        found = Matches()
        async for variable in self._list(paced):
            if matches(variable.name) and (query.name is not None or variable.has(query.tags or ())):
                found.add_name(variable.name)
        for some in self._divided([RemoteKey(name) for name in found.names]):
            names = [key.key for key in some]
            try:
                values = await reading(paced, len(names))(partial(self._read_batch, names))
            except (Denied, Malformed):  # which says why for each
                read = await map_concurrently(self._read_current, names, reading(paced), doing="conjur find")
                values = dict(read)
            for name in names:
                if name in values:
                    found.add_value(name, values[name])
        return found.values

    async def _read_current(self, name: str) -> SecretBytes:
        return await self._read(RemoteKey(name))

    def _list(self, paced: Paced) -> AsyncGenerator[_Resource, None]:
        async def page(token: str) -> Page[_Resource]:
            params = {"kind": "variable", "limit": str(_PAGE), "offset": token or "0"}
            answer = await self._api.call(LIST, params=params, account=self._account)
            entries = answer.decode(list[_Resource])
            following = str(int(token or "0") + _PAGE) if len(entries) >= _PAGE else ""
            return Page(entries, following)

        return pages(page, paced, doing="listing variables")

    def _full_id(self, name: str) -> str:
        return f"{self._account}:variable:{name}"

    def _divided(self, keys: Sequence[RemoteKey]) -> Iterator[list[RemoteKey]]:
        """The keys in parts whose IDs fit into a URL."""
        some: list[RemoteKey] = []
        size = 0
        for key in keys:
            length = len(quote_plus(f"{self._full_id(key.key)},"))
            if some and (len(some) == _MOST or size + length > _LONGEST):
                yield some
                some, size = [], 0
            some.append(key)
            size += length
        if some:
            yield some
