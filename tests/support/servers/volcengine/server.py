"""Volcengine's key management service as far as it concerns secrets, written from its reference and SDK.

https://www.volcengine.com/docs/6476, https://github.com/volcengine/volcengine-go-sdk
"""

import hmac
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final

from aiohttp import web

from tests.support.servers.rest import Refused, RestServer, body_of

REGION: Final = "cn-beijing"
ROLE: Final = "trn:iam::2100000000:role/shop"
_TOLERANCE: Final = 900


class Volcengine(RestServer):
    """One region, whose requests must be signed with the one key; and the service that gives it to a role."""

    def __init__(self, now: Callable[[], float]) -> None:
        super().__init__()
        self.now = now
        self.key_id = "AKLT-example"
        self.session = ""
        """The token of a temporary key."""
        self.oidc = "jwt-of-daemon"
        self.secrets: dict[str, list[str]] = {}
        """The versions of each, by name; the first one is `v1`."""
        self.deleted: set[str] = set()
        """What waits for its deletion."""
        self.disabled: set[str] = set()
        self.keyless: set[str] = set()
        """Whose key is gone."""
        self.policy = ""
        """What limits the session of a role, as it was last asked for."""

    def routes(self) -> Iterable[web.AbstractRouteDef]:
        return [web.post("/", self._call)]

    def refusal(self, status: int, message: str) -> Refused:
        codes = {
            401: "SignatureDoesNotMatch",
            403: "AccessDenied",
            404: "Not Found",
            429: "FlowLimitExceeded",
        }
        return self.error(400 if status == 401 else status, codes[status], message)

    def error(self, status: int, code: str, message: str = "") -> Refused:
        """An error with a code."""
        error = {"Code": code, "Message": message}
        return Refused(status, {"ResponseMetadata": {"RequestId": "r", "Error": error}})

    def token_of(self, request: web.Request) -> str:
        """What a good signature, of this request and not long ago, stands for."""
        moment = request.headers["X-Date"]
        when = datetime.strptime(moment, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC).timestamp()
        scheme, _, rest = request.headers["Authorization"].partition(" ")
        given = dict(part.split("=", 1) for part in rest.split(", "))
        scope = f"{moment[:8]}/{REGION}/kms/request"
        names = given["SignedHeaders"].split(";")
        lines = "".join(f"{name}:{request.headers[name]}\n" for name in names)
        digest = request.headers["X-Content-Sha256"]
        query = "&".join(sorted(request.rel_url.raw_query_string.split("&")))
        parts = ["POST", "/", query, lines, given["SignedHeaders"], digest]
        text = "\n".join([scheme, moment, scope, sha256("\n".join(parts).encode()).hexdigest()])
        key = self.token.encode()
        for part in scope.split("/"):
            key = hmac.digest(key, part.encode(), "sha256")
        good = hmac.compare_digest(given["Signature"], hmac.digest(key, text.encode(), "sha256").hex())
        good = good and given["Credential"] == f"{self.key_id}/{scope}" and scheme == "HMAC-SHA256"
        good = good and {"content-type", "host", "x-content-sha256", "x-date"} <= set(names)
        good = good and request.headers.get("X-Security-Token", "") == self.session
        return self.token if good and abs(self.now() - when) < _TOLERANCE else ""

    @property
    def writes(self) -> int:
        reads = ("GetSecretValue", "DescribeSecret", "AssumeRoleWithOIDC")
        return sum(not any(read in call for read in reads) for call in self.calls)

    async def _call(self, request: web.Request) -> web.Response:
        action = request.query["Action"]
        if action == "AssumeRoleWithOIDC":
            return await self._assume(request)
        assert request.query["Version"] == "2021-02-18"
        body: dict[str, Any] = await body_of(request)
        self.enter(request, body.get("SecretName", ""))
        if sha256(await request.read()).hexdigest() != request.headers["X-Content-Sha256"]:
            raise self.refusal(401, "the content is another one")
        done: dict[str, Callable[[dict[str, Any]], object]] = {
            "GetSecretValue": self._read,
            "DescribeSecret": self._describe,
            "DescribeSecrets": self._list,
            "CreateSecret": self._create,
            "SetSecretValue": self._update,
            "ScheduleSecretDeletion": self._delete,
        }
        return web.json_response({"ResponseMetadata": {"Action": action}, "Result": done[action](body)})

    async def _assume(self, request: web.Request) -> web.Response:
        form = await request.post()
        if (form["RoleTrn"], form["OIDCToken"]) != (ROLE, self.oidc):
            raise self.refusal(403, "AccessDenied")
        self.policy = str(form.get("Policy", ""))
        key = {"AccessKeyId": self.key_id, "SecretAccessKey": self.token, "SessionToken": self.session}
        given = {**key, "ExpiredTime": "2033-01-01T00:00:00Z"}
        return web.json_response({"ResponseMetadata": {}, "Result": {"Credentials": given}})

    def _held(self, body: dict[str, Any], *, in_any_state: bool = False) -> list[str]:
        name = body["SecretName"]
        if name not in self.secrets:
            raise self.refusal(404, f"Not found secret [{name}].")
        state = self._shown(name)["SecretState"]
        if state != "Enable" and not in_any_state:
            message = f"The secret status [{state}] does not allow to perform this action."
            raise self.error(400, "InvalidSecretStatus", message)
        return self.secrets[name]

    def _shown(self, name: str) -> dict[str, str]:
        if name in self.deleted:
            return {"SecretName": name, "SecretState": "PendingDelete", "ScheduleDeleteTime": "1"}
        return {"SecretName": name, "SecretState": "Disable" if name in self.disabled else "Enable"}

    def _read(self, body: dict[str, Any]) -> object:
        if body["SecretName"] in self.keyless:
            raise self.refusal(404, "Not found key [0f3c].")
        held = self._held(body)
        version = body.get("VersionID", f"v{len(held)}")
        named = {f"v{number}": value for number, value in enumerate(held, 1)}
        if version not in named:
            raise self.refusal(404, f"Not found secret version [{version}].")
        return {"SecretValue": named[version], "VersionID": version, "VersionStage": "Current"}

    def _describe(self, body: dict[str, Any]) -> object:
        self._held(body, in_any_state=True)
        return {"Secret": self._shown(body["SecretName"])}

    def _list(self, body: dict[str, Any]) -> object:
        size, number = body["PageSize"], body["CurrentPage"]
        shown = [self._shown(name) for name in self.secrets]
        return {"Secrets": shown[(number - 1) * size : number * size], "PageInfo": {"TotalCount": len(shown)}}

    def _create(self, body: dict[str, Any]) -> object:
        """A name is in use until its secret is gone; the code that says so is not published."""
        assert body["SecretType"] == "Generic"
        if body["SecretName"] in self.secrets:
            raise self.error(400, "NameInUse")
        self.secrets[body["SecretName"]] = [body["SecretValue"]]
        return {"Secret": {"SecretName": body["SecretName"]}}

    def _update(self, body: dict[str, Any]) -> object:
        self._held(body).append(body["SecretValue"])
        return {}

    def _delete(self, body: dict[str, Any]) -> object:
        self._held(body, in_any_state=True)
        assert 7 <= body["PendingWindowInDays"] <= 30
        self.deleted.add(body["SecretName"])
        return {}
