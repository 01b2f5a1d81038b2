"""The client of a Bitwarden Secrets Manager store: the endpoints of its SDK server, and how they are used.

https://github.com/external-secrets/bitwarden-sdk-server
"""

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

import msgspec

from syncret.config.fields import Json
from syncret.config.meta import is_object
from syncret.providers.bitwardensecretsmanager.spec import BATCH, BitwardenSpec
from syncret.providers.contract import Compute, Paced, Readiness
from syncret.providers.errors import Denied, Malformed, SyncError
from syncret.providers.kit import extract
from syncret.providers.kit.golang import json as gojson
from syncret.providers.kit.golang import regexp
from syncret.providers.kit.paging import Looked, Matches
from syncret.providers.kit.references import as_text
from syncret.providers.kit.remote_keys import Unversioned
from syncret.providers.kit.rest.api import Api
from syncret.providers.kit.rest.clients import ComputingClient
from syncret.providers.kit.rest.endpoints import Endpoint
from syncret.providers.kit.rest.texts import TextValues, TextWrites
from syncret.providers.pushes import PushItem
from syncret.providers.values import FindQuery, RemoteKey, RemoteRef, SecretBytes, SecretMap
from syncret.providers.work import Work

_READ: Final = "give the machine account access to the project"
_WRITE: Final = "give the machine account access to the project, with the right to write"

LIST: Final = Endpoint("GET", "/rest/api/1/secrets", "listing secrets", _READ)
READ: Final = Endpoint("GET", "/rest/api/1/secrets-by-ids", "reading secrets", _READ)
CREATE: Final = Endpoint("POST", "/rest/api/1/secret", "creating secret {name}", _WRITE)
UPDATE: Final = Endpoint("PUT", "/rest/api/1/secret", "changing secret {name}", _WRITE)
DELETE: Final = Endpoint("DELETE", "/rest/api/1/secret", "deleting secret {name}", _WRITE)

_UUID: Final = re.compile(r"[0-9a-f]{8}(-?[0-9a-f]{4}){3}-?[0-9a-f]{12}", re.IGNORECASE)


class _Listed(msgspec.Struct):
    id: str
    key: str


class _List(msgspec.Struct):
    data: list[_Listed]


class Secret(msgspec.Struct, rename="camel"):
    """A secret with its value."""

    id: str
    key: str
    value: str
    note: str = ""
    project_id: str | None = None

    def __repr__(self) -> str:
        return f"<Secret {self.id}>"


class _Secrets(msgspec.Struct):
    data: list[Secret]


class _Deleted(msgspec.Struct):
    error: str | None = None


class _Deletions(msgspec.Struct):
    data: list[_Deleted] = []


