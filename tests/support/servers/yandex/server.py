"""Yandex Cloud's REST API for Lockbox and Certificate Manager, written from its published protocol files.

https://github.com/yandex-cloud/cloudapi (yandex/cloud/lockbox/v1, certificatemanager/v1, iam/v1, endpoint),
https://yandex.cloud/en/docs/iam/operations/iam-token/create-for-sa
"""

import json
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from aiohttp import web

from tests.support.jwts import BadToken, pem, private_key, verified
from tests.support.servers.rest import Refused, RestServer, body_of

FOLDER: Final = "b1g0example"
AUDIENCE: Final = "https://iam.api.cloud.yandex.net/iam/v1/tokens"
_CODES: Final = {400: 3, 401: 16, 403: 7, 404: 5, 429: 8}
_SERVICES: Final = (
    "iam",
    "lockbox",
    "lockbox-payload",
    "certificate-manager",
    "certificate-manager-data",
)


class Yandex(RestServer):
    """One folder, and one service account with its keys. Versions have the IDs v1, v2 and so on."""

    def __init__(self, now: Callable[[], float]) -> None:
        super().__init__()
        self.token = ""
        self.key = "yandex-1"
        """The authorized key that is good."""
        self.logins = 0
        self.lifetime = 12 * 3600
        self.secrets: dict[str, list[dict[str, str | bytes]]] = {}
        self.certificates: dict[str, list[tuple[list[str], str]]] = {}
        self.labels: dict[str, Mapping[str, str]] = {}
        self.now = now

    def key_file(self) -> bytes:
        """The authorized key, as it is downloaded."""
        text = "PLEASE DO NOT REMOVE THIS LINE! Yandex.Cloud SA Key ID <k>\n" + pem(private_key(self.key))
        return json.dumps({"id": self.key, "service_account_id": "aje0", "private_key": text}).encode()

    def routes(self) -> Iterable[web.AbstractRouteDef]:
        lockbox, manager = "/lockbox/v1/secrets", "/certificate-manager/v1/certificates"
        return [
            web.get("/endpoints", self._endpoints),
            web.post("/iam/v1/tokens", self._log_in),
            web.get(lockbox, self._list_secrets),
            web.get(f"{lockbox}:getEx", self._secret_by_name),
            web.get(f"{lockbox}/{{id}}/payload", self._secret_by_id),
            web.get(manager, self._list_certificates),
            web.get(f"{manager}:getEx", self._certificate_by_name),
            web.get(f"{manager}/{{id}}:getContent", self._certificate_by_id),
        ]

    def refusal(self, status: int, message: str) -> Refused:
        return Refused(status, {"code": _CODES[status], "message": message, "details": []})

    def token_of(self, request: web.Request) -> str:
        return request.headers.get("Authorization", "").removeprefix("Bearer ")

    async def _endpoints(self, request: web.Request) -> web.Response:
        return web.json_response({"endpoints": [{"id": each, "address": request.host} for each in _SERVICES]})

    async def _log_in(self, request: web.Request) -> web.Response:
        keys = {self.key: private_key(self.key).public_key()}
        try:
            claims = verified((await body_of(request))["jwt"], keys.get, now=self.now())
        except BadToken as error:
            raise self.refusal(401, str(error)) from None
        if (claims["iss"], claims["aud"]) != ("aje0", AUDIENCE) or claims["exp"] - claims["iat"] > 3600:
            raise self.refusal(400, "The token is invalid")
        self.logins += 1
        self.token = f"t1.canary-token-{self.logins}"
        expires = datetime.fromtimestamp(self.now() + self.lifetime, UTC).isoformat()
        return web.json_response({"iamToken": self.token, "expiresAt": expires.replace("+00:00", "Z")})

    def _found(self, request: web.Request, held: Mapping[str, list[Any]], name: str, what: str) -> Any:  # noqa: ANN401  # of either
        self.enter(request, name)
        if name not in held:
            raise self.refusal(404, f"{what} {name} not found")
        version = request.query.get("versionId", f"v{len(held[name])}")
        number = int(version.removeprefix("v"))
        if number > len(held[name]):
            raise self.refusal(404, f"Version {version} not found")
        return held[name][number - 1]

    def _name(self, request: web.Request, field: str) -> str:
        if request.query["folderAndName.folderId"] != FOLDER:
            raise self.refusal(403, "Permission denied")
        return request.query[f"folderAndName.{field}"]

    async def _secret_by_id(self, request: web.Request) -> web.Response:
        found = self._found(request, self.secrets, request.match_info["id"], "Secret")
        entries = [
            {"key": key, "textValue": value}
            if isinstance(value, str)
            else {"key": key, "binaryValue": b64encode(value).decode()}
            for key, value in found.items()
        ]
        return web.json_response({"versionId": "v", "entries": entries})

    async def _secret_by_name(self, request: web.Request) -> web.Response:
        found = self._found(request, self.secrets, self._name(request, "secretName"), "Secret")
        entries = {
            key: b64encode(value.encode() if isinstance(value, str) else value).decode()
            for key, value in found.items()
        }
        return web.json_response({"secretId": "e6q", "versionId": "v", "entries": entries})

    async def _certificate_by_id(self, request: web.Request) -> web.Response:
        return self._certificate(request, request.match_info["id"])

    async def _certificate_by_name(self, request: web.Request) -> web.Response:
        return self._certificate(request, self._name(request, "certificateName"))

    def _certificate(self, request: web.Request, name: str) -> web.Response:
        chain, key = self._found(request, self.certificates, name, "Certificate")
        return web.json_response({"certificateId": name, "certificateChain": chain, "privateKey": key})

    async def _list_secrets(self, request: web.Request) -> web.Response:
        return self._listed(request, "secrets", list(self.secrets))

    async def _list_certificates(self, request: web.Request) -> web.Response:
        return self._listed(request, "certificates", list(self.certificates))

    def _listed(self, request: web.Request, what: str, names: list[str]) -> web.Response:
        """Pages of two, so that there are several."""
        self.enter(request)
        if request.query["folderId"] != FOLDER:
            raise self.refusal(403, "Permission denied")
        start = int(request.query.get("pageToken") or 0)
        some = [
            {"id": name, "name": name, "labels": self.labels.get(name, {})}
            for name in names[start : start + 2]
        ]
        following = {"nextPageToken": str(start + 2)} if start + 2 < len(names) else {}
        return web.json_response({what: some, **following})
