"""The client of a Passbolt store: the endpoints, and what it does with them.

https://help.passbolt.com/api
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final
from uuid import UUID

import msgspec

from syncret.providers.contract import Compute, Paced, Readiness
from syncret.providers.errors import Malformed, SyncError
from syncret.providers.kit.extract import missing_property
from syncret.providers.kit.golang import json as gojson
from syncret.providers.kit.golang import regexp
from syncret.providers.kit.paging import Looked, Matches
from syncret.providers.kit.remote_keys import Unversioned
from syncret.providers.kit.rest.api import Api
from syncret.providers.kit.rest.clients import ComputingClient
from syncret.providers.kit.rest.endpoints import Endpoint
from syncret.providers.passbolt.openpgp import Key
from syncret.providers.values import FindQuery, RemoteKey, RemoteRef, SecretBytes, SecretMap
from syncret.providers.work import Work

_GRANT: Final = "share the resource with the account; an account with multi-factor login cannot be used"
LIST: Final = Endpoint("GET", "/resources.json", "reading {what}", _GRANT)
SESSION: Final = Endpoint("GET", "/auth/is-authenticated.json", "asking for the session", _GRANT)

VERSION: Final = {"api-version": "v2"}
BATCH: Final = 20
"""Resources in one request: their IDs are in its URL."""

_PLAIN: Final = {"password-string"}
_DESCRIBED: Final = {"password-and-description", "password-description-totp"}
_WITHOUT_PASSWORD: Final = {"totp"}


class _Kind(msgspec.Struct):
    slug: str = ""


class _Message(msgspec.Struct):
    data: str = ""


class _Resource(msgspec.Struct):
    id: str
    name: str | None = None
    username: str | None = None
    uri: str | None = None
    description: str | None = None
    resource_type: _Kind = msgspec.field(default_factory=_Kind)
    secrets: list[_Message] = []


class _List(msgspec.Struct):
    body: list[_Resource]


class _Described(msgspec.Struct):
    password: str = ""
    description: str | None = None


@dataclass(frozen=True, slots=True)
class Fields:
    """A resource, decrypted; in the order of the operator's JSON."""

    by_name: Mapping[str, str] = field(repr=False)


class PassboltClient(Unversioned, ComputingClient):
    """Reads, finds and probes."""

    def __init__(self, api: Api, key: Key, compute: Compute) -> None:
        super().__init__(api, compute)
        self._key = key

    # -- read
    async def fetch(self, keys: Sequence[RemoteKey]) -> Mapping[RemoteKey, Fields | SyncError]:
        """All in one request; IDs are compared as Passbolt writes them, in small letters."""
        known = {key: id_ for key in keys if (id_ := _id(key.key))}
        held = await self._read(known.values()) if known else {}
        found: dict[RemoteKey, Fields | SyncError] = {}
        for key in keys:
            resource = held.get(known.get(key, ""))
            found[key] = await self._compute(partial(self._opened, resource, key.key))
        return found

    async def _read(self, ids: Iterable[str]) -> dict[str, _Resource]:
        """The resources with these IDs that the account can open."""
        wanted = sorted(set(ids))
        params = {f"filter[has-id][{number}]": id_ for number, id_ in enumerate(wanted)}
        params |= {"contain[secret]": "1", "contain[resource-type]": "1", **VERSION}
        what = f"resource {wanted[0]}" if len(wanted) == 1 else "resources"
        answer = await self._api.call(LIST, params=params, what=what)
        return {each.id.lower(): each for each in answer.decode(_List).body}

    def _opened(self, resource: _Resource | None, key: str, work: Work) -> Fields | SyncError:
        """A resource with its secret, or what is wrong with it."""
        if not _id(key):
            return Malformed(f"invalid key {key!r}", hint="write the UUID of a resource")
        if resource is None:
            return Malformed(
                f"there is no resource {key}, or it is not shared with the account",
                hint="check the key, and with whom the resource is shared",
            )
        message = resource.secrets[0].data if resource.secrets else ""
        text = self._key.decrypted(message, work)
        if text is None:
            return Malformed(
                f"resource {key} cannot be decrypted",
                hint="share it with the account anew: it is encrypted for another key",
            )
        return _fields(resource, text)

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
        ids = [each.id.lower() for each in listed if matches(each.name or "")]
        for start in range(0, len(ids), BATCH):
            some = ids[start : start + BATCH]
            held = await paced(partial(self._read, some), reads=len(some))
            for id_ in some:
                opened = await self._compute(partial(self._opened, held.get(id_), id_))
                if isinstance(opened, SyncError):
                    raise opened
                found.add_value(id_, SecretBytes(_document(opened, work)))
        return found.values

    # -- probe
    async def probe(self) -> Readiness:
        await self._api.call(SESSION, params=VERSION)
        return "ready"


def _fields(resource: _Resource, text: bytes) -> Fields | SyncError:
    """The fields of a resource, by its kind."""
    kind, description = resource.resource_type.slug, resource.description or ""
    if kind in _PLAIN | _WITHOUT_PASSWORD:
        password = "" if kind in _WITHOUT_PASSWORD else text.decode("utf-8", "replace")
    elif kind in _DESCRIBED:
        try:
            held = msgspec.json.decode(text, type=_Described)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return Malformed(f"resource {resource.id} is damaged: its secret is no JSON", hint="save it anew")
        password, description = held.password, held.description or ""
    else:
        return Malformed(
            f"resource {resource.id} is of the kind {kind or 'unknown'}, which is not read",
            hint="resources with encrypted metadata are not: make it one of the format of version 4",
        )
    return Fields(
        {
            "name": resource.name or "",
            "username": resource.username or "",
            "password": password,
            "uri": resource.uri or "",
            "description": description,
        }
    )


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
