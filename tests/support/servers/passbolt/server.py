"""Passbolt's login and list of resources, written from its published reference and client.

https://help.passbolt.com/api, https://github.com/passbolt/go-passbolt
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote_plus
from uuid import UUID, uuid4

import msgspec
import pysequoia
from aiohttp import web

from syncret.config.fields import Json
from tests.support.servers.rest import Refused, RestServer, body_of

ACCOUNT: Final = (Path(__file__).parent / "account.asc").read_bytes()
"""The private key of the account, which GnuPG made."""
PASSPHRASE: Final = "canary-passphrase-1"


def id_of(name: str) -> str:
    """The ID of the resource that a test calls so."""
    return str(UUID(bytes=name.encode().rjust(16, b"\0")[-16:]))


class Passbolt(RestServer):
    """One account, with what is shared with it."""

    def __init__(self) -> None:
        super().__init__()
        self.token = ""
        self.public = pysequoia.Tsk.from_bytes(ACCOUNT).extract_certificate()
        self.active = True
        self.asked = ""
        """What the account is to send back."""
        self.logins = 0
        self.ended: list[str] = []
        self.resources: dict[str, dict[str, Any]] = {}

    def encrypted(self, text: str) -> str:
        return pysequoia.encrypt(text.encode(), [self.public]).decode()

    def add(self, name: str, secret: str, kind: str = "password-string", **fields: str) -> str:
        """A new resource; its ID."""
        id_ = id_of(name)
        head = {"id": id_, "name": name, "username": None, "uri": None, "description": None, **fields}
        message = {"resource_id": id_, "data": self.encrypted(secret)}
        about = {"resource_type_id": id_of(kind), "resource_type": {"slug": kind}}
        self.resources[id_] = {**head, **about, "secrets": [message]}
        return id_

    def routes(self) -> Iterable[web.AbstractRouteDef]:
        return [
            web.post("/auth/login.json", self._log_in),
            web.get("/auth/logout.json", self._log_out),
            web.get("/auth/is-authenticated.json", self._session),
            web.get("/users/me.json", self._me),
            web.get("/resources.json", self._list),
            web.get("/resources/{id}.json", self._resource),
            web.get("/secrets/resource/{id}.json", self._secret),
            web.get("/resource-types/{id}.json", self._type),
        ]

    def refusal(self, status: int, message: str) -> Refused:
        return Refused(status, {"header": {"status": "error", "message": message, "code": status}})

    def token_of(self, request: web.Request) -> str:
        return request.cookies.get("passbolt_session", "")

    async def _log_in(self, request: web.Request) -> web.Response:
        proof: Any = (await body_of(request))["gpg_auth"]
        if not self.active or proof["keyid"] != self.public.fingerprint:
            raise self.refusal(403, "The authentication failed.")
        given = proof.get("user_token_result")
        if given is None:
            self.asked = self.asked or f"gpgauthv1.3.0|36|{uuid4()}|gpgauthv1.3.0"
            sealed = quote_plus(self.encrypted(self.asked)).replace("+", "\\+")
            headers = {"X-GPGAuth-User-Auth-Token": sealed, "X-GPGAuth-Authenticated": "false"}
            header = {"status": "error", "message": "The authentication failed."}
            return web.json_response({"header": header, "body": None}, headers=headers)
        if given != self.asked:
            raise self.refusal(403, "The authentication failed.")
        self.asked, self.logins = "", self.logins + 1
        self.token = f"canary-session-{self.logins}"
        answer = self._answer({}, {"X-GPGAuth-Authenticated": "true"})
        answer.set_cookie("passbolt_session", self.token, httponly=True)
        answer.set_cookie("csrfToken", "c")
        return answer

    def _answer(self, body: Json, headers: dict[str, str] | None = None) -> web.Response:
        header: Json = {"status": "success", "code": 200}
        return web.json_response({"header": header, "body": body}, headers=headers)

    async def _log_out(self, request: web.Request) -> web.Response:
        self.ended.append(self.token_of(request))
        return self._answer(None)

    async def _session(self, request: web.Request) -> web.Response:
        self.enter(request)
        return self._answer(None)

    async def _list(self, request: web.Request) -> web.Response:
        self.enter(request)
        ids = {value for name, value in request.query.items() if name.startswith("filter[has-id]")}
        held = [each for each in self.resources.values() if each["id"] not in self.refused]
        some = [each for each in held if not ids or each["id"] in ids]
        shown = {"secrets": "contain[secret]", "resource_type": "contain[resource-type]"}
        left_out = {member for member, asked in shown.items() if request.query.get(asked) != "1"}
        listed = [{name: value for name, value in each.items() if name not in left_out} for each in some]
        return web.Response(
            body=msgspec.json.encode({"header": {"status": "success"}, "body": listed}),
            content_type="application/json",
        )

    # -- what Passbolt's own client asks for, one by one
    async def _me(self, request: web.Request) -> web.Response:
        self.enter(request)
        return self._answer({"id": id_of("ada"), "gpgkey": {"armored_key": str(self.public)}})

    def _held(self, request: web.Request) -> dict[str, Any]:
        self.enter(request)
        found = self.resources.get(request.match_info["id"])
        if found is None:
            raise self.refusal(404, "The resource does not exist.")
        return found

    async def _resource(self, request: web.Request) -> web.Response:
        names = ("id", "name", "username", "uri", "description", "resource_type_id")
        found = self._held(request)
        return self._answer({name: found[name] for name in names})

    async def _secret(self, request: web.Request) -> web.Response:
        return self._answer(self._held(request)["secrets"][0])

    async def _type(self, request: web.Request) -> web.Response:
        self.enter(request)
        [slug] = {
            each["resource_type"]["slug"]
            for each in self.resources.values()
            if each["resource_type_id"] == request.match_info["id"]
        }
        return self._answer({"id": request.match_info["id"], "slug": slug})
