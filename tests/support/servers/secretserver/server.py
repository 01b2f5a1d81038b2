"""Secret Server's REST API for secrets, and the platform's way to it, written from the published reference.

https://docs.delinea.com/online-help/secret-server/api-scripting/, https://github.com/DelineaXPM/tss-sdk-go
"""

from collections.abc import Iterable
from typing import Any, Final
from urllib.parse import parse_qs

from aiohttp import web

from tests.support.servers.rest import Refused, RestServer, body_of

FOLDER: Final = 7
TEMPLATE: Final = 6007
FIELDS: Final = ("value", "user", "password")
"""Of the one template, each with its place as its ID."""


class SecretServer(RestServer):
    """The folder `/shop`, whose ID is 7, and one user. With `platform` it is the vault of a platform."""

    def __init__(self, *, platform: bool = False) -> None:
        super().__init__()
        self.token = "none"
        self.password = "canary-password-1"
        self.platform = platform
        self.secrets: dict[int, dict[str, Any]] = {}
        self.files: dict[str, bytes] = {}
        """Contents by slug."""
        self.logins = 0

    def add(self, name: str, folder: int = FOLDER, **fields: str) -> int:
        """A new secret; its ID."""
        items = [
            {
                "itemId": 10 + number,
                "fieldId": number,
                "fieldName": slug.capitalize(),
                "slug": slug,
                "fieldDescription": "",
                "itemValue": fields.get(slug, ""),
                "fileAttachmentId": None,
                "filename": None,
                "isFile": False,
                "isNotes": False,
                "isPassword": slug == "password",
            }
            for number, slug in enumerate(FIELDS)
        ]
        id_ = 100 + len(self.secrets)
        head = {"id": id_, "name": name, "folderId": folder, "secretTemplateId": TEMPLATE, "siteId": 1}
        self.secrets[id_] = {**head, "active": True, "items": items}
        return id_

    def routes(self) -> Iterable[web.AbstractRouteDef]:
        api = "/api/v1"
        vault = f"/vault{api}" if self.platform else api
        return [
            web.get(f"{vault}/healthcheck", self._health),
            web.post("/oauth2/token", self._log_in),
            web.post("/identity/api/oauth2/token/xpmplatform", self._log_in_to_platform),
            web.get("/vaultbroker/api/vaults", self._vaults),
            web.get("/health", self._health),
            web.get(f"{vault}/secrets", self._search),
            web.post(f"{vault}/secrets", self._create),
            web.get(f"{vault}/secrets/{{id}}", self._read),
            web.put(f"{vault}/secrets/{{id}}", self._update),
            web.delete(f"{vault}/secrets/{{id}}", self._delete),
            web.get(f"{vault}/secrets/{{id}}/fields/{{slug}}", self._file),
            web.get(f"{vault}/secret-templates/{{id}}", self._template),
        ]

    def refusal(self, status: int, message: str) -> Refused:
        return Refused(status, {"message": message})

    def token_of(self, request: web.Request) -> str:
        return request.headers.get("Authorization", "").removeprefix("Bearer ")

    async def _health(self, _request: web.Request) -> web.Response:
        return web.json_response({"Healthy": True, "DatabaseHealthy": True})

    async def _log_in(self, request: web.Request) -> web.Response:
        wanted = {"username": ["shop"], "password": [self.password], "grant_type": ["password"]}
        return self._issued(parse_qs(await request.text()) == {**wanted, "domain": ["corp"]})

    async def _log_in_to_platform(self, request: web.Request) -> web.Response:
        client = {"client_id": ["shop"], "client_secret": [self.password]}
        wanted = {"grant_type": ["client_credentials"], **client, "scope": ["xpmheadless"]}
        return self._issued(parse_qs(await request.text()) == wanted)

    def _issued(self, good: bool) -> web.Response:  # noqa: FBT001  # what it is about
        if not good:
            raise Refused(400, {"error": "Login failed."})
        self.logins += 1
        self.token = f"canary-token-{self.logins}"
        return web.json_response({"access_token": self.token, "token_type": "bearer", "expires_in": 1199})

    async def _vaults(self, request: web.Request) -> web.Response:
        self.enter(request)
        other = {"isDefault": False, "isActive": True, "connection": {"url": "http://x"}}
        default = {"isDefault": True, "isActive": True, "connection": {"url": f"{self.url}/vault"}}
        return web.json_response({"vaults": [other, default]})

    def _secret(self, request: web.Request) -> dict[str, Any]:
        if "secretPath" in request.query:
            name = request.query["secretPath"].replace("\\", "/").removeprefix("/shop/")
            held = [
                each for each in self.secrets.values() if (each["name"], each["folderId"]) == (name, FOLDER)
            ]
        else:
            id_ = request.match_info["id"]
            held = [self.secrets[int(id_)]] if int(id_) in self.secrets else []
        self.enter(request, held[0]["name"] if held else "")
        if not held:
            raise self.refusal(404, "Secret not found")
        return held[0]

    async def _search(self, request: web.Request) -> web.Response:
        self.enter(request)
        wanted = request.query["paging.filter.searchText"]
        records = [
            {"id": each["id"], "name": each["name"], "folderId": each["folderId"]}
            for each in self.secrets.values()
            if each["active"] and each["name"] == wanted
            if request.query.get("paging.filter.folderId", str(each["folderId"])) == str(each["folderId"])
        ]
        skip, take = (
            int(request.query.get(f"paging.{name}", usual)) for name, usual in (("skip", "0"), ("take", "10"))
        )
        return web.json_response({"searchText": wanted, "records": records[skip : skip + take]})

    async def _read(self, request: web.Request) -> web.Response:
        return web.json_response(self._secret(request))

    async def _file(self, request: web.Request) -> web.Response:
        self._secret(request)
        slug = request.match_info["slug"]
        return web.Response(body=self.files.get(slug, f"the file {slug}".encode()))

    async def _create(self, request: web.Request) -> web.Response:
        self.enter(request)
        body = await body_of(request)
        items: list[dict[str, Any]] = body["items"]
        fields = {FIELDS[int(each["fieldId"])]: str(each["itemValue"]) for each in items}
        assert body["secretTemplateId"] == TEMPLATE
        return web.json_response(self.secrets[self.add(body["name"], body["folderId"], **fields)])

    async def _update(self, request: web.Request) -> web.Response:
        held = self._secret(request)
        changed = {each["slug"]: each["itemValue"] for each in (await body_of(request))["items"]}
        for each in held["items"]:
            each["itemValue"] = changed.get(each["slug"], each["itemValue"])
        return web.json_response(held)

    async def _delete(self, request: web.Request) -> web.Response:
        held = self._secret(request)
        held["active"] = False
        return web.json_response({"id": held["id"], "objectType": "Secret"})

    async def _template(self, request: web.Request) -> web.Response:
        self.enter(request)
        fields = [
            {"secretTemplateFieldId": number, "fieldSlugName": slug, "name": slug.capitalize()}
            for number, slug in enumerate(FIELDS)
        ]
        return web.json_response({"id": TEMPLATE, "name": "Shop", "fields": fields})
