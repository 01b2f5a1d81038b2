"""Secret Manager's REST API, as far as this provider uses it."""

import re
from base64 import b64decode, b64encode
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from functools import partial
from typing import Any, Final

import msgspec

from syncret.providers.contract import Paced
from syncret.providers.errors import Malformed, Unavailable
from syncret.providers.kit.auth.logins import ExpiringLogin
from syncret.providers.kit.batching import unpaced
from syncret.providers.kit.google.errors import EXPECTED, error_of
from syncret.providers.kit.google.tokens import Access
from syncret.providers.kit.http import Answer, Http, NoAddress, json_body, segments
from syncret.providers.kit.paging import Page, pages
from syncret.providers.values import SecretBytes

_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,255}")
_PAGE: Final = "1000"


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

    def __init__(self, http: Http, tokens: ExpiringLogin[Access], project: str, location: str = "") -> None:
        self._http = http
        self._tokens = tokens
        place = ("locations", location) if location else ()
        self._parent = f"/v1/{segments('projects', project, *place)}/secrets"
        self._unknown = f"is {location} a location of Google? see DNS, too" if location else "check DNS"
        self._allow = f"in project {project} (does it exist?)"

    async def get(self, name: str) -> Secret | None:
        """One secret without its value."""
        answer = await self._call("GET", self._path(name), doing=f"reading the metadata of {name}")
        return None if answer is None else answer.decode(Secret)

    async def access(self, name: str, version: str) -> SecretBytes | None:
        """The payload of one version: a number, an alias, or `latest`."""
        path = f"{self._path(name)}/versions/{segments(version)}:access"
        answer = await self._call("GET", path, doing=f"reading {name}")
        return None if answer is None else _payload(answer)

    async def newest_enabled(self, name: str) -> str | None:
        """The number of the newest version that is enabled."""
        params = {"filter": "state:ENABLED", "pageSize": "1"}
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
        doing = f"creating {name}"
        if (
            await self._call("POST", self._parent, doing=doing, params={"secretId": name}, body=fields)
            is None
        ):
            raise Malformed(
                f"{doing}: there is no such project or location", hint="check projectID and location"
            )

    async def change(self, secret: Secret, fields: Mapping[str, Any]) -> None:
        """Replace these fields. Raises Conflict if the secret was changed meanwhile."""
        body = {**fields, "etag": secret.etag}
        params = {"updateMask": ",".join(fields)}
        doing = f"changing the metadata of {secret.id}"
        if await self._call("PATCH", self._path(secret.id), doing=doing, params=params, body=body) is None:
            raise Malformed(f"{doing}: it was deleted meanwhile")

    async def add(self, name: str, value: bytes) -> None:
        """Add a version, which becomes the latest. Google accepts 1 to 65,536 bytes."""
        doing = f"adding a version to {name}"
        body = {"payload": {"data": b64encode(value).decode()}}
        if await self._call("POST", f"{self._path(name)}:addVersion", doing=doing, body=body) is None:
            raise Malformed(f"{doing}: it was deleted meanwhile")

    async def delete(self, secret: Secret) -> None:
        """Delete the secret; a missing one is no error. Raises Conflict if it was changed meanwhile."""
        params = {"etag": secret.etag} if secret.etag else None
        await self._call("DELETE", self._path(secret.id), doing=f"deleting {secret.id}", params=params)

    def _list(
        self, path: str, params: Mapping[str, str], doing: str, paced: Paced = unpaced
    ) -> AsyncGenerator[Secret, None]:
        return pages(partial(self._list_page, path, params, doing), paced, doing=doing)

    async def _list_page(self, path: str, params: Mapping[str, str], doing: str, token: str) -> Page[Secret]:
        wanted = {**params, "pageToken": token} if token else params
        answer = await self._call("GET", path, doing=doing, params=wanted)
        page = _Page() if answer is None else answer.decode(_Page)
        return Page(page.secrets or page.versions, page.next_page_token)

    def _path(self, name: str) -> str:
        if not _ID.fullmatch(name):
            raise Malformed(
                f"{name!r} cannot be the name of a secret",
                hint="letters, digits, - and _ only: project and location stand in the store",
            )
        return f"{self._parent}/{name}"

    async def _call(
        self,
        method: str,
        path: str,
        *,
        doing: str,
        params: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> Answer | None:
        """The response; None for "not found"."""
        content = None if body is None else json_body(body)

        async def call(access: Access) -> Answer:
            return await self._http.request(
                method,
                path,
                doing=doing,
                params=params,
                headers=access.headers,
                body=content,
                accept=EXPECTED,
            )

        try:
            answer = await self._tokens.use(call)
        except NoAddress as error:
            raise Unavailable(error.message, hint=self._unknown, problem=error.problem) from None
        if answer.status not in EXPECTED:
            return answer
        role = "roles/secretmanager.secretAccessor" if method == "GET" else "roles/secretmanager.admin"
        refused = error_of(
            answer, allow=f"grant the account {role} (listing: secretmanager.viewer) {self._allow}"
        )
        if refused is not None:
            raise refused
        return None

    async def check_login(self) -> None:
        """Log in if needed. Raises SyncError if that fails."""
        await self._tokens.get()

    def __repr__(self) -> str:
        return f"<Api {self._parent}>"


def _payload(answer: Answer) -> SecretBytes:
    data = answer.decode(_Accessed).payload.data
    try:
        return SecretBytes(b64decode(data, validate=True))
    except ValueError:
        pass
    raise Malformed(
        f"{answer.doing}: the payload is not base64",
        hint="is there a proxy in between, or another server at the endpoint?",
    )
