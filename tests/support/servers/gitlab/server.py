"""GitLab's API as far as it concerns CI/CD variables, written from the published reference.

https://docs.gitlab.com/api/project_level_variables, /group_level_variables, /projects, /rest (pages)
"""

import json
import re
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any

from aiohttp import web

from tests.support.servers.rest import Refused, RestServer, body_of

_KEY = re.compile(r"[A-Za-z0-9_]{1,255}")
_USUAL = {
    "variable_type": "env_var",
    "protected": False,
    "masked": False,
    "hidden": False,
    "raw": False,
    "environment_scope": "*",
    "description": None,
}


class Gitlab(RestServer):
    """An instance with the project `7` (`shop/api`), in the group `1` (`shop`); `2` is another group."""

    def __init__(self) -> None:
        super().__init__()
        self.variables: dict[tuple[str, str], list[dict[str, Any]]] = {
            ("projects", "7"): [],
            ("groups", "1"): [],
            ("groups", "2"): [],
        }
        """By what has them."""
        self.groups = [{"id": 1, "full_path": "shop"}]
        """Those above the project."""
        self.most = 100
        """Entries of a page."""

    def set(self, key: str, value: str, scope: str = "*", kind: str = "projects", id: str = "7") -> None:  # noqa: A002
        """Put a variable there."""
        held = self.variables[kind, id]
        held[:] = [each for each in held if (each["key"], each["environment_scope"]) != (key, scope)]
        held.append({**_USUAL, "key": key, "value": value, "environment_scope": scope})

    def routes(self) -> Iterable[web.AbstractRouteDef]:
        base = "/api/v4/{kind:projects|groups}/{id}"
        return [
            web.get(f"{base}/variables", self._list),
            web.post(f"{base}/variables", self._create),
            web.get(f"{base}/variables/{{key}}", self._read),
            web.put(f"{base}/variables/{{key}}", self._change),
            web.delete(f"{base}/variables/{{key}}", self._delete),
            web.get("/api/v4/projects/{id}/groups", self._groups),
        ]

    def refusal(self, status: int, message: str) -> Refused:
        return Refused(status, {"message": f"{status} {message}"})

    def token_of(self, request: web.Request) -> str:
        return request.headers.get("PRIVATE-TOKEN", "")

    def _held(self, request: web.Request) -> list[dict[str, Any]]:
        self.enter(request, request.match_info.get("key", ""))
        kind, id_ = request.match_info.get("kind", "projects"), request.match_info["id"]
        names = {"shop/api": "7", "shop": "1"}
        held = self.variables.get((kind, names.get(id_, id_)))
        if held is None:
            raise self.refusal(404, "Project Not Found" if kind == "projects" else "Group Not Found")
        return held

    def _one(self, request: web.Request) -> dict[str, Any]:
        key, scope = request.match_info["key"], request.query.get("filter[environment_scope]")
        found = [each for each in self._held(request) if each["key"] == key]
        found = [each for each in found if scope in {None, each["environment_scope"]}]
        if len(found) > 1:
            raise self.refusal(409, "There are multiple variables with provided parameters")
        if not found:
            raise self.refusal(404, "Variable Not Found")
        return found[0]

    def _page(self, request: web.Request, entries: list[dict[str, Any]]) -> web.Response:
        page, size = int(request.query.get("page", "1")), int(request.query.get("per_page", "20"))
        size = min(size, self.most)
        more = page * size < len(entries)
        headers = {"x-next-page": str(page + 1) if more else "", "x-total": str(len(entries))}
        if more:
            following = request.url.update_query(page=page + 1, per_page=size)
            headers["Link"] = f'<{following}>; rel="next"'
        return _tagged(request, entries[(page - 1) * size : page * size], headers)

    async def _list(self, request: web.Request) -> web.Response:
        return self._page(request, self._held(request))

    async def _groups(self, request: web.Request) -> web.Response:
        self._held(request)
        return self._page(request, self.groups)

    async def _read(self, request: web.Request) -> web.Response:
        return _tagged(request, self._one(request), {})

    async def _create(self, request: web.Request) -> web.Response:
        held, body = self._held(request), await body_of(request)
        if not _KEY.fullmatch(body["key"]):
            raise self.refusal(400, "key can contain only letters, digits and '_'.")
        scope = body.get("environment_scope", "*")
        if any((each["key"], each["environment_scope"]) == (body["key"], scope) for each in held):
            raise self.refusal(400, "key has already been taken")
        held.append({**_USUAL, **body})
        return web.json_response(held[-1], status=201)

    async def _change(self, request: web.Request) -> web.Response:
        found = self._one(request)
        found |= await body_of(request)
        return web.json_response(found)

    async def _delete(self, request: web.Request) -> web.Response:
        found = self._one(request)
        self._held(request).remove(found)
        return web.Response(status=204)


def _tagged(request: web.Request, document: object, headers: Mapping[str, str]) -> web.Response:
    """An answer as Rails sends it: its tag is a digest of the body alone."""
    text = json.dumps(document)
    headers = {**headers, "ETag": f'W/"{sha256(text.encode()).hexdigest()[:32]}"'}
    if request.headers.get("If-None-Match") == headers["ETag"]:
        return web.Response(status=304, headers=headers)
    return web.Response(text=text, content_type="application/json", headers=headers)
