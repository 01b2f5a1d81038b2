"""A 1Password Connect server, written from its published OpenAPI document (version 1.7.1).

https://developer.1password.com/docs/connect/api-reference
"""

import json
import re
from collections.abc import Iterable
from hashlib import sha256
from typing import Any

from aiohttp import web

from tests.support.servers.rest import Refused, RestServer, body_of

_FILTER = re.compile(r'(?:name|title) eq ("(?:[^"\\]|\\.)*")')
_SUMMARY = ("id", "title", "vault", "category", "tags", "version")


def id_of(text: str) -> str:
    """An ID as the server makes them: 26 small letters and digits."""
    return sha256(text.encode()).hexdigest()[:26]


class Connect(RestServer):
    """A server whose token may see some vaults."""

    def __init__(self, *vaults: str) -> None:
        super().__init__()
        self.vaults = {id_of(name): name for name in vaults or ("staging",)}
        self.items: dict[str, dict[str, Any]] = {}
        self.contents: dict[str, bytes] = {}
        """By ID of a file."""
        self.hides_new_for = 0
        """Lists from which a new item is missing."""
        self.shows_old_for = 0
        """Reads after a change of an item that still show it as it was."""
        self._before: dict[str, list[dict[str, Any]]] = {}
        """What the next reads of an item show."""

    def add(self, title: str, vault: str = "staging", *, tags: Iterable[str] = (), **fields: str) -> str:
        """Put an item there, with fields by label; its ID."""
        made = [
            {"id": id_of(f"{title}/{label}"), "type": "CONCEALED", "label": label, "value": value}
            for label, value in fields.items()
        ]
        return self._add(
            {"title": title, "tags": list(tags), "category": "LOGIN", "fields": made}, id_of(vault)
        )

    def attach(self, item: str, **files: bytes) -> None:
        """Make an item a document with these files."""
        self.items[item]["category"] = "DOCUMENT"
        for name, content in files.items():
            self.contents[id_of(f"{item}/{name}")] = content
            held = self.items[item].setdefault("files", [])
            held.append({"id": id_of(f"{item}/{name}"), "name": name, "size": len(content)})

    def _add(self, item: dict[str, Any], vault: str) -> str:
        item_id = id_of(f"{vault}/{item['title']}/{len(self.items)}")
        fields = [{"id": id_of(f"{item_id}/{n}"), **each} for n, each in enumerate(item.get("fields", []))]
        self.items[item_id] = {**item, "id": item_id, "version": 1, "vault": {"id": vault}, "fields": fields}
        return item_id

    def routes(self) -> Iterable[web.AbstractRouteDef]:
        items = "/v1/vaults/{vault}/items"
        return [
            web.get("/v1/vaults", self._vaults),
            web.get(items, self._list),
            web.post(items, self._create),
            web.get(f"{items}/{{item}}", self._read),
            web.put(f"{items}/{{item}}", self._replace),
            web.delete(f"{items}/{{item}}", self._delete),
            web.get(f"{items}/{{item}}/files/{{file}}/content", self._content),
        ]

    def refusal(self, status: int, message: str) -> Refused:
        return Refused(status, {"status": status, "message": message})

    def token_of(self, request: web.Request) -> str:
        return request.headers.get("Authorization", "").removeprefix("Bearer ")

    def _vault(self, request: web.Request) -> str:
        self.enter(request)
        vault = request.match_info["vault"]
        if vault not in self.vaults:
            raise self.refusal(404, f"vault {vault} not found")
        return vault

    def _item(self, request: web.Request) -> dict[str, Any]:
        vault, item_id = self._vault(request), request.match_info["item"]
        item = self.items.get(item_id)
        if item is None or item["vault"]["id"] != vault:
            raise self.refusal(404, f"item {item_id} not found")
        if item["title"] in self.refused:
            raise self.refusal(403, "the item is not in scope")
        return item

    async def _vaults(self, request: web.Request) -> web.Response:
        self.enter(request)
        title = self._title(request)
        found = [{"id": key, "name": name} for key, name in self.vaults.items() if title in {None, name}]
        return web.json_response(found)

    def _title(self, request: web.Request) -> str | None:
        """What a list is filtered by."""
        if "filter" not in request.query:
            return None
        wanted = _FILTER.fullmatch(request.query["filter"])
        if wanted is None:
            raise self.refusal(400, "the filter cannot be parsed")
        return str(json.loads(wanted[1]))

    async def _list(self, request: web.Request) -> web.Response:
        vault = self._vault(request)
        title = self._title(request)
        found = [
            each
            for each in self.items.values()
            if each["vault"]["id"] == vault and title in {None, each["title"]}
        ]
        if self.hides_new_for and found:
            self.hides_new_for -= 1
            found.pop()
        return web.json_response([{key: each[key] for key in _SUMMARY if key in each} for each in found])

    async def _create(self, request: web.Request) -> web.Response:
        item_id = self._add(await body_of(request), self._vault(request))
        return web.json_response(self.items[item_id])

    async def _read(self, request: web.Request) -> web.Response:
        item = self._item(request)
        before = self._before.get(item["id"])
        return web.json_response(before.pop() if before else item)

    async def _replace(self, request: web.Request) -> web.Response:
        old, new = self._item(request), await body_of(request)
        if (new.get("id"), new.get("vault")) != (old["id"], old["vault"]):
            raise self.refusal(400, "the item's ID and vault must be those of the path")
        for n, each in enumerate(new["fields"]):
            each.setdefault("id", id_of(f"{old['id']}/{old['version']}/{n}"))
        self._before[old["id"]] = [old] * self.shows_old_for
        self.items[old["id"]] = {**new, "version": old["version"] + 1}
        return web.json_response({**new, "version": old["version"]})

    async def _delete(self, request: web.Request) -> web.Response:
        del self.items[self._item(request)["id"]]
        return web.Response(status=204)

    async def _content(self, request: web.Request) -> web.Response:
        self._item(request)
        return web.Response(body=self.contents[request.match_info["file"]])
