"""ngrok's API for vaults and their secrets, written from its published reference and client.

https://ngrok.com/docs/api/resources/vault-secrets/, https://github.com/ngrok/ngrok-api-go
"""

import json
from collections.abc import Iterable
from typing import Any

from aiohttp import web

from tests.support.servers.rest import Refused, RestServer, body_of


class Ngrok(RestServer):
    """One account with two vaults, `other` and `shop`. A value that was written is never shown."""

    def __init__(self) -> None:
        super().__init__()
        self.vaults = {"vault_1": "other", "vault_2": "shop"}
        self.secrets: dict[str, dict[str, Any]] = {}

    def routes(self) -> Iterable[web.AbstractRouteDef]:
        return [
            web.get("/vaults", self._list_vaults),
            web.get("/vaults/{id}", self._vault),
            web.get("/vaults/{id}/secrets", self._list_secrets),
            web.get("/vault_secrets", self._list_secrets),
            web.post("/vault_secrets", self._create),
            web.patch("/vault_secrets/{id}", self._update),
            web.delete("/vault_secrets/{id}", self._delete),
        ]

    def refusal(self, status: int, message: str) -> Refused:
        return Refused(status, {"error_code": f"ERR_NGROK_{status}", "status_code": status, "msg": message})

    def token_of(self, request: web.Request) -> str:
        assert request.headers["ngrok-version"] == "2"
        return request.headers.get("Authorization", "").removeprefix("Bearer ")

    def value_of(self, name: str, vault: str = "vault_2") -> str | None:
        held = [each for each in self.secrets.values() if (each["name"], each["vault_id"]) == (name, vault)]
        return held[0]["value"] if held else None

    async def _list_vaults(self, request: web.Request) -> web.Response:
        return self._page(request, "vaults", [{"id": id_, "name": name} for id_, name in self.vaults.items()])

    async def _vault(self, request: web.Request) -> web.Response:
        self.enter(request)
        id_ = request.match_info["id"]
        return web.json_response({"id": id_, "name": self.vaults[id_]})

    async def _list_secrets(self, request: web.Request) -> web.Response:
        vault = request.match_info.get("id")
        shown = [self._shown(id_) for id_ in self.secrets]
        return self._page(
            request, "secrets", [each for each in shown if vault in {None, each["vault"]["id"]}]
        )

    def _page(self, request: web.Request, what: str, every: list[dict[str, Any]]) -> web.Response:
        """Pages of one, so that there are several."""
        self.enter(request)
        if "filter" in request.query:
            wanted = json.loads(request.query["filter"].removeprefix("obj.name == "))
            every = [each for each in every if each["name"] == wanted]
        start = int(request.query.get("before_id", "0"))
        following = f"{self.url}{request.path}?before_id={start + 1}&limit=1"
        found = every[start : start + 1]
        uri = following if start + 1 < len(every) else None
        return web.json_response({what: found, "uri": "", "next_page_uri": uri})

    def _shown(self, id_: str) -> dict[str, Any]:
        held = self.secrets[id_]
        shown = {name: held[name] for name in ("name", "description", "metadata")}
        return {"id": id_, **shown, "vault": {"id": held["vault_id"], "uri": ""}}

    def _held(self, request: web.Request) -> str:
        self.enter(request)
        id_ = request.match_info["id"]
        if id_ not in self.secrets:
            raise self.refusal(404, "the secret does not exist")
        return id_

    async def _create(self, request: web.Request) -> web.Response:
        self.enter(request)
        body = await body_of(request)
        id_ = f"secret_{len(self.secrets) + 1}"
        self.secrets[id_] = body
        return web.json_response(self._shown(id_), status=201)

    async def _update(self, request: web.Request) -> web.Response:
        id_ = self._held(request)
        self.secrets[id_] |= await body_of(request)
        return web.json_response(self._shown(id_))

    async def _delete(self, request: web.Request) -> web.Response:
        del self.secrets[self._held(request)]
        return web.Response(status=204)
