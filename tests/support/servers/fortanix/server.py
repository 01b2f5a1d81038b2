"""Fortanix DSM's API as far as it concerns secrets, written from its published reference and client.

https://www.fortanix.com/fortanix-restful-api-references/dsm, https://github.com/fortanix/sdkms-client-go
"""

from base64 import b64encode
from collections.abc import Iterable
from typing import Any

from aiohttp import web

from tests.support.servers.rest import Refused, RestServer, body_of


class Fortanix(RestServer):
    """One group with its objects. The name of an object is its ID, too."""

    def __init__(self) -> None:
        super().__init__()
        self.objects: dict[str, tuple[str, bytes]] = {}
        """Type and value."""
        self.metadata: dict[str, dict[str, str]] = {}

    def routes(self) -> Iterable[web.AbstractRouteDef]:
        return [
            web.get("/crypto/v1/keys", self._list),
            web.post("/crypto/v1/keys/info", self._info),
            web.post("/crypto/v1/keys/export", self._export),
        ]

    def refusal(self, status: int, message: str) -> Refused:
        return Refused(status, message)

    def token_of(self, request: web.Request) -> str:
        return request.headers.get("Authorization", "").removeprefix("Basic ")

    def _object(self, name: str, *, value: bool) -> dict[str, Any]:
        kind, content = self.objects[name]
        held = {"value": b64encode(content).decode()} if value else {}
        shown = {"kid": name, "name": name, "obj_type": kind, "key_ops": ["EXPORT"], "enabled": True}
        return {**shown, "custom_metadata": self.metadata.get(name, {}), **held}

    async def _named(self, request: web.Request) -> str:
        body = await body_of(request)
        name: str = body.get("name") or body["kid"]
        self.enter(request, name)
        if name not in self.objects:
            raise self.refusal(404, "object does not exist")
        return name

    async def _info(self, request: web.Request) -> web.Response:
        name = await self._named(request)
        return web.json_response(self._object(name, value=self.objects[name][0] == "OPAQUE"))

    async def _export(self, request: web.Request) -> web.Response:
        return web.json_response(self._object(await self._named(request), value=True))

    async def _list(self, request: web.Request) -> web.Response:
        self.enter(request)
        start = int(request.query.get("offset", "0"))
        some = list(self.objects)[start : start + int(request.query["limit"])]
        return web.json_response([self._object(name, value=False) for name in some])
