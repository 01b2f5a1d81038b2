"""Bitwarden's SDK server, which calls Bitwarden for its users, written from its published code.

https://github.com/external-secrets/bitwarden-sdk-server, https://github.com/bitwarden/sdk-sm
"""

from collections.abc import Iterable
from typing import Any, Final

import msgspec
from aiohttp import web

from tests.support.servers.rest import Refused, RestServer, body_of

ORGANIZATION: Final = "5688eeb8-24d8-4d4c-aa16-b0b10035a0a5"
PROJECT: Final = "b8a5a1f0-7f60-4d43-9d0c-b0b10035c2d1"
_REASONS: Final = {401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 429: "Too Many Requests"}


class _Told(Refused):
    """Whatever Bitwarden refuses is told in words, with status 400."""

    def response(self) -> web.Response:
        return web.Response(status=400, text=str(self.document), headers=self.headers)


class Bitwarden(RestServer):
    """One organization. Secrets by ID."""

    def __init__(self) -> None:
        super().__init__()
        self.secrets: dict[str, dict[str, Any]] = {}

    def add(self, key: str, value: str, project: str = PROJECT, note: str = "") -> str:
        """A new secret; its ID."""
        id_ = f"f5847eef-2f89-43bc-885a-{len(self.secrets):012d}"
        held = {"id": id_, "key": key, "value": value, "note": note, "projectId": project}
        self.secrets[id_] = {**held, "organizationId": ORGANIZATION}
        return id_

    def routes(self) -> Iterable[web.AbstractRouteDef]:
        base = "/rest/api/1"
        return [
            web.get(f"{base}/secrets", self._list),
            web.get(f"{base}/secrets-by-ids", self._read),
            web.get(f"{base}/secret", self._read_one),
            web.post(f"{base}/secret", self._create),
            web.put(f"{base}/secret", self._update),
            web.delete(f"{base}/secret", self._delete),
        ]

    def refusal(self, status: int, message: str) -> Refused:
        if status == 401:
            return _Told(400, "failed to login to bitwarden using access token: bitwarden login: API error")
        words = f"API error: Received error message from server: [{status} {_REASONS[status]}]"
        return _Told(400, f'failed to get secret: {words} {{"message":"{message}","object":"error"}}')

    def token_of(self, request: web.Request) -> str:
        assert request.headers["Warden-Api-Url"] == "https://api.bitwarden.eu"
        assert request.headers["Warden-Identity-Url"] == "https://identity.bitwarden.eu"
        return request.headers["Warden-Access-Token"]

    @property
    def writes(self) -> int:
        return sum(not call.startswith("GET ") for call in self.calls)

    def _held(self, id_: str) -> dict[str, Any]:
        if id_ not in self.secrets:
            raise self.refusal(404, "Resource not found.")
        if self.secrets[id_]["key"] in self.refused:
            raise self.refusal(403, "no access")
        return self.secrets[id_]

    async def _list(self, request: web.Request) -> web.Response:
        self.enter(request)
        body = await body_of(request)
        if ORGANIZATION not in {body.get("organizationId"), body.get("organizationID")}:
            raise self.refusal(404, "Resource not found.")
        shown = ("id", "key", "organizationId")
        return _json({"data": [{name: each[name] for name in shown} for each in self.secrets.values()]})

    async def _read(self, request: web.Request) -> web.Response:
        self.enter(request)
        body = await body_of(request)
        return _json({"data": [self._held(id_) for id_ in body["ids"]]})

    async def _read_one(self, request: web.Request) -> web.Response:
        self.enter(request)
        return _json(self._held((await body_of(request))["id"]))

    async def _create(self, request: web.Request) -> web.Response:
        self.enter(request)
        body = await body_of(request)
        [project] = body["projectIds"]
        return _json(self.secrets[self.add(body["key"], body["value"], project, body["note"])])

    async def _update(self, request: web.Request) -> web.Response:
        self.enter(request)
        body = await body_of(request)
        [project] = body["projectIds"]
        held = self._held(body["id"])
        held |= {name: body[name] for name in ("key", "value", "note")} | {"projectId": project}
        return _json(held)

    async def _delete(self, request: web.Request) -> web.Response:
        self.enter(request)
        ids = (await body_of(request))["ids"]
        gone = [{"id": id_, "error": None if self.secrets.pop(id_, None) else "not found"} for id_ in ids]
        return _json({"data": gone})


def _json(document: object) -> web.Response:
    """As the SDK server sends JSON: without its media type."""
    return web.Response(body=msgspec.json.encode(document), content_type="text/plain", charset="utf-8")
