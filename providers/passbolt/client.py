"""The client of a Passbolt store: the endpoints, and what it does with them.

https://help.passbolt.com/api
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Final
from uuid import UUID

import msgspec

from syncret.providers.contract import Compute, Paced, Readiness
from syncret.providers.errors import Denied, Malformed, SyncError
from syncret.providers.kit.batching import unpaced
from syncret.providers.kit.extract import missing_property
from syncret.providers.kit.golang import json as gojson
from syncret.providers.kit.golang import regexp
from syncret.providers.kit.paging import Looked, Matches
from syncret.providers.kit.remote_keys import Unversioned
from syncret.providers.kit.rest.api import Api
from syncret.providers.kit.rest.clients import ComputingClient
from syncret.providers.kit.rest.endpoints import Endpoint
from syncret.providers.passbolt.openpgp import Key, unlocked
from syncret.providers.passbolt.resources import (
    Fields,
    Metadata,
    PrivateKey,
    Resource,
    SharedKey,
    damaged,
    decoded,
    fields_of,
    plain_metadata,
)
from syncret.providers.values import FindQuery, RemoteKey, RemoteRef, SecretBytes, SecretMap
from syncret.providers.work import Work

_GRANT: Final = "share the resource with the account; an account with multi-factor login cannot be used"
LIST: Final = Endpoint("GET", "/resources.json", "reading {what}", _GRANT)
KEYS: Final = Endpoint("GET", "/metadata/keys.json", "reading the keys of encrypted metadata", _GRANT)
SESSION: Final = Endpoint("GET", "/auth/is-authenticated.json", "asking for the session", _GRANT)

VERSION: Final = {"api-version": "v2"}
BATCH: Final = 20
"""Resources in one request: their IDs are in its URL."""


class _List(msgspec.Struct):
    body: list[Resource]


class _Keys(msgspec.Struct):
    body: list[SharedKey]


class PassboltClient(Unversioned, ComputingClient):
    """Reads, finds and probes."""

    def __init__(self, api: Api, key: Key, compute: Compute) -> None:
        super().__init__(api, compute)
        self._key = key
        self._shared: dict[str, Key] = {}
        """Those of encrypted metadata, by their IDs. A new one has a new ID, so what is kept stays right."""

    # -- read
    async def fetch(self, keys: Sequence[RemoteKey]) -> Mapping[RemoteKey, Fields | SyncError]:
        """All in one request; IDs are compared as Passbolt writes them, in small letters."""
        known = {key: id_ for key in keys if (id_ := _id(key.key))}
        held = await self._read(known.values()) if known else {}
        problem: SyncError | None = None
        try:
            await self._learn_keys(held.values())
        except (Denied, Malformed) as error:
            problem = error  # of the resources with such a key alone
        found: dict[RemoteKey, Fields | SyncError] = {}
        for key in keys:
            resource = held.get(known.get(key, ""))
            if problem and resource and self._lacks_key(resource):
                found[key] = problem
            else:
                found[key] = await self._compute(partial(self._opened, resource, key.key))
        return found

    async def _read(self, ids: Iterable[str]) -> dict[str, Resource]:
        """The resources with these IDs that the account can open."""
        wanted = sorted(set(ids))
        params = {f"filter[has-id][{number}]": id_ for number, id_ in enumerate(wanted)}
        params |= {"contain[secret]": "1", "contain[resource-type]": "1", **VERSION}
        what = f"resource {wanted[0]}" if len(wanted) == 1 else "resources"
        answer = await self._api.call(LIST, params=params, what=what)
        return {each.id.lower(): each for each in answer.decode(_List).body}

    def _lacks_key(self, resource: Resource) -> bool:
        return bool(resource.shared_key) and resource.shared_key not in self._shared

    async def _learn_keys(self, resources: Iterable[Resource], paced: Paced = unpaced) -> None:
        """Keep the shared keys that these resources need, as far as the account has them."""
        needed = {each.shared_key for each in resources if self._lacks_key(each)}
        if not needed:
            return
        params = {"contain[metadata_private_keys]": "1", **VERSION}
        answer = await paced(partial(self._api.call, KEYS, params=params))
        for each in answer.decode(_Keys).body:
            if each.id in needed:
                key = await self._compute(partial(self._unlocked, each))
                if key is not None:
                    self._shared[each.id] = key

    def _unlocked(self, shared: SharedKey, work: Work) -> Key | None:
        """A shared key; None if the account has no part of it, or one that is not for its own key."""
        message = shared.metadata_private_keys[0].data if shared.metadata_private_keys else ""
        text = self._key.decrypted(message, work)
        private = None if text is None else decoded(text, PrivateKey)
        return None if private is None else unlocked(private.armored_key.encode(), private.passphrase, work)

    def _metadata(self, resource: Resource, work: Work) -> Metadata | SyncError:
        """What describes a resource, decrypted if need be, or why that cannot be."""
        if not resource.metadata:
            return plain_metadata(resource)
        key = self._shared.get(resource.shared_key) if resource.shared_key else self._key
        if key is None:
            return Malformed(
                f"resource {resource.id} has encrypted metadata, whose key the account cannot open",
                hint="let an administrator of Passbolt share the missing metadata keys with the account",
            )
        text = key.decrypted(resource.metadata, work)
        if text is None:
            return Malformed(
                f"the metadata of resource {resource.id}, its name among them, cannot be decrypted",
                hint="save the resource anew, or stop sharing it with the account",
            )
        return decoded(text, Metadata) or damaged(resource.id, "its metadata are no JSON with a name")

    def _opened(self, resource: Resource | None, key: str, work: Work) -> Fields | SyncError:
        """A resource with its secret, or what is wrong with it."""
        if not _id(key):
            return Malformed(f"invalid key {key!r}", hint="write the UUID of a resource")
        if resource is None:
            return Malformed(
                f"there is no resource {key}, or it is not shared with the account",
                hint="check the key, and with whom the resource is shared",
            )
        metadata = self._metadata(resource, work)
        if isinstance(metadata, SyncError):
            return metadata
        message = resource.secrets[0].data if resource.secrets else ""
        text = self._key.decrypted(message, work)
        if text is None:
            return Malformed(
                f"resource {key} cannot be decrypted",
                hint="share it with the account anew: it is encrypted for another key",
            )
        return fields_of(resource, metadata, text)

    def value(self, payload: Fields, ref: RemoteRef, work: Work) -> SecretBytes | None:
        """One field, or all as a JSON object."""
        if not ref.property:
            return SecretBytes(_document(payload, work))
        if ref.property not in payload.by_name:
            raise missing_property(f"property must be one of {', '.join(payload.by_name)}")
        return SecretBytes(payload.by_name[ref.property].encode())

    def fields(self, payload: Fields, ref: RemoteRef, work: Work) -> SecretMap | None:
        del ref, work
        return {name: SecretBytes(text.encode()) for name, text in payload.by_name.items()}

    # -- find
    async def find(self, query: FindQuery, paced: Paced, work: Work) -> SecretMap:
        """Resources whose names match; each as a JSON object, by its ID."""
        if query.path is not None or query.tags:
            raise Malformed("resources are found by name alone", hint="write find.name.regexp")
        if not query.name:
            raise Malformed("missing: find.name.regexp", hint="write it: names are searched")
        matches, looked, found = regexp.matcher(query.name, work), Looked("listing resources"), Matches()
        answer = await paced(partial(self._api.call, LIST, params=VERSION, what="the list of resources"))
        listed = answer.decode(_List).body
        looked.at(listed)
        await self._learn_keys(listed, paced)
        names = await self._compute(partial(self._names, listed))
        ids = [each.id.lower() for each, name in zip(listed, names, strict=True) if matches(name)]
        for start in range(0, len(ids), BATCH):
            some = ids[start : start + BATCH]
            held = await paced(partial(self._read, some), reads=len(some))
            await self._learn_keys(held.values(), paced)
            for id_ in some:
                opened = await self._compute(partial(self._opened, held.get(id_), id_))
                if isinstance(opened, SyncError):
                    raise opened
                found.add_value(id_, SecretBytes(_document(opened, work)))
        return found.values

    def _names(self, listed: Iterable[Resource], work: Work) -> list[str]:
        """The names of resources. Raises SyncError for the first that cannot be read: it might match."""
        names: list[str] = []
        for each in listed:
            work.step()
            metadata = self._metadata(each, work)
            if isinstance(metadata, SyncError):
                raise metadata
            names.append(metadata.name)
        return names

    # -- probe
    async def probe(self) -> Readiness:
        await self._api.call(SESSION, params=VERSION)
        return "ready"


def _document(payload: Fields, work: Work) -> bytes:
    quote = partial(gojson.quote, work=work, escape_html=False)
    parts = [f"{quote(name)}:{quote(text)}" for name, text in payload.by_name.items()]
    return f"{{{gojson.joined(parts, work)}}}".encode()


def _id(key: str) -> str:
    """A UUID as Passbolt writes it; empty if the key is no UUID."""
    try:
        return str(UUID(key.strip()))
    except ValueError:
        return ""
