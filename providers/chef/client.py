"""The client of a Chef store: the endpoints, and what it does with them.

https://docs.chef.io/server/api_chef_server/#data
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

from syncret.config.fields import Json
from syncret.providers.contract import Compute, Readiness
from syncret.providers.errors import Malformed
from syncret.providers.kit.batching import SingleReads
from syncret.providers.kit.golang import json as gojson
from syncret.providers.kit.remote_keys import Unversioned
from syncret.providers.kit.rest.api import Api
from syncret.providers.kit.rest.clients import ComputingClient
from syncret.providers.kit.rest.endpoints import Endpoint
from syncret.providers.kit.rest.texts import TextValues, TextWrites
from syncret.providers.pushes import PushItem
from syncret.providers.values import RemoteKey, RemoteRef, SecretBytes, SecretMap
from syncret.providers.work import Work

_READ: Final = "give the user the right to read the data bag"
_WRITE: Final = "give the user the right to create, update and delete in the data bag"

ITEM: Final = Endpoint("GET", "/data/{bag}/{item}", "reading item {item} of data bag {bag}", _READ)
BAG: Final = Endpoint("GET", "/data/{bag}", "listing data bag {bag}", _READ)
USER: Final = Endpoint("GET", "/users/{name}", "reading user {name}", "check username")
CLIENT: Final = Endpoint("GET", "/clients/{name}", "reading client {name}", "check username")
CREATE_BAG: Final = Endpoint("POST", "/data", "creating data bag {name}", _WRITE)
CREATE: Final = Endpoint("POST", "/data/{bag}", "creating an item of data bag {bag}", _WRITE)
UPDATE: Final = Endpoint("PUT", "/data/{bag}/{item}", "changing item {item} of data bag {bag}", _WRITE)
DELETE: Final = Endpoint("DELETE", "/data/{bag}/{item}", "deleting item {item} of data bag {bag}", _WRITE)

_ID: Final = "id"
"""The member of an item that has its name."""


class _Place(NamedTuple):
    bag: str
    item: str


class Bag:
    """All items of a data bag, each as JSON."""

    def __init__(self, items: Mapping[str, SecretBytes]) -> None:
        self.items = items


class ChefClient(
    Unversioned, ComputingClient, TextValues, SingleReads["SecretBytes | Bag"], TextWrites[SecretBytes]
):
    """Reads, pushes, deletes and probes."""

    def __init__(self, user: str, api: Api, compute: Compute) -> None:
        super().__init__(api, compute)
        self._user = user

    # -- read: an item, or with a key without a slash a whole data bag
    async def fetch_one(self, key: RemoteKey) -> SecretBytes | Bag | None:
        if "/" in key.key:
            return await self._item(_place(key.key))
        listed = await self._api.look_up(BAG, bag=key.key)
        if listed is None:
            return None
        found = {name: await self._item(_Place(key.key, name)) for name in listed.decode(dict[str, str])}
        return Bag({name: item for name, item in found.items() if item is not None})

    def value(self, payload: SecretBytes | Bag, ref: RemoteRef, work: Work) -> SecretBytes | None:
        """The item as JSON, or a part of it."""
        if isinstance(payload, Bag):
            raise _bad_key(ref.key)
        return super().value(payload, ref, work)

    def fields(self, payload: SecretBytes | Bag, ref: RemoteRef, work: Work) -> SecretMap | None:
        """The items of a data bag, or the members of an item."""
        if isinstance(payload, Bag):
            return payload.items
        return super().fields(payload, ref, work)

    async def _item(self, place: _Place) -> SecretBytes | None:
        answer = await self._api.look_up(ITEM, **place._asdict())
        if answer is None:
            return None
        return await self._canonical(answer.decode(dict[str, Json]))

    async def _canonical(self, members: dict[str, Json]) -> SecretBytes:
        """As JSON with sorted names, so that texts can be compared."""
        return SecretBytes(await self._compute(lambda work: gojson.marshal(members, work).encode()))

    # -- push: a JSON object is an item, and a property a member of it
    async def push(self, item: PushItem) -> None:
        """Store an object as an item, or change one member of it; nothing is written if it is there."""
        if not item.property:
            members = await self._object(item.value.raw)
            value = await self._canonical({**members, _ID: _place(item.remote_key).item})
            item = PushItem(item.remote_key, "", value, item.metadata, item.secret_key, item.source)
        await super().push(item)

    async def entry(self, key: str) -> SecretBytes | None:
        return await self._item(_place(key))

    def text(self, entry: SecretBytes) -> bytes:
        return entry.raw

    async def store(self, item: PushItem, text: bytes, entry: SecretBytes | None) -> None:
        place = _place(item.remote_key)
        members = {**await self._object(text), _ID: place.item}
        if entry is not None:
            await self._api.call(UPDATE, body=members, **place._asdict())
        elif await self._api.look_up(CREATE, body=members, bag=place.bag) is None:
            await self._api.call(CREATE_BAG, body={"name": place.bag}, name=place.bag)
            await self._api.call(CREATE, body=members, bag=place.bag)

    async def remove(self, key: str) -> None:
        await self._api.look_up(DELETE, **_place(key)._asdict())

    async def _object(self, text: bytes) -> dict[str, Json]:
        """Raises Malformed."""
        failed = False
        try:
            members = await self._compute(lambda work: gojson.unmarshal_object(text, work))
        except Malformed:
            members, failed = {}, True
        if failed:
            raise Malformed(
                "an item of a data bag is a JSON object, and the value is none",
                hint="write match.remoteRef.property, or push a whole Secret",
            )
        return members

    # -- probe
    async def probe(self) -> Readiness:
        """Users may read themselves, and so may clients of the organization."""
        if await self._api.look_up(USER, name=self._user) is None:
            await self._api.call(CLIENT, name=self._user)
        return "ready"


def _place(key: str) -> _Place:
    """The parts of a key; as in the operator, a third one is ignored. Raises Malformed."""
    bag, _, rest = key.partition("/")
    item = rest.partition("/")[0]
    if not (bag and item):
        raise _bad_key(key)
    return _Place(bag, item)


def _bad_key(key: str) -> Malformed:
    return Malformed(f"invalid key {key!r}", hint="write the data bag and the item: bag/item")
