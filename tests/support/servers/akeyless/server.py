"""Akeyless' API as far as it concerns items, written from the published reference and the vendor's Go client.

https://docs.akeyless.io/reference
"""

from base64 import b64decode
from collections.abc import Iterable
from typing import Any, Final

from aiohttp import web

from tests.support.servers.akeyless.cloud_methods import CloudMethod
from tests.support.servers.rest import Refused, RestServer, body_of

_TOKEN: Final = web.RequestKey("token", str)


class Akeyless(RestServer):
    """One account; the token is a member of each body."""

    def __init__(self) -> None:
        super().__init__()
        self.key = "canary-key-1"
        self.items: dict[str, dict[str, Any]] = {}
        """Type, tags and versions of each, by name."""
        self.logins: list[dict[str, Any]] = []
        self.bypassing: list[str] = []
        """Paths of the calls that a gateway would not answer from its cache."""
        self.jwts: set[str] = set()
        """What the gateway's Kubernetes configuration takes, in base64."""
        self.clouds: dict[str, CloudMethod] = {}
        """The auth methods of clouds, by access ID."""
        self.refusals: list[str] = []
        """Why each login by a cloud was refused."""

    def add(self, name: str, *versions: Any, kind: str = "STATIC_SECRET", tags: Iterable[str] = ()) -> None:  # noqa: ANN401  # JSON
        """Put an item there."""
        self.items[name] = {"type": kind, "tags": list(tags), "versions": list(versions)}

    def routes(self) -> Iterable[web.AbstractRouteDef]:
        return [
            web.post("/", self._unknown),
            web.post("/auth", self._log_in),
            web.post("/describe-item", self._describe),
            web.post("/get-secret-value", self._static),
            web.post("/get-dynamic-secret-value", self._other),
            web.post("/get-rotated-secret-value", self._other),
            web.post("/get-certificate-value", self._other),
            web.post("/list-items", self._list),
            web.post("/create-secret", self._create),
            web.post("/update-secret-val", self._update),
            web.post("/delete-item", self._delete),
        ]

    @property
    def writes(self) -> int:
        words = ("create", "update", "delete")
        return sum(any(word in call for word in words) for call in self.calls)

    def refusal(self, status: int, message: str) -> Refused:
        return Refused(status, {"error": message})

    def token_of(self, request: web.Request) -> str:
        return str(request.get(_TOKEN, ""))

    async def _unknown(self, _request: web.Request) -> web.Response:
        return self.refusal(400, "unknown command").response()

    async def _log_in(self, request: web.Request) -> web.Response:
        body = await body_of(request)
        by_key = (body.get("access-id"), body.get("access-key")) == ("p-1", self.key)
        by_account = body.get("k8s-service-account-token") in self.jwts
        if not by_key and not by_account and not self._is_of_a_cloud(body):
            raise self.refusal(401, "authentication failed")
        self.logins.append(body)
        self.token = f"t-canary-{len(self.logins)}"
        return web.json_response({"token": self.token})

    def _is_of_a_cloud(self, body: dict[str, Any]) -> bool:
        method = self.clouds.get(body["access-id"])
        if method is None or body.get("access-type") != method.kind:
            return False
        refused = method.refusal(b64decode(body["cloud-id"], validate=True))
        if refused:
            self.refusals.append(refused)
        return not refused

    async def _entered(self, request: web.Request) -> dict[str, Any]:
        body = await body_of(request)
        request[_TOKEN] = body.get("token", "")
        self.enter(request)
        if body.get("ignore-cache") == "true":
            self.bypassing.append(request.path)
        for name in self.refused:
            if name in body.get("names", ()) or name == body.get("name"):
                raise self._not_permitted()
        return body

    def _not_permitted(self) -> Refused:
        """As measured by the operator's maintainers (#6753), whether there is such an item or not."""
        problem = "Status 401 Unauthorized, Error: UnauthorizedAccess. Message: unauthorized access"
        return self.refusal(401, f"failed to obtain item description: {problem} for access id p-1")

    def denied(self, _request: web.Request) -> web.StreamResponse:
        return self._not_permitted().response()

    def _item(self, name: str) -> dict[str, Any]:
        if name not in self.items:
            raise self.refusal(404, "the requested item was not found")
        return self.items[name]

    async def _describe(self, request: web.Request) -> web.Response:
        body = await self._entered(request)
        item = self._item(body["name"])
        return web.json_response(self._shown(body["name"], item))

    def _shown(self, name: str, item: dict[str, Any]) -> dict[str, Any]:
        last = len(item["versions"])
        return {"item_name": name, "item_type": item["type"], "item_tags": item["tags"], "last_version": last}

    async def _static(self, request: web.Request) -> web.Response:
        body = await self._entered(request)
        found: dict[str, Any] = {}
        for name in body["names"]:
            item = self._item(name)
            if item["type"] != "STATIC_SECRET":
                raise self.refusal(400, "the item is no static secret")
            number = body.get("version") or len(item["versions"])
            if number > len(item["versions"]):
                raise self.refusal(404, "there is no such version")
            found[name] = item["versions"][number - 1]
        return web.json_response(found)

    async def _other(self, request: web.Request) -> web.Response:
        body = await self._entered(request)
        return web.json_response(self._item(body.get("name") or body["names"])["versions"][-1])

    async def _list(self, request: web.Request) -> web.Response:
        body = await self._entered(request)
        kinds = {kind.replace("-", "_").upper() for kind in body["type"]}
        found = [
            self._shown(name, item)
            for name, item in sorted(self.items.items())
            if body.get("filter", "") in name
            and item["type"] in kinds
            and (not body.get("tag") or body["tag"] in item["tags"])
        ]
        start = int(body.get("pagination-token") or "0")
        following = str(start + 100) if start + 100 < len(found) else ""
        return web.json_response({"items": found[start : start + 100], "next_page": following})

    async def _create(self, request: web.Request) -> web.Response:
        body = await self._entered(request)
        if body["name"] in self.items:
            raise self.refusal(409, "an item of this name exists")
        self.add(body["name"], body["value"], tags=body.get("tags", ()))
        return web.json_response({"name": body["name"]})

    async def _update(self, request: web.Request) -> web.Response:
        body = await self._entered(request)
        self._item(body["name"])["versions"].append(body["value"])
        return web.json_response({"name": body["name"]})

    async def _delete(self, request: web.Request) -> web.Response:
        body = await self._entered(request)
        self._item(body["name"])
        del self.items[body["name"]]
        return web.json_response({"item_name": body["name"]})
