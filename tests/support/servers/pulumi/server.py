"""Pulumi ESC as far as it concerns one environment, written from its published reference and SDK.

https://www.pulumi.com/docs/pulumi-cloud/reference/environments/, https://github.com/pulumi/esc-sdk
"""

import hashlib
import re
from collections.abc import Iterable
from typing import Any

import yaml
from aiohttp import web

from syncret.config.fields import Json
from syncret.config.meta import is_list, is_object
from tests.support.servers.rest import Refused, RestServer


class _Reader(yaml.SafeLoader):
    """Reads as the service does: of the old booleans, `true` and `false` are left, and days are texts."""

    yaml_implicit_resolvers = {  # as PyYAML has it
        first: [(tag, text) for tag, text in resolvers if not tag.endswith((":bool", ":timestamp"))]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


_Reader.add_implicit_resolver(  # pyright: ignore[reportUnknownMemberType]  # PyYAML's stubs leave types open
    "tag:yaml.org,2002:bool", re.compile(r"(true|True|TRUE|false|False|FALSE)\Z"), list("tTfF")
)


class Pulumi(RestServer):
    """The environment `prod` of the project `shop` of `acme`: its definition, evaluated when opened."""

    def __init__(self) -> None:
        super().__init__()
        self.definition = "imports:\n- common\nvalues: {}\n"
        self.imported: dict[str, Any] = {}
        """The values that come from `common`."""
        self.sessions: list[str] = []
        self.subject = "jwt-of-app"

    def routes(self) -> Iterable[web.AbstractRouteDef]:
        base = "/api/esc/environments/{org}/{project}/{env}"
        return [
            web.post("/api/oauth/token", self._log_in),
            web.post(f"{base}/open", self._open),
            web.get(f"{base}/open/{{session}}", self._read),
            web.get(f"{base}/open//{{session}}", self._read),  # so the SDK asks for a property
            web.get(base, self._definition),
            web.patch(base, self._update),
        ]

    def refusal(self, status: int, message: str) -> Refused:
        return Refused(status, {"code": status, "message": f"{message}: status {status}"})

    def token_of(self, request: web.Request) -> str:
        return request.headers.get("Authorization", "").removeprefix("token ")

    @property
    def values(self) -> dict[str, Any]:
        """What the definition itself has."""
        document: dict[str, dict[str, Any] | None] = yaml.load(self.definition, _Reader)  # noqa: S506  # a safe one
        return document["values"] or {}

    def set(self, name: str, value: object) -> None:
        """Put a value into the definition, past its users."""
        document = yaml.load(self.definition, _Reader)  # noqa: S506  # a safe one
        document["values"][name] = value
        self.definition = yaml.safe_dump(document)

    async def _log_in(self, request: web.Request) -> web.Response:
        form = dict(await request.post())
        wanted = {
            "audience": "urn:pulumi:org:acme",
            "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
            "subject_token_type": "urn:ietf:params:oauth:token-type:id_token",
            "requested_token_type": "urn:pulumi:token-type:access_token:organization",
            "subject_token": self.subject,
        }
        if {name: form.get(name) for name in wanted} != wanted:
            raise self.refusal(401, "the token is not trusted")
        return web.json_response({"access_token": self.token, "expires_in": int(str(form["expiration"]))})

    def _enter(self, request: web.Request) -> None:
        self.enter(request)
        if [request.match_info[name] for name in ("org", "project", "env")] != ["acme", "shop", "prod"]:
            raise self.refusal(404, "Not Found: Environment not found")

    async def _open(self, request: web.Request) -> web.Response:
        self._enter(request)
        self.sessions.append(f"session-{len(self.sessions)}")
        return web.json_response({"id": self.sessions[-1]})

    async def _read(self, request: web.Request) -> web.Response:
        self._enter(request)
        if request.match_info["session"] not in self.sessions:
            raise self.refusal(404, "Not Found: session")
        every = {**self.imported, **self.values}
        if path := request.query.get("property"):
            if path not in every:
                raise self.refusal(404, "Not Found: property")
            return web.json_response(_shown(every[path]))
        shown = {name: _shown(value) for name, value in every.items()}
        return web.json_response({"properties": shown, "exprs": {}, "schema": {}})

    @property
    def _tag(self) -> str:
        return hashlib.sha256(self.definition.encode()).hexdigest()[:16]

    async def _definition(self, request: web.Request) -> web.Response:
        self._enter(request)
        headers = {"ETag": self._tag}
        return web.Response(text=self.definition, content_type="application/x-yaml", headers=headers)

    async def _update(self, request: web.Request) -> web.Response:
        self._enter(request)
        if request.headers.get("ETag", self._tag) != self._tag:  # as Pulumi's own client sends it
            raise self.refusal(409, "Conflict")
        self.definition = await request.text()
        assert isinstance(self.values, dict)
        return web.json_response({})

    @property
    def writes(self) -> int:
        return sum(call.startswith("PATCH ") for call in self.calls)


def _shown(value: Json) -> dict[str, Any]:
    """A value as it is evaluated, and where it comes from; null has none."""
    start = {"line": 1, "column": 1, "byte": 0}
    trace: Any = {"def": {"environment": "prod", "begin": start, "end": start}}
    if is_object(value) and "fn::secret" in value:
        return {"value": value["fn::secret"], "secret": True, "trace": trace}
    if is_object(value) and "fn::open::none" in value:
        return {"unknown": True, "trace": trace}
    if value is None:
        return {"trace": trace}
    if is_object(value):
        return {"value": {name: _shown(each) for name, each in value.items()}, "trace": trace}
    if is_list(value):
        return {"value": [_shown(each) for each in value], "trace": trace}
    return {"value": value, "trace": trace}
