"""Devolutions Server's public API for credential entries, written from its published client.

https://github.com/Devolutions/go-dvls, https://docs.devolutions.net/server/
"""

from collections.abc import Iterable
from typing import Any, Final
from urllib.parse import parse_qs
from uuid import UUID

from aiohttp import web

from tests.support.servers.rest import Refused, RestServer, body_of

VAULT: Final = "6f0e1d3c-8a6b-4c5d-9e7f-2a3b4c5d6e7f"


class Dvls(RestServer):
    """One application, and the vault `Shop` with its entries by ID."""

    def __init__(self) -> None:
        super().__init__()
        self.token = ""
        self.secret = "canary-secret-1"
        self.entries: dict[str, dict[str, Any]] = {}
        self.logins = 0
        self.vaults = [{"id": "0" * 8, "name": "Other"}, {"id": VAULT, "name": "Shop"}]

    def add(self, name: str, path: str = "", kind: str = "Credential/Default", **data: str) -> str:
        """A new entry; its ID."""
        id_ = str(UUID(int=len(self.entries) + 1))
        type_, _, subtype = kind.rpartition("/")
        head = {"id": id_, "name": name, "path": path, "type": type_ or "Credential", "subType": subtype}
        self.entries[id_] = {**head, "description": "", "tags": ["t"], "data": dict(data)}
        return id_

    def routes(self) -> Iterable[web.AbstractRouteDef]:
        entries = f"/api/v1/vault/{VAULT}/entry"
        return [
            web.post("/api/v1/login", self._log_in),
            web.post("/api/v1/logout", self._log_out),
            web.get("/api/is-logged", self._is_logged),
            web.get("/api/v1/vault", self._vaults),
            web.get(entries, self._list),
            web.post(entries, self._create),
            web.get(f"{entries}/{{id}}", self._read),
            web.put(f"{entries}/{{id}}", self._update),
            web.delete(f"{entries}/{{id}}", self._delete),
        ]

    def refusal(self, status: int, message: str) -> Refused:
        return Refused(status, {"result": 0, "message": message})

    def token_of(self, request: web.Request) -> str:
        return request.headers.get("tokenId", "")

    async def _log_in(self, request: web.Request) -> web.Response:
        form = parse_qs(await request.text())
        if form != {"AppKey": ["shop"], "AppSecret": [self.secret]}:
            raise self.refusal(401, "refused")
        self.logins += 1
        self.token = f"canary-token-{self.logins}"
        return web.json_response({"tokenId": self.token, "result": 1})

    async def _log_out(self, request: web.Request) -> web.Response:
        if self.token_of(request) == self.token:
            self.token = "ended"
        return web.json_response({"result": 1})

    async def _is_logged(self, request: web.Request) -> web.Response:
        return web.json_response(self.token_of(request) == self.token)

    async def _vaults(self, request: web.Request) -> web.Response:
        return self._page(request, self.vaults)

    async def _list(self, request: web.Request) -> web.Response:
        """By name; and by what a path begins with, which need not be a folder."""
        name, path = request.query.get("name"), request.query.get("path", "")
        named = [each for each in self.entries.values() if name in {None, each["name"]}]
        return self._page(request, [{**each, "data": {}} for each in named if each["path"].startswith(path)])

    def _page(self, request: web.Request, every: list[dict[str, Any]]) -> web.Response:
        """Pages of one, whatever is asked for, so that there are several.

        Their number is `pageNumber`, from 1, for go-dvls 0.20.1 and ansible-dvls; go-dvls 0.19.1 sent `page`.
        """
        self.enter(request)
        number = int(request.query.get("pageNumber", "1"))
        counts = {"currentPage": number, "pageSize": 1, "totalCount": len(every), "totalPage": len(every)}
        return web.json_response({"data": every[number - 1 : number], **counts})

    def _entry(self, request: web.Request) -> dict[str, Any]:
        found = self.entries.get(request.match_info["id"])
        self.enter(request, "" if found is None else found["name"])
        if found is None:
            raise self.refusal(404, "not found")
        return found

    async def _read(self, request: web.Request) -> web.Response:
        return web.json_response(self._entry(request))

    async def _create(self, request: web.Request) -> web.Response:
        self.enter(request)
        body = await body_of(request)
        kind = f"{body['type']}/{body['subType']}"
        id_ = self.add(body["name"], body.get("path", ""), kind, **body["data"])
        self.entries[id_].update(tags=body.get("tags") or [], description=body.get("description", ""))
        return web.json_response({"id": id_}, status=201)

    async def _update(self, request: web.Request) -> web.Response:
        """The whole entry: what the body lacks is refused, as nobody knows what becomes of it."""
        entry, body = self._entry(request), await body_of(request)
        if set(body) != {"name", "description", "path", "tags", "data"}:
            raise self.refusal(400, "an entry is updated as a whole")
        entry.update({**body, "tags": body["tags"] or []})
        return web.json_response({"result": 1})

    async def _delete(self, request: web.Request) -> web.Response:
        del self.entries[self._entry(request)["id"]]
        return web.json_response({"result": 1})
