"""The client of a Doppler store: the endpoints, and what it does with them.

https://docs.doppler.com/reference/api
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from http import HTTPStatus
from typing import Final

from syncret.providers.contract import Compute, Paced, Readiness
from syncret.providers.doppler.spec import DopplerSpec
from syncret.providers.errors import Malformed, SyncError
from syncret.providers.kit import extract
from syncret.providers.kit.golang import regexp
from syncret.providers.kit.http import Answer
from syncret.providers.kit.paging import Matches
from syncret.providers.kit.references import as_text
from syncret.providers.kit.remote_keys import Unversioned
from syncret.providers.kit.rest.api import Api
from syncret.providers.kit.rest.clients import ComputingClient
from syncret.providers.kit.rest.endpoints import Endpoint
from syncret.providers.kit.rest.texts import TextWrites
from syncret.providers.pushes import PushItem, RemoteTarget
from syncret.providers.values import FindQuery, RemoteKey, RemoteRef, SecretBytes, SecretMap
from syncret.providers.work import Work

_READ: Final = "give the service account, or its token, access to the config's environment"
_WRITE: Final = "give the service account, or its token, write access to the config"

DOWNLOAD: Final = Endpoint("GET", "/v3/configs/config/secrets/download", "reading {what}", _READ)
UPDATE: Final = Endpoint("POST", "/v3/configs/config/secrets", "{doing} secret {name}", _WRITE)
PROJECTS: Final = Endpoint("GET", "/v3/projects", "listing projects", _READ)

FILE: Final = "DOPPLER_SECRETS_FILE"
"""The key of a config that is downloaded as one file."""

_NAME: Final = re.compile(r"[A-Za-z0-9_]+")
_LONGEST: Final = 6000
"""Characters of names in a URL; beyond that, the whole config is read."""


class DopplerClient(Unversioned, ComputingClient, TextWrites[SecretBytes]):
    """Reads, finds, pushes, deletes and probes. As in the operator, properties are ignored."""

    def __init__(self, spec: DopplerSpec, api: Api, compute: Compute) -> None:
        super().__init__(api, compute)
        from syncret.providers.kit.rest.unchanged import Unchanged  # imports TLS

        self._spec = spec
        self._unchanged = Unchanged()
        place = {"project": spec.project or "", "config": spec.config or ""}
        self._config = {name: value for name, value in place.items() if value}

    # -- read
    async def fetch(self, keys: Sequence[RemoteKey]) -> Mapping[RemoteKey, SecretBytes | SyncError]:
        """All in one request."""
        known = [key for key in keys if _NAME.fullmatch(key.key)]
        found = await self._read([key.key for key in known]) if known else {}
        values: dict[RemoteKey, SecretBytes | SyncError] = {
            key: SecretBytes(found[key.key].encode()) for key in known if key.key in found
        }
        return values | {key: _bad_name(key.key) for key in keys if key not in known}

    def value(self, payload: SecretBytes, ref: RemoteRef, work: Work) -> SecretBytes | None:
        del ref, work
        return payload

    def fields(self, payload: SecretBytes, ref: RemoteRef, work: Work) -> SecretMap | None:
        return extract.members(payload.raw, f"unable to unmarshal secret {ref.key}", work)

    async def _read(self, names: Iterable[str]) -> dict[str, str]:
        """The values of these names; names that do not exist are missing."""
        wanted = ",".join(sorted(names))
        params = {"secrets": wanted} if len(wanted) <= _LONGEST else {}
        what = f"secret {wanted}" if "," not in wanted else "secrets"
        return (await self._download(params, what)).decode(dict[str, str])

    # -- find
    async def find(self, query: FindQuery, paced: Paced, work: Work) -> SecretMap:
        """The secrets whose names match; a path is what they begin with. With `format` they are one file."""
        if query.tags:
            raise Malformed("secrets in Doppler have no tags", hint="write find.name.regexp or find.path")
        matches = regexp.matcher(query.name or "", work)
        spec, params = self._spec, dict[str, str]()
        if spec.name_transformer:
            params["name_transformer"] = spec.name_transformer
        if spec.format:
            params["format"] = spec.format
        answer = await paced(partial(self._download, params, "the config"))
        every = {FILE: answer.body} if spec.format else _encoded(answer.decode(dict[str, str]))
        found = Matches()
        for name, value in every.items():
            if matches(name) and name.startswith(query.path or ""):
                found.add_value(name, SecretBytes(value))
        return found.values

    async def _download(self, params: Mapping[str, str], what: str) -> Answer:
        params = {"format": "json", **self._config, **params}
        call = partial(self._api.call, DOWNLOAD, params=params, accept=(HTTPStatus.NOT_MODIFIED,), what=what)
        kind = {} if params["format"].endswith("json") else {"Accept": "text/plain"}
        return await self._unchanged.get(str(params), lambda headers: call(headers={**kind, **headers}))

    # -- push
    async def push(self, item: PushItem) -> None:
        await super().push(_whole(item))

    async def delete(self, target: RemoteTarget) -> None:
        await super().delete(RemoteTarget(target.remote_key))

    async def exists(self, target: RemoteTarget) -> bool:
        return await super().exists(RemoteTarget(target.remote_key))

    async def entry(self, key: str) -> SecretBytes | None:
        if not _NAME.fullmatch(key):
            raise _bad_name(key)
        found = (await self._read([key])).get(key)
        return None if found is None else SecretBytes(found.encode())

    def text(self, entry: SecretBytes) -> bytes:
        return entry.raw

    async def store(self, item: PushItem, text: bytes, entry: SecretBytes | None) -> None:
        del entry
        secrets = {item.remote_key: as_text(text, "push it in base64")}
        await self._update("changing", item.remote_key, {"secrets": secrets})

    async def remove(self, key: str) -> None:
        change = {"name": key, "originalName": key, "value": None, "shouldDelete": True}
        await self._update("deleting", key, {"change_requests": [change]})

    async def _update(self, doing: str, name: str, changes: Mapping[str, object]) -> None:
        await self._api.call(UPDATE, body={**self._config, **changes}, doing=doing, name=name)

    # -- probe
    async def probe(self) -> Readiness:
        await self._api.call(PROJECTS, params={"per_page": "1"})
        return "ready"


def _whole(item: PushItem) -> PushItem:
    return PushItem(item.remote_key, "", item.value, item.metadata, item.secret_key, item.source)


def _encoded(values: Mapping[str, str]) -> dict[str, bytes]:
    return {name: value.encode() for name, value in values.items()}


def _bad_name(name: str) -> Malformed:
    return Malformed(
        f"{name!r} cannot be the name of a secret",
        hint="names in Doppler are letters, digits and _ only, by convention in capitals",
    )
