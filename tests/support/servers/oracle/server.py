"""Oracle's vaults as far as they concern secrets, with signed requests, written from the published reference.

https://docs.oracle.com/en-us/iaas/api/#/en/secretretrieval/, https://docs.oracle.com/en-us/iaas/api/#/en/secretmgmt/
"""

import hashlib
import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable
from email.utils import parsedate_to_datetime
from typing import Any, Final

from aiohttp import web
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA256

from tests.support.jwts import pem, private_key
from tests.support.servers.oracle.principals import TENANCY, Principals
from tests.support.servers.rest import Refused, RestServer, body_of

USER: Final = "ocid1.user.oc1..aaaa"
VAULT: Final = "ocid1.vault.oc1..aaaa"
COMPARTMENT: Final = "ocid1.compartment.oc1..aaaa"
KEY: Final = "ocid1.key.oc1..aaaa"
FINGERPRINT: Final = "20:3b:97:13:55:1c"
_TOLERANCE: Final = 300
_CODES: Final = {401: "NotAuthenticated", 403: "NotAllowed", 404: "NotAuthorizedOrNotFound"}


class Oracle(RestServer):
    """One vault, and one user with a key. A page of the list has two secrets."""

    def __init__(self, now: Callable[[], float]) -> None:
        super().__init__()
        self.token = "signed by the user"
        self.key = "oracle-1"
        self.now = now
        self.principals = Principals(now)
        self.secrets: dict[str, dict[str, Any]] = {}
        """Versions, tags and state, by name."""
        self.elsewhere: set[str] = set()
        """Names that are in another compartment of the vault."""

    def key_file(self) -> bytes:
        return pem(private_key(self.key)).encode()

    def add(self, name: str, *versions: bytes, tags: dict[str, str] | None = None) -> None:
        self.secrets[name] = {"versions": [*versions], "tags": tags or {}, "state": "ACTIVE"}

    def routes(self) -> Iterable[web.AbstractRouteDef]:
        secrets = "/20180608/secrets"
        return [
            web.post("/20190301/secretbundles/actions/getByName", self._read),
            web.get(secrets, self._list),
            web.post(secrets, self._create),
            web.put(f"{secrets}/{{id}}", self._update),
            web.post(f"{secrets}/{{id}}/actions/scheduleDeletion", self._delete),
            web.get("/20180608/vaults/{id}", self._vault),
            *self.principals.routes(),
        ]

    def refusal(self, status: int, message: str) -> Refused:
        return Refused(status, {"code": _CODES.get(status, "TooManyRequests"), "message": message})

    def token_of(self, request: web.Request) -> str:
        """What a good signature, of this request and not long ago, stands for."""
        given = dict(re.findall(r'(\w+)="([^"]*)"', request.headers.get("Authorization", "")))
        names = given["headers"].split(" ")
        least = {"date", "(request-target)", "host"}
        if request.method != "GET":
            least |= {"content-length", "content-type", "x-content-sha256"}
        target = f"{request.method.lower()} {request.rel_url.raw_path_qs}"
        lines = [
            f"{name}: {target if name == '(request-target)' else request.headers[name]}" for name in names
        ]
        try:
            public = self.principals.sessions.get(given["keyId"]) or private_key(self.key).public_key()
            public.verify(b64decode(given["signature"]), "\n".join(lines).encode(), PKCS1v15(), SHA256())
        except InvalidSignature:
            return ""
        when = parsedate_to_datetime(request.headers["date"]).timestamp()
        good = least <= set(names) and abs(self.now() - when) < _TOLERANCE and given["version"] == "1"
        known = {f"{TENANCY}/{USER}/{FINGERPRINT}", *self.principals.sessions}
        return self.token if good and given["keyId"] in known else ""

    @property
    def writes(self) -> int:
        return sum(not call.startswith("GET ") and "getByName" not in call for call in self.calls)

    async def _entered(self, request: web.Request, name: str = "") -> dict[str, Any]:
        self.enter(request)
        content = await request.read()
        digest = b64encode(hashlib.sha256(content).digest()).decode()
        if request.method != "GET" and request.headers["x-content-sha256"] != digest:
            raise self.refusal(401, "the content is another one")
        if name in self.refused or request.query.get("vaultId", VAULT) != VAULT:
            raise self.refusal(404, "Authorization failed or requested resource not found.")
        return await body_of(request) if content else {}

    async def _read(self, request: web.Request) -> web.Response:
        name = request.query["secretName"]
        await self._entered(request, name)
        held = self.secrets.get(name)
        if held is None or held["state"] != "ACTIVE":
            raise self.refusal(404, "Authorization failed or requested resource not found.")
        stages = {"CURRENT": held["versions"][-1:], "PREVIOUS": held["versions"][-2:-1]}
        found = stages[request.query.get("stage", "CURRENT")]
        if not found:
            raise self.refusal(404, "Authorization failed or requested resource not found.")
        content = {"contentType": "BASE64", "content": b64encode(found[0]).decode()}
        return web.json_response(
            {"secretId": f"id-{name}", "versionNumber": 1, "secretBundleContent": content}
        )

    async def _vault(self, request: web.Request) -> web.Response:
        self.enter(request)
        if request.match_info["id"] != VAULT:
            raise self.refusal(404, "Authorization failed or requested resource not found.")
        return web.json_response({"id": VAULT, "compartmentId": COMPARTMENT, "lifecycleState": "ACTIVE"})

    async def _list(self, request: web.Request) -> web.Response:
        await self._entered(request)
        if request.query["compartmentId"] != COMPARTMENT:
            raise self.refusal(404, "Authorization failed or requested resource not found.")
        named = request.query.get("name")
        start = int(request.query.get("page", "0"))
        shown = [
            {
                "id": f"id-{name}",
                "secretName": name,
                "lifecycleState": held["state"],
                "freeformTags": held["tags"],
            }
            for name, held in self.secrets.items()
            if named in {None, name} and name not in self.elsewhere
        ]
        headers = {"opc-next-page": str(start + 2)} if start + 2 < len(shown) else {}
        return web.json_response(shown[start : start + 2], headers=headers)

    def _named(self, request: web.Request) -> dict[str, Any]:
        name = request.match_info["id"].removeprefix("id-")
        if name not in self.secrets:
            raise self.refusal(404, "Authorization failed or requested resource not found.")
        return self.secrets[name]

    async def _create(self, request: web.Request) -> web.Response:
        body = await self._entered(request)
        assert (body["compartmentId"], body["keyId"], body["vaultId"]) == (COMPARTMENT, KEY, VAULT)
        if body["secretName"] in self.secrets:
            raise self.refusal(409, "The secret already exists.")
        self.add(body["secretName"], b64decode(body["secretContent"]["content"]))
        return web.json_response({"id": f"id-{body['secretName']}"})

    async def _update(self, request: web.Request) -> web.Response:
        body = await self._entered(request)
        assert body["secretContent"]["contentType"] == "BASE64"
        self._named(request)["versions"].append(b64decode(body["secretContent"]["content"]))
        return web.json_response({})

    async def _delete(self, request: web.Request) -> web.Response:
        await self._entered(request)
        self._named(request)["state"] = "PENDING_DELETION"
        return web.Response(status=200)
