"""Secret Manager's REST API, as far as this provider uses it."""

import re
from base64 import b64decode, b64encode
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from functools import partial
from typing import Any, Final

import msgspec

from syncret.providers.contract import Paced
from syncret.providers.errors import Malformed
from syncret.providers.kit.batching import unpaced
from syncret.providers.kit.google.errors import ELSEWHERE
from syncret.providers.kit.http import Answer, segments
from syncret.providers.kit.paging import Page, pages
from syncret.providers.kit.rest.api import Api as RestApi
from syncret.providers.kit.rest.endpoints import Endpoint, literal
from syncret.providers.values import SecretBytes

_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,255}")
_PAGE: Final = "1000"
_VERSIONS: Final = "100"
"""The most versions on a page; the newest one that is enabled is mostly among the first."""


class _Topic(msgspec.Struct):
    name: str


class Secret(msgspec.Struct):
    """A secret without its versions."""

    name: str
    etag: str = ""
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    topics: list[_Topic] = []

    @property
    def id(self) -> str:
        """The name without project and location."""
        return self.name.rpartition("/")[2]


class _Payload(msgspec.Struct):
    data: str = ""


class _Accessed(msgspec.Struct):
    payload: _Payload = msgspec.field(default_factory=_Payload)


class _Page(msgspec.Struct, rename="camel"):
    secrets: list[Secret] = []
    versions: list[Secret] = []
    next_page_token: str = ""


class Api:
    """The secrets of one project, global or of one location; None if there is no such secret.

    Raises Unusable for a version that is disabled or destroyed.
    """

    def __init__(self, rest: RestApi, project: str, location: str = "") -> None:
        self._rest = rest
        place = ("locations", location) if location else ()
        self._parent = f"/v1/{segments('projects', project, *place)}/secrets"
        self._project = project

    async def get(self, name: str) -> Secret | None:
        """One secret without its value."""
        reading = self._endpoint("GET", self._path(name), f"reading the metadata of {name}")
        answer = await self._rest.look_up(reading)
        return None if answer is None else answer.decode(Secret)

    async def access(self, name: str, version: str) -> SecretBytes | None:
        """The payload of one version: a number, an alias, or `latest`."""
        path = f"{self._path(name)}/versions/{segments(version)}:access"
        answer = await self._rest.look_up(self._endpoint("GET", path, f"reading {name}"))
        return None if answer is None else _payload(answer)

    async def newest_enabled(self, name: str) -> str | None:
        """The number of the newest version that is enabled."""
        params = {"filter": "state:ENABLED", "pageSize": _VERSIONS}
        versions = self._list(f"{self._path(name)}/versions", params, f"listing the versions of {name}")
        async with aclosing(versions):  # Google filters after paging: the first page may be empty
            async for version in versions:
                return version.id
        return None

    def list(self, wanted: str, paced: Paced) -> AsyncGenerator[Secret, None]:
        """The secrets that match a filter expression; all for an empty one."""
        params = {"pageSize": _PAGE}
        if wanted:
            params["filter"] = wanted
        return self._list(self._parent, params, "listing secrets", paced)

    async def create(self, name: str, fields: Mapping[str, Any]) -> None:
        """Create a secret without a version."""
        self._path(name)
        creating = self._endpoint("POST", self._parent, f"creating {name}")
        if await self._rest.look_up(creating, params={"secretId": name}, body=fields) is None:
            raise _no_parent(creating.doing)

    async def change(self, secret: Secret, fields: Mapping[str, Any]) -> None:
        """Replace these fields. Raises Conflict if the secret was changed meanwhile."""
        changing = self._endpoint("PATCH", self._path(secret.id), f"changing the metadata of {secret.id}")
        params = {"updateMask": ",".join(fields)}
        if await self._rest.look_up(changing, params=params, body={**fields, "etag": secret.etag}) is None:
            raise Malformed(f"{changing.doing}: it was deleted meanwhile")

    async def add(self, name: str, value: bytes) -> None:
        """Add a version, which becomes the latest. Google accepts 1 to 65,536 bytes."""
        adding = self._endpoint("POST", f"{self._path(name)}:addVersion", f"adding a version to {name}")
        body = {"payload": {"data": b64encode(value).decode()}}
        if await self._rest.look_up(adding, body=body) is None:
            raise Malformed(f"{adding.doing}: it was deleted meanwhile")

    async def delete(self, secret: Secret) -> None:
        """Delete the secret; a missing one is no error. Raises Conflict if it was changed meanwhile."""
        deleting = self._endpoint("DELETE", self._path(secret.id), f"deleting {secret.id}")
        await self._rest.look_up(deleting, params={"etag": secret.etag} if secret.etag else None)

    def _list(
        self, path: str, params: Mapping[str, str], doing: str, paced: Paced = unpaced
    ) -> AsyncGenerator[Secret, None]:
        return pages(partial(self._list_page, path, params, doing), paced, doing=doing)

    async def _list_page(self, path: str, params: Mapping[str, str], doing: str, token: str) -> Page[Secret]:
        wanted = {**params, "pageToken": token} if token else params
        answer = await self._rest.look_up(self._endpoint("GET", path, doing), params=wanted)
        if answer is None and path == self._parent:
            raise _no_parent(doing)
        page = _Page() if answer is None else answer.decode(_Page)
        return Page(page.secrets or page.versions, page.next_page_token)

    def _path(self, name: str) -> str:
        if not _ID.fullmatch(name):
            raise Malformed(
                f"{name!r} cannot be the name of a secret",
                hint="letters, digits, - and _ only: project and location stand in the store",
            )
        return f"{self._parent}/{name}"

    def _endpoint(self, method: str, path: str, doing: str) -> Endpoint:
        """An endpoint at a path that is quoted already."""
        role = "roles/secretmanager.secretAccessor" if method == "GET" else "roles/secretmanager.admin"
        grant = f"grant the account {role} (listing: secretmanager.viewer) in project {self._project}"
        return Endpoint(method, literal(path), literal(doing), f"{grant} (does it exist?)")

    async def check_login(self) -> None:
        """Log in if needed. Raises SyncError if that fails."""
        await self._rest.check_login()

    def __repr__(self) -> str:
        return f"<Api {self._parent}>"


def _no_parent(doing: str) -> Malformed:
    return Malformed(f"{doing}: there is no such project or location", hint="check projectID and location")


def _payload(answer: Answer) -> SecretBytes:
    data = answer.decode(_Accessed).payload.data
    try:
        return SecretBytes(b64decode(data, validate=True))
    except ValueError:
        pass
    raise Malformed(f"{answer.doing}: the payload is not base64", hint=ELSEWHERE)
