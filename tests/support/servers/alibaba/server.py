"""Alibaba Cloud's Key Management Service as far as it concerns secrets, and its STS, from the reference.

https://www.alibabacloud.com/help/en/kms/developer-reference/, with three signatures: version 3, that of the
vendor's newer clients (4), and that of RPC calls with everything in the query, which the operator uses.
"""

import hmac
from base64 import b64encode
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from typing import Final
from urllib.parse import quote, urlencode

from aiohttp import web

from syncret.config.fields import Json
from tests.support.servers.rest import Refused, RestServer

ROLE: Final = "acs:ram::1000000000000000:role/shop"
ISSUER: Final = "acs:ram::1000000000000000:oidc-provider/ack-rrsa-c1"
_CODES: Final = {401: "SignatureDoesNotMatch", 403: "Forbidden.NoPermission", 429: "Rejected.Throttling"}
_READS: Final = ("GetSecretValue", "DescribeSecret", "ListSecrets")
_TOLERANCE: Final = 900
_MOST_VERSIONS: Final = 10


def canonical(query: Iterable[tuple[str, str]]) -> str:
    """Parameters as both signatures have them."""
    return urlencode(sorted(query), quote_via=quote, safe="~")


@dataclass
class Held:
    """A secret: its versions by ID, oldest first, and its tags."""

    versions: dict[str, str]
    tags: dict[str, str] = field(default_factory=dict[str, str])
    planned: str = ""
    """When it is deleted."""
    place: tuple[str, str] = ("", "")
    """The instance and the key."""


