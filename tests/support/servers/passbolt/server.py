"""Passbolt's login and list of resources, written from its published reference, client and server.

https://help.passbolt.com/api, https://github.com/passbolt/go-passbolt, https://github.com/passbolt/passbolt_api
"""

import json
from collections.abc import Iterable, Mapping
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

PLAIN: Final = ("name", "username", "uri", "description")
ENCRYPTED: Final = ("metadata", "metadata_key_id", "metadata_key_type")


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
        self.csrf = "canary-csrf-1"
        """What a session must send with each request that is no GET; empty: it cannot be learned."""
        self.logins = 0
        self.ended: list[str] = []
        self.resources: dict[str, dict[str, Any]] = {}
        self.keys: list[dict[str, Any]] = []
        self.shared: pysequoia.Cert
        """The newest of the keys that all accounts share, for metadata."""
        self.share(pysequoia.Tsk.generate("metadata@example.com"))

    def encrypted(self, text: str, to: pysequoia.Cert | None = None) -> str:
        """A message for a key; by default the account's."""
        return pysequoia.encrypt(text.encode(), [to or self.public]).decode()

    def share(self, key: pysequoia.Tsk, passphrase: str = "") -> None:
        """Make this the key for metadata, and share it with the account."""
        self.shared = key.extract_certificate()
        private = {
            "object_type": "PASSBOLT_METADATA_PRIVATE_KEY",
            "domain": "https://passbolt.example.com",
            "fingerprint": self.shared.fingerprint,
            "armored_key": str(key),
            "passphrase": passphrase,
        }
        id_ = id_of(f"key-{len(self.keys)}")
        part = {"metadata_key_id": id_, "user_id": id_of("ada"), "data": self.encrypted(json.dumps(private))}
        about = {"id": id_, "fingerprint": self.shared.fingerprint, "armored_key": str(self.shared)}
        self.keys.append({**about, "expired": None, "deleted": None, "metadata_private_keys": [part]})

    def add_encrypted(
        self, key_type: str, metadata: Mapping[str, Json], secret: Json, kind: str = "v5-default"
    ) -> str:
        """A new resource of version 5, whose metadata are for the shared key or the account's; its ID."""
        id_ = self.add(str(metadata["name"]), secret if isinstance(secret, str) else json.dumps(secret), kind)
        to, key = (
            (self.shared, self.keys[-1]["id"]) if key_type == "shared_key" else (self.public, id_of("gpg"))
        )
        text = json.dumps({"object_type": "PASSBOLT_RESOURCE_METADATA", **metadata})
        held = {name: each for name, each in self.resources[id_].items() if name not in PLAIN}
        about = dict(zip(ENCRYPTED, (self.encrypted(text, to), key, key_type), strict=True))
        self.resources[id_] = {**held, **about}
        return id_

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
            web.post("/auth/logout.json", self._log_out),
            web.get("/users/csrf-token.json", self._csrf),
            web.get("/metadata/keys.json", self._keys),
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
        return answer

    def _answer(self, body: Json, headers: dict[str, str] | None = None) -> web.Response:
        header: Json = {"status": "success", "code": 200}
        return web.json_response({"header": header, "body": body}, headers=headers)

    async def _csrf(self, request: web.Request) -> web.Response:
        """As each GET does, the token is set as a cookie: what is no GET must send both."""
        answer = self._answer(None)
        if "csrfToken" not in request.cookies:
            answer.set_cookie("passbolt_session", self.token_of(request), httponly=True, secure=True)
            answer.set_cookie("csrfToken", self.csrf, httponly=True, secure=True)
        return answer

    async def _log_out(self, request: web.Request) -> web.Response:
        """By POST alone: by GET it is switched off, and there is no such address."""
        given = {request.cookies.get("csrfToken"), request.headers.get("X-CSRF-Token")}
        if not self.csrf or given != {self.csrf}:
            raise self.refusal(403, "Missing or incorrect CSRF cookie type.")
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

    async def _keys(self, request: web.Request) -> web.Response:
        self.enter(request)
        asked = request.query.get("contain[metadata_private_keys]") == "1"
        left_out = "" if asked else "metadata_private_keys"
        return self._answer([{n: each for n, each in key.items() if n != left_out} for key in self.keys])

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
        names = ("id", *PLAIN, *ENCRYPTED, "resource_type_id")
        found = self._held(request)
        return self._answer({name: found[name] for name in names if name in found})

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
