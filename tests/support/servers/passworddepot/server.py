"""Password Depot's REST API as far as it concerns reading, as the operator's provider calls it."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from aiohttp import web

from tests.support.servers.rest import Refused, RestServer


class PasswordDepot(RestServer):
    """One user, the databases `archive` and `shop`, and in the latter folders and entries."""

    def __init__(self) -> None:
        super().__init__()
        self.token = ""
        self.password = "canary-password-1"
        self.logins = 0
        self.databases = {"archive": "db-1", "shop": "db-2"}
        self.nodes: dict[str, dict[str, Any]] = {}
        """Folders and entries by their fingerprints; each knows in which folder it is."""

    def add(self, name: str, folder: str = "", **fields: str) -> str:
        """A new folder or entry; its fingerprint."""
        id_ = str(UUID(int=len(self.nodes) + 1))
        self.nodes[id_] = {"name": name, "fingerprint": id_, "folder": folder, "importance": "1", **fields}
        return id_

    def routes(self) -> Iterable[web.AbstractRouteDef]:
        return [
            web.get("/v1.0/login", self._log_in),
            web.get("/v1.0/list", self._list),
            web.get("/v1.0/read", self._read),
        ]

    def refusal(self, status: int, message: str) -> Refused:
        return Refused(status, {"error": message})

    def token_of(self, request: web.Request) -> str:
        return request.headers.get("access_token", "") if request.headers.get("client_id") == "7" else ""

    async def _log_in(self, request: web.Request) -> web.Response:
        if (request.headers.get("user"), request.headers.get("pass")) != ("ada", self.password):
            raise self.refusal(401, "refused")
        self.logins += 1
        self.token = f"canary-token-{self.logins}"
        return web.json_response({"client_id": "7", "access_token": self.token})

    async def _list(self, request: web.Request) -> web.Response:
        self.enter(request)
        if "db" not in request.query:
            databases = [{"name": name, "fingerprint": id_} for name, id_ in self.databases.items()]
            return web.json_response({"databases": databases, "policyforce": "0"})
        folder = request.query.get("folder", "")
        if request.query["db"] != self.databases["shop"]:
            raise self.refusal(403, "no access")
        shown = ("name", "fingerprint", "importance")
        held = [each for each in self.nodes.values() if each["folder"] == folder]
        entries = [{name: each[name] for name in shown} for each in held]
        return web.json_response({"name": "shop", "parent": folder, "entries": entries})

    async def _read(self, request: web.Request) -> web.Response:
        found = self.nodes[request.query["entry"]]
        self.enter(request, found["name"])
        return web.json_response({name: each for name, each in found.items() if name != "folder"})
