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

from syncret.config.fields import Json
from tests.support.jwts import BadToken, pem, private_key, verified
from tests.support.servers.rest import Refused, RestServer, body_of

FOLDER: Final = "b1g0example"
AUDIENCE: Final = "https://iam.api.cloud.yandex.net/iam/v1/tokens"
_CODES: Final = {400: 3, 401: 16, 403: 7, 404: 5, 429: 8}
_SERVICES: Final = (
    "endpoint",
    "iam",
    "lockbox",
    "lockbox-payload",
    "certificate-manager",
    "certificate-manager-data",
)


class Yandex(RestServer):
    """One folder, and one service account with its keys. Versions have the IDs v1, v2 and so on.

    The ID of a secret or certificate is its name.
    """

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
        self.statuses: dict[str, str] = {}
        """Of secrets and certificates that cannot be read now."""
        self.addresses: dict[str, str] = {}
        """Where a service is, by its ID, if not where it was asked for."""
        self.now = now

    def key_file(self) -> bytes:
        """The authorized key, as it is downloaded."""
        text = "PLEASE DO NOT REMOVE THIS LINE! Yandex.Cloud SA Key ID <k>\n" + pem(private_key(self.key))
        return json.dumps({"id": self.key, "service_account_id": "aje0", "private_key": text}).encode()

    def routes(self) -> Iterable[web.AbstractRouteDef]:
        lockbox, manager = "/lockbox/v1/secrets", "/certificate-manager/v1/certificates"
        return [
            web.get("/endpoints", self._endpoints),
            web.get("/endpoints/{id}", self._endpoint),
            web.post("/iam/v1/tokens", self._log_in),
            web.get(lockbox, self._list_secrets),
            web.get(f"{lockbox}:getEx", self._secret_by_name),
            web.get(f"{lockbox}/{{id}}/payload", self._secret_by_id),
            web.get(manager, self._list_certificates),
            web.get(f"{manager}:getEx", self._certificate_by_name),
            web.get(f"{manager}/{{id}}:getContent", self._certificate_by_id),
        ]

    def metadata(self) -> web.Application:
        """The metadata server of a machine whose service account has the token that is good."""

        async def token(request: web.Request) -> web.Response:
            if request.headers.get("Metadata-Flavor") != "Google":
                raise web.HTTPForbidden
            given = {"access_token": self.token, "expires_in": self.lifetime, "token_type": "Bearer"}
            return web.json_response(given)

        app = web.Application()
        app.router.add_get("/computeMetadata/v1/instance/service-accounts/default/token", token)
        return app

    def refusal(self, status: int, message: str) -> Refused:
        return Refused(status, {"code": _CODES[status], "message": message, "details": []})

    def token_of(self, request: web.Request) -> str:
        return request.headers.get("Authorization", "").removeprefix("Bearer ")

    async def _endpoints(self, request: web.Request) -> web.Response:
        return web.json_response({"endpoints": [self._address(request, each) for each in _SERVICES]})

    async def _endpoint(self, request: web.Request) -> web.Response:
        service = request.match_info["id"]
        if service not in _SERVICES:
            raise self.refusal(404, f"Endpoint {service} not found")
        return web.json_response(self._address(request, service))

    def _address(self, request: web.Request, service: str) -> dict[str, str]:
        return {"id": service, "address": self.addresses.get(service, request.host)}

    async def _log_in(self, request: web.Request) -> web.Response:
        keys = {self.key: private_key(self.key).public_key()}
        try:
            claims = verified((await body_of(request))["jwt"], keys.get, now=self.now())
        except BadToken as error:
            raise self.refusal(401, str(error)) from None
        meant = claims["aud"] in (AUDIENCE, [AUDIENCE])  # the vendor's SDK for Go sends a list
        if claims["iss"] != "aje0" or not meant or claims["exp"] - claims["iat"] > 3600:
            raise self.refusal(400, "The token is invalid")
        self.logins += 1
        self.token = f"t1.canary-token-{self.logins}"
        expires = _stamp(self.now() + self.lifetime)
        return web.json_response({"iamToken": self.token, "expiresAt": expires})

    def _found(
        self, request: web.Request, held: Mapping[str, list[Any]], name: str, what: str
    ) -> tuple[str, Any]:
        """The version that is asked for, and its ID."""
        self.enter(request, name)
        if name not in held:
            raise self.refusal(404, f"{what} {name} not found")
        if name in self.statuses:
            # as gRPC's FAILED_PRECONDITION is told
            raise Refused(400, {"code": 9, "message": f"{what} {name} is not active", "details": []})
        versions = {f"v{number}": each for number, each in enumerate(held[name], 1)}
        version = request.query.get("versionId") or f"v{len(versions)}"
        if version not in versions:
            raise self.refusal(404, f"Version {version} not found")
        return version, versions[version]

    def _name(self, request: web.Request, what: str) -> str:
        """What is asked for: by its ID, or by a folder and a name in it, but not by both."""
        by_id = request.query.get(f"{what}Id")
        folder, name = (request.query.get(f"folderAndName.{field}") for field in ("folderId", f"{what}Name"))
        if by_id and not (folder or name):
            return by_id
        if by_id or not (folder and name):
            raise self.refusal(400, "One of the options must be selected")
        if folder != FOLDER:
            raise self.refusal(403, "Permission denied")
        return name

    async def _secret_by_id(self, request: web.Request) -> web.Response:
        version, found = self._found(request, self.secrets, request.match_info["id"], "Secret")
        entries = [
            {"key": key, "textValue": value}
            if isinstance(value, str)
            else {"key": key, "binaryValue": b64encode(value).decode()}
            for key, value in found.items()
        ]
        return web.json_response({"versionId": version, "entries": entries})

    async def _secret_by_name(self, request: web.Request) -> web.Response:
        name = self._name(request, "secret")
        version, found = self._found(request, self.secrets, name, "Secret")
        entries = {
            key: b64encode(value.encode() if isinstance(value, str) else value).decode()
            for key, value in found.items()
        }
        return web.json_response({"secretId": name, "versionId": version, "entries": entries})

    async def _certificate_by_id(self, request: web.Request) -> web.Response:
        _, content = self._content(request, request.match_info["id"])
        return web.json_response(content)

    async def _certificate_by_name(self, request: web.Request) -> web.Response:
        version, content = self._content(request, self._name(request, "certificate"))
        return web.json_response({**content, "versionId": version})

    def _content(self, request: web.Request, name: str) -> tuple[str, dict[str, Json]]:
        version, (chain, key) = self._found(request, self.certificates, name, "Certificate")
        return version, {"certificateId": name, "certificateChain": chain, "privateKey": key}

    async def _list_secrets(self, request: web.Request) -> web.Response:
        return self._listed(request, "secrets", list(self.secrets))

    async def _list_certificates(self, request: web.Request) -> web.Response:
        return self._listed(request, "certificates", list(self.certificates))

    def _listed(self, request: web.Request, what: str, names: list[str]) -> web.Response:
        """Pages of two, so that there are several."""
        self.enter(request)
        if request.query["folderId"] != FOLDER:
            raise self.refusal(403, "Permission denied")
        start, size = int(request.query.get("pageToken") or 0), int(request.query.get("pageSize") or 100)
        end = start + min(size, 2)
        some = [
            {
                "id": name,
                "folderId": FOLDER,
                "createdAt": _stamp(self.now()),
                "name": name,
                "labels": self.labels.get(name, {}),
                "status": self.statuses.get(name, "ACTIVE" if what == "secrets" else "ISSUED"),
            }
            for name in names[start:end]
        ]
        following = {"nextPageToken": str(end)} if end < len(names) else {}
        return web.json_response({what: some, **following})


def _stamp(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).isoformat().replace("+00:00", "Z")