class Kms(RestServer):
    """One region, whose requests must be signed with the one key; and the service that gives it to a role."""

    def __init__(self, now: Callable[[], float]) -> None:
        super().__init__()
        self.now = now
        self.key_id = "LTAI-example"
        self.session = ""
        """The token of a temporary key."""
        self.oidc = "jwt-of-pod"
        self.secrets: dict[str, Held] = {}
        self.actions: list[str] = []
        self._nonces: set[str] = set()

    def add(self, name: str, *versions: str, tags: dict[str, str] | None = None) -> None:
        held = self.secrets.setdefault(name, Held({}, tags or {}))
        for value in versions:
            held.versions[f"v{len(held.versions) + 1}"] = value

    def routes(self) -> Iterable[web.AbstractRouteDef]:
        return [web.post("/", self._call), web.get("/", self._call)]

    def refusal(self, status: int, message: str) -> Refused:
        code = _CODES.get(status, message)
        document: Json = {"HttpStatus": status, "Code": code, "Message": message, "RequestId": "r"}
        return Refused(400 if status == 401 else status, document)

    def token_of(self, request: web.Request) -> str:
        """What a good signature, of this request and not long ago, stands for."""
        is_rpc = "Signature" in request.query
        good = self._is_signed_in_query(request) if is_rpc else self._is_signed_in_headers(request)
        given = request.query if is_rpc else request.headers
        moment, nonce = ("Timestamp", "SignatureNonce") if is_rpc else ("x-acs-date", "x-acs-signature-nonce")
        fresh = self._is_recent(given[moment]) and given[nonce] not in self._nonces
        self._nonces.add(given[nonce])
        return self.token if good and fresh else ""

    def _is_recent(self, moment: str) -> bool:
        when = datetime.strptime(moment, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC).timestamp()
        return abs(self.now() - when) < _TOLERANCE

    def _is_signed_in_headers(self, request: web.Request) -> bool:
        scheme, _, rest = request.headers["Authorization"].partition(" ")
        given = dict(part.split("=", 1) for part in rest.split(","))
        names = given["SignedHeaders"].split(";")
        required = {name.lower() for name in request.headers if name.lower().startswith("x-acs-")} | {"host"}
        lines = "".join(f"{name}:{request.headers[name]}\n" for name in names)
        digest = request.headers["x-acs-content-sha256"]
        parts = [request.method, "/", canonical(request.query.items()), lines, ";".join(names), digest]
        text = "\n".join([scheme, sha256("\n".join(parts).encode()).hexdigest()])
        id_, *scope = given["Credential"].split("/")
        key = self.token.encode()
        if scheme == "ACS4-HMAC-SHA256":  # with a key for the day, the region and the product
            key = b"aliyun_v4" + key
            for part in scope:
                key = hmac.digest(key, part.encode(), "sha256")
        good = scheme in {"ACS3-HMAC-SHA256", "ACS4-HMAC-SHA256"} and id_ == self.key_id
        good = good and names == sorted(names) and required <= set(names)
        good = good and request.headers.get("x-acs-security-token", "") == self.session
        return good and hmac.compare_digest(
            given["Signature"], hmac.digest(key, text.encode(), "sha256").hex()
        )

    def _is_signed_in_query(self, request: web.Request) -> bool:
        given = dict(request.query)
        signature = given.pop("Signature")
        text = f"{request.method}&%2F&{quote(canonical(given.items()), safe='~')}"
        wanted = b64encode(hmac.digest(f"{self.token}&".encode(), text.encode(), "sha1")).decode()
        good = given["AccessKeyId"] == self.key_id and given.get("SecurityToken", "") == self.session
        return good and given["SignatureMethod"] == "HMAC-SHA1" and hmac.compare_digest(signature, wanted)

    @property
    def writes(self) -> int:
        return sum(action not in _READS for action in self.actions)

    async def _call(self, request: web.Request) -> web.Response:
        action = request.query.get("Action") or request.headers["x-acs-action"]
        if action == "AssumeRoleWithOIDC":
            return await self._assume(request)
        assert (request.query.get("Version") or request.headers["x-acs-version"]) == "2016-01-20"
        asked = dict(request.query)
        if sha256(await request.read()).hexdigest() != request.headers.get(
            "x-acs-content-sha256", sha256(b"").hexdigest()
        ):
            raise self.refusal(401, "the content is another one")
        self.enter(request, asked.get("SecretName", ""))
        self.actions.append(action)
        done: dict[str, Callable[[dict[str, str]], dict[str, Json]]] = {
            "GetSecretValue": self._read,
            "DescribeSecret": self._describe,
            "ListSecrets": self._list,
            "CreateSecret": self._create,
            "PutSecretValue": self._put,
            "DeleteSecret": self._delete,
        }
        return web.json_response({"RequestId": "r", **done[action](asked)})

    async def _assume(self, request: web.Request) -> web.Response:
        assert (request.query["Version"], request.query["Format"]) == ("2015-04-01", "JSON")
        if "Timestamp" not in request.query:  # without a signature, too
            raise self.refusal(400, "MissingTimestamp")
        if not self._is_recent(request.query["Timestamp"]):
            raise self.refusal(400, "InvalidTimeStamp.Expired")
        form = await request.post()
        if (form["RoleArn"], form["OIDCProviderArn"]) != (ROLE, ISSUER):
            raise self.refusal(404, "EntityNotExist.Role")
        if form["OIDCToken"] != self.oidc:
            raise self.refusal(400, "AuthenticationFail.OIDCToken.Expired")
        assert form["RoleSessionName"]
        assert 900 <= int(str(form["DurationSeconds"])) <= 43200
        key = {"AccessKeyId": self.key_id, "AccessKeySecret": self.token, "SecurityToken": self.session}
        return web.json_response({"Credentials": {**key, "Expiration": "2033-01-01T00:00:00Z"}})

    def _held(self, asked: dict[str, str]) -> Held:
        if asked["SecretName"] not in self.secrets:
            raise self.refusal(404, "Forbidden.ResourceNotFound")
        return self.secrets[asked["SecretName"]]

    def _usable(self, asked: dict[str, str]) -> Held:
        held = self._held(asked)
        if held.planned:
            raise self.refusal(409, "Rejected.Unavailable")
        return held

    def _read(self, asked: dict[str, str]) -> dict[str, Json]:
        versions = self._usable(asked).versions
        version = asked.get("VersionId") or list(versions)[-1]
        if version not in versions:
            raise self.refusal(404, "Forbidden.ResourceNotFound")
        return {"SecretData": versions[version], "SecretDataType": "text", "VersionId": version}

    def _described(self, name: str, *, tags: bool) -> dict[str, Json]:
        held = self.secrets[name]
        planned: dict[str, Json] = {"PlannedDeleteTime": held.planned} if held.planned else {}
        shown: list[Json] = [{"TagKey": key, "TagValue": value} for key, value in held.tags.items()]
        return {"SecretName": name, **planned, **({"Tags": {"Tag": shown}} if tags else {})}

    def _describe(self, asked: dict[str, str]) -> dict[str, Json]:
        self._held(asked)
        return self._described(asked["SecretName"], tags=asked.get("FetchTags") == "true")

    def _list(self, asked: dict[str, str]) -> dict[str, Json]:
        size, number = int(asked.get("PageSize", 10)), int(asked.get("PageNumber", 1))
        assert 1 <= size <= 100
        names = list(self.secrets)[(number - 1) * size : number * size]
        shown: list[Json] = [self._described(name, tags=asked.get("FetchTags") == "true") for name in names]
        return {"SecretList": {"Secret": shown}, "PageNumber": number, "TotalCount": len(self.secrets)}

    def _create(self, asked: dict[str, str]) -> dict[str, Json]:
        if asked["SecretName"] in self.secrets:
            raise self.refusal(409, "Rejected.ResourceExist")
        place = asked.get("DKMSInstanceId", ""), asked.get("EncryptionKeyId", "")
        self.secrets[asked["SecretName"]] = Held({asked["VersionId"]: asked["SecretData"]}, place=place)
        return {"SecretName": asked["SecretName"]}

    def _put(self, asked: dict[str, str]) -> dict[str, Json]:
        versions = self._usable(asked).versions
        if versions.get(asked["VersionId"], asked["SecretData"]) != asked["SecretData"]:
            raise self.refusal(409, "Rejected.ResourceExist")
        versions.setdefault(asked["VersionId"], asked["SecretData"])
        if len(versions) > _MOST_VERSIONS:
            del versions[next(iter(versions))]
        return {"SecretName": asked["SecretName"]}

    def _delete(self, asked: dict[str, str]) -> dict[str, Json]:
        assert 7 <= int(asked["RecoveryWindowInDays"]) <= 30
        self._usable(asked).planned = "2033-01-01T00:00:00Z"
        return {"SecretName": asked["SecretName"]}