class BitwardenClient(Unversioned, ComputingClient, TextValues, TextWrites[Secret]):
    """Reads, finds, pushes, deletes and probes.

    The list has only what the machine account may read. So reading a secret that is not in it is an error,
    and no `deletionPolicy` applies.
    """

    def __init__(self, spec: BitwardenSpec, api: Api, compute: Compute) -> None:
        super().__init__(api, compute)
        self._organization = spec.organization_id
        self._project = spec.project_id

    # -- read
    async def fetch(self, keys: Sequence[RemoteKey]) -> Mapping[RemoteKey, SecretBytes | SyncError]:
        """Two calls: the list says which there are, by ID and by name."""
        listed = await self._list()
        ids = {key: _ids_of(key.key, listed) for key in keys}
        held = await self._read({id_ for several in ids.values() for id_ in several})
        found: dict[RemoteKey, SecretBytes | SyncError] = {}
        for key, several in ids.items():
            try:
                secret = self._chosen(key.key, [held[id_] for id_ in several if id_ in held])
            except Malformed as error:
                found[key] = error
                continue
            found[key] = _missing(key.key) if secret is None else SecretBytes(secret.value.encode())
        return found

    def fields(self, payload: SecretBytes, ref: RemoteRef, work: Work) -> SecretMap | None:
        """The members of the JSON or YAML object that the text, or a property of it, is."""
        found = self.value(payload, ref, work)
        if found is None:
            return None
        if found.raw.lstrip()[:1] == b"{" and gojson.is_valid(found.raw, work):
            return extract.members(found.raw, f"secret {ref.key}", work)
        from syncret.config.text.yaml import parse_text  # slow to import
        from syncret.config.text.yaml_scalars import YAML_V3

        work.make(len(found) * _PARSED)
        for parsed in parse_text(found.raw, reading=YAML_V3):
            if is_object(parsed.value) and not parsed.problems:
                return {name: SecretBytes(_bytes(value, work)) for name, value in parsed.value.items()}
            break
        raise Malformed(
            f"secret {ref.key} is neither a JSON nor a YAML object", hint="extract takes an object"
        )

    async def _list(self) -> Sequence[_Listed]:
        answer = await self._api.call(LIST, body={"organizationId": self._organization})
        return answer.decode(_List).data

    async def _read(self, ids: set[str]) -> dict[str, Secret]:
        waiting, found = sorted(ids), dict[str, Secret]()
        for start in range(0, len(waiting), BATCH):
            answer = await self._api.call(READ, body={"ids": waiting[start : start + BATCH]})
            found |= {secret.id: secret for secret in answer.decode(_Secrets).data}
        return found

    def _chosen(self, key: str, secrets: Sequence[Secret]) -> Secret | None:
        """The secret of an ID, or the one of the store's project that has the name. Raises Malformed."""
        if not _UUID.fullmatch(key):
            secrets = [secret for secret in secrets if secret.project_id == self._project]
        if len(secrets) > 1:
            raise Malformed(
                f"more than one secret of the project is named {key}", hint="write the ID of one as the key"
            )
        return secrets[0] if secrets else None

    # -- find
    async def find(self, query: FindQuery, paced: Paced, work: Work) -> SecretMap:
        """All secrets of the organization whose names match, by their IDs."""
        if query.tags or query.path:
            raise Malformed("secrets in Bitwarden have neither tags nor paths", hint="write find.name.regexp")
        matches, looked, found = regexp.matcher(query.name or "", work), Looked("listing secrets"), Matches()
        listed = await paced(self._list)
        looked.at(listed)
        for each in listed:
            if matches(each.key):
                found.add_name(each.id)
        for start in range(0, len(found.names), BATCH):
            ids = set(found.names[start : start + BATCH])
            held = await paced(partial(self._read, ids), reads=len(ids))
            for id_, secret in held.items():
                found.add_value(id_, SecretBytes(secret.value.encode()))
        return found.values

    # -- push
    async def entry(self, key: str) -> Secret | None:
        held = await self._read(set(_ids_of(key, await self._list())))
        return self._chosen(key, list(held.values()))

    def text(self, entry: Secret) -> bytes:
        return entry.value.encode()

    def is_stale(self, entry: Secret, item: PushItem) -> bool:
        note = _note(item)
        return note is not None and note != entry.note

    async def store(self, item: PushItem, text: bytes, entry: Secret | None) -> None:
        name, note = item.remote_key, _note(item)
        body: dict[str, object] = {
            "key": name if entry is None else entry.key,
            "value": as_text(text, "push it in base64"),
            "note": note if note is not None else entry.note if entry else "",
            "organizationId": self._organization,
            "projectIds": [self._project if entry is None else entry.project_id or self._project],
        }
        if entry is not None:
            await self._api.call(UPDATE, body={"id": entry.id, **body}, name=name)
        elif _UUID.fullmatch(name):
            raise Malformed(f"secret {name} does not exist", hint="Bitwarden chooses IDs: write a name")
        else:
            await self._api.call(CREATE, body=body, name=name)

    async def remove(self, key: str) -> None:
        entry = await self.entry(key)
        if entry is None:
            return
        answer = await self._api.call(DELETE, body={"ids": [entry.id]}, name=key)
        if any(each.error for each in answer.decode(_Deletions).data):
            raise Denied(f"{answer.doing}: it was refused", hint=_WRITE)

    # -- probe
    async def probe(self) -> Readiness:
        await self._list()
        return "ready"


_PARSED: Final = 10
"""Bytes that one of YAML takes as values."""


def _ids_of(key: str, listed: Sequence[_Listed]) -> list[str]:
    """The secrets that a key can mean."""
    if _UUID.fullmatch(key):
        return [each.id for each in listed if _digits(each.id) == _digits(key)]
    return [each.id for each in listed if each.key == key]


def _digits(id_: str) -> str:
    """An ID without what may be written in several ways."""
    return id_.replace("-", "").lower()


def _missing(key: str) -> Malformed:
    return Malformed(
        f"there is no secret {key}, or the machine account may not read it",
        hint="check the key, and the access to the project",
    )


def _bytes(value: Json, work: Work) -> bytes:
    """As `byte_value`, but whole numbers of YAML keep all of their digits, as in Go."""
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return str(value).encode() if is_whole else gojson.byte_value(value, work)


def _note(item: PushItem) -> str | None:
    """The note that a push asks for."""
    metadata: Any = item.metadata
    note: Any = metadata.get("note") if is_object(metadata) else None
    return note if isinstance(note, str) else None
