"""1Password's own service as far as service accounts need it: sessions, one vault, its items.

It is written after what 1Password's SDK sends and accepts, and after
https://github.com/detunized/password-manager-access: all that matters is encrypted by the client.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from secrets import token_bytes
from typing import Any, Final

from aiohttp import web
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from tests.support.servers.onepassword_service.keys import (
    Exchange,
    Jwe,
    Key,
    KeySet,
    decoded,
    encoded,
    new_id,
    older_proofs,
    signature,
)
from tests.support.servers.rest import Refused, RestServer

EMAIL: Final = "abcdefghijklm@1passwordserviceaccounts.com"
VAULT: Final = "staging"

_KEY_ID: Final = "ABCDEF"
_SECRET_KEY: Final = f"A3-{_KEY_ID}-GHJKLM-NPQRS-TVWXY-Z2345-6789A"
_SERVER: Final = "110"
"""The template of items of the category Server."""
_DOCUMENT: Final = "006"
"""That of documents."""
_TIME: Final = "2026-01-01T00:00:00Z"
_ACCOUNT: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYA"
_ALL: Final = 2**24 - 1
"""Every right to a vault."""

_KEYS: Final = KeySet()
"""Those of the service account; made once, as that takes a while."""


@dataclass
class Stored:
    """An item as the server has it."""

    overview: Jwe
    details: Jwe
    template: str = _SERVER
    version: int = 1


class OnePassword(RestServer):
    """One account with one vault, which one service account may use."""

    def __init__(self) -> None:
        super().__init__()
        self.secret, self.salt = new_id().encode(), b"salt of the account"
        self.unlock = Key("mp")
        self.vault = Key(new_id())
        self.items: dict[str, Stored] = {}
        self.files: dict[str, bytes] = {}
        self.exchanges: dict[str, Exchange] = {}
        self.sessions: dict[str, Key] = {}
        self.version = 1
        self.kind = "U"
        """What the vault is: one that a user made, or `D`, the variables of an environment."""

    # -- what people do
    @property
    def account_token(self) -> str:
        """The token of the service account."""
        user = {
            "method": "SRPg-4096",
            "alg": "PBES2g-HS256",
            "iterations": 650000,
            "salt": encoded(self.salt),
        }
        token = {
            "signInAddress": self.url.removeprefix("https://"),
            "userAuth": user,
            "email": EMAIL,
            "srpX": self.secret.rjust(32, b"x")[-32:].hex(),
            "muk": self.unlock.jwk,
            "secretKey": _SECRET_KEY,
            "throttleSecret": {"seed": "5e" * 32, "uuid": "a" * 26},
            "deviceUuid": "b" * 26,
        }
        return f"ops_{encoded(json.dumps(token).encode())}"

    def add(self, title: str, *tags: str, **fields: str) -> str:
        """A new item with fields; one called `Extra/token` is in the section Extra."""
        parts: dict[str, list[dict[str, str]]] = {"": []}
        for name, text in fields.items():
            section, _, label = name.rpartition("/")
            parts.setdefault(section, []).append(_field(label, text))
        several = [{"name": each.lower(), "title": each, "fields": held} for each, held in parts.items()]
        overview = {"title": title, "ainfo": "", "tags": list(tags)}
        id_ = new_id()
        self.items[id_] = Stored(self.vault.seal(overview), self.vault.seal({"sections": several}))
        return id_

    def attach(self, id_: str, name: str, content: bytes) -> None:
        """Add a file to an item."""
        details = self.vault.open(self.items[id_].details)
        held = {"k": "file", "n": name, "t": name, "v": self._keep(name, content)}
        details["sections"].append({"name": f"of {name}", "title": "", "fields": [held]})
        self.items[id_].details = self.vault.seal(details)

    def add_document(self, title: str, name: str, content: bytes) -> str:
        """A new document, which is a file itself."""
        details: dict[str, Any] = {"documentAttributes": self._keep(name, content), "sections": []}
        id_ = new_id()
        self.items[id_] = Stored(self.vault.seal({"title": title}), self.vault.seal(details), _DOCUMENT)
        return id_

    def _keep(self, name: str, content: bytes) -> dict[str, Any]:
        """Keep a file, encrypted; what its item says of it."""
        id_, key, start = new_id(), Key(new_id()), token_bytes(12)
        self.files[id_] = AESGCM(key.secret).encrypt(start, content, None)
        sizes = {
            "encryptedSize": len(self.files[id_]),
            "unencryptedSize": len(content),
            "fileSize": len(content),
        }
        names = {"fileName": name, "documentId": id_, "fileId": id_}
        keys = {"encryptionKey": key.jwk, "signingKey": "", "integrityHash": "", "nonce": encoded(start)}
        return {**names, **sizes, **keys}

    def fields(self, title: str) -> list[dict[str, str]]:
        """The fields of each item with a title."""
        found = [item for item in self.items.values() if self.vault.open(item.overview)["title"] == title]
        details = [self.vault.open(item.details) for item in found]
        return [
            {
                each["t"]: each.get("v", "")
                for part in held.get("sections", ())
                for each in part.get("fields", ())
            }
            for held in details
        ]

    def tags(self, title: str) -> list[str]:
        """The tags of an item."""
        overviews = (self.vault.open(item.overview) for item in self.items.values())
        return next(each.get("tags", []) for each in overviews if each["title"] == title)

    # -- the API
    def routes(self) -> Iterable[web.AbstractRouteDef]:
        vault = f"/vault/{self.vault.id}"
        return [
            web.post("/api/v3/auth/start", self._start),
            web.post("/api/v2/auth", self._exchange),
            web.post("/api/v2/auth/confirm-key", self._confirm),
            web.post("/api/v2/auth/complete", self._complete),
            web.post("/api/v1/auth", self._older_exchange),
            web.post("/api/v2/auth/verify", self._older_verify),
            web.get("/api/v1/vaults", self._vaults),
            web.get("/api/v2/account/keysets", self._keysets),
            web.get(f"/api/v3{vault}", self._vault),
            web.get("/api/v3/file/{id}", self._file),
            web.get(f"/api/v1{vault}/items/overviews", self._overviews),
            web.get(f"/api/v1{vault}/item/{{id}}", self._item),
            web.post(f"/api/v3{vault}/items/batch", self._batch),
            web.patch(f"/api/v3{vault}/{{version}}/items", self._patch),
        ]

    def application(self, *routes: Iterable[web.AbstractRouteDef]) -> web.Application:
        """Each connection has one request: the SDK keeps its own, and cannot be told to close them."""

        async def close(_request: web.Request, response: web.StreamResponse) -> None:
            response.force_close()
            response.headers["Connection"] = "close"

        app = super().application(*routes)
        app.on_response_prepare.append(close)
        return app

    def refusal(self, status: int, message: str) -> Refused:
        return Refused(status, {"errorCode": status, "errorMessage": message})

    def token_of(self, request: web.Request) -> str:
        return request.headers.get("X-AgileBits-Session-ID", "")

    # -- sessions
    async def _start(self, request: web.Request) -> web.Response:
        asked = await request.json()
        if (asked["email"], asked["skid"]) != (EMAIL, _KEY_ID):
            raise self.refusal(401, "")
        session = new_id().upper()
        self.exchanges[session] = Exchange(b"", 0)
        user = {
            "method": "SRPg-4096",
            "alg": "PBES2g-HS256",
            "iterations": 650000,
            "salt": encoded(self.salt),
        }
        return web.json_response(
            {
                "status": "ok",
                "sessionID": session,
                "accountKeyFormat": "A3",
                "accountKeyUuid": _KEY_ID,
                "userAuth": user,
                "newHost": "",
            }
        )

    async def _exchange(self, request: web.Request) -> web.Response:
        secret = self.secret.rjust(32, b"x")[-32:]
        exchange = Exchange(secret, int((await request.json())["userA"], 16))
        self.exchanges[self.token_of(request)] = exchange
        return web.json_response({"userB": f"{exchange.b:01024x}"})

    async def _confirm(self, request: web.Request) -> web.Response:
        session = self.token_of(request)
        exchange = self.exchanges.pop(session)
        proof = decoded((await request.json())["clientVerifyHash"])
        if proof != exchange.client_proof(EMAIL, _KEY_ID, self.salt):
            raise self.refusal(401, "")
        self.sessions[session] = Key(session, exchange.key)
        return web.json_response({"serverVerifyHash": encoded(exchange.server_proof(proof))})

    async def _complete(self, request: web.Request) -> web.Response:
        await self._entered(request)
        return self._answer(request, {"mfa": None, "accountUuid": _ACCOUNT, "userUuid": _ACCOUNT})

    async def _older_exchange(self, request: web.Request) -> web.Response:
        asked = await request.json()
        session = asked.get("sessionID") or self.token_of(request)
        secret = self.secret.rjust(32, b"x")[-32:]
        exchange = Exchange(secret, int(asked["userA"], 16), session)
        self.sessions[session] = Key(session, exchange.key)
        return web.json_response({"sessionID": session, "userB": f"{exchange.b:01024x}"})

    async def _older_verify(self, request: web.Request) -> web.Response:
        asked = await self._entered(request)
        client, server = older_proofs(_KEY_ID, self.token_of(request))
        if asked["clientVerifyHash"] != client:
            raise self.refusal(401, "")
        about = {"accountUuid": _ACCOUNT, "userUuid": _ACCOUNT}
        return self._answer(request, {**about, "serverVerifyHash": server})

    async def _entered(self, request: web.Request) -> Any:  # noqa: ANN401  # JSON
        """The body of a request, decrypted; its signature is that of the session."""
        session = self.token_of(request)
        key = self.sessions.get(session)
        if key is None:
            raise self.refusal(401, "")
        _, number, given = request.headers["X-AgileBits-MAC"].split("|")
        place = f"{request.host.partition(':')[0]}{request.rel_url.raw_path}?{request.query_string}"
        assert given == signature(key.secret, session, request.method, place, number)
        self.calls.append(f"{request.method} {request.rel_url}")
        body = await request.read()
        return key.open(json.loads(body)) if body else None

    def _answer(self, request: web.Request, value: object) -> web.Response:
        return web.json_response(self.sessions[self.token_of(request)].seal(value))

    # -- vaults
    async def _vaults(self, request: web.Request) -> web.Response:
        await self._entered(request)
        return self._answer(request, [self._about()])

    async def _vault(self, request: web.Request) -> web.Response:
        await self._entered(request)
        return self._answer(request, self._about())

    async def _keysets(self, request: web.Request) -> web.Response:
        await self._entered(request)
        return self._answer(request, {"version": 1, "keysets": [_KEYS.sealed_with(self.unlock, self.salt)]})

    def _about(self) -> dict[str, Any]:
        access = {
            "vaultUuid": self.vault.id,
            "accessorType": "user",
            "accessorUuid": _ACCOUNT,
            "accessVersion": 1,
            "acl": _ALL,
            "leaseTimeout": 0,
            "vaultKeySN": 1,
            "encryptedBy": _KEYS.key.id,
            "encVaultKey": _KEYS.seal(self.vault.jwk),
        }
        return {
            "uuid": self.vault.id,
            "type": self.kind,
            "createdAt": _TIME,
            "updatedAt": _TIME,
            "attrVersion": 1,
            "contentVersion": self.version,
            "encAttrs": self.vault.seal({"name": VAULT, "desc": "", "type": "U"}),
            "activeItemCount": len(self.items),
            "clientAccess": _ALL,
            "access": [access],
            "combinedAccess": access,
        }

    async def _file(self, request: web.Request) -> web.Response:
        await self._entered(request)
        content = self.files[request.match_info["id"]]
        return web.Response(body=content, content_type="application/octet-stream")

    # -- items
    async def _overviews(self, request: web.Request) -> web.Response:
        await self._entered(request)
        listed = [self._shown(id_) for id_ in self.items]
        return self._answer(request, {"contentVersion": self.version, "batchComplete": True, "items": listed})

    async def _item(self, request: web.Request) -> web.Response:
        await self._entered(request)
        id_ = request.match_info["id"]
        if id_ not in self.items:
            raise self.refusal(404, "not found")
        return self._answer(request, {"contentVersion": self.version, "item": self._whole(id_)})

    async def _batch(self, request: web.Request) -> web.Response:
        asked = await self._entered(request)
        found = [self._whole(id_) for id_ in asked["itemUuids"] if id_ in self.items]
        return self._answer(request, {"contentVersion": self.version, "items": found})

    async def _patch(self, request: web.Request) -> web.Response:
        changes = await self._entered(request)
        if request.match_info["version"] != str(self.version):
            raise self.refusal(409, "another version")
        self.version += 1
        for change in changes:
            if change["trashed"] == "N":
                stored = Stored(change["encOverview"], change["encDetails"], change["templateUuid"])
                stored.version = change["itemVersion"] + 1
                self.items[change["uuid"]] = stored
        answered: dict[str, int] = {}
        for change in changes:
            stored = self.items[change["uuid"]]
            answered[change["uuid"]] = stored.version
            if change["trashed"] != "N":
                del self.items[change["uuid"]]
        answer = {"contentVersion": self.version, "updatedItems": answered, "failedItems": {}}
        return self._answer(request, answer)

    def _shown(self, id_: str) -> dict[str, Any]:
        item = self.items[id_]
        return {
            "uuid": id_,
            "templateUuid": item.template,
            "trashed": "N",
            "createdAt": _TIME,
            "updatedAt": _TIME,
            "changerUuid": _ACCOUNT,
            "itemVersion": item.version,
            "encryptedBy": self.vault.id,
            "encOverview": item.overview,
        }

    def _whole(self, id_: str) -> dict[str, Any]:
        return {**self._shown(id_), "encDetails": self.items[id_].details}


def _field(name: str, text: str) -> dict[str, str]:
    return {"k": "concealed", "n": name, "t": name, "v": text}
