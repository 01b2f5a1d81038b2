"""The client of an Akeyless store: the endpoints, and what it does with them.

https://docs.akeyless.io/reference
"""

import re
from base64 import b64decode
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from syncret.config.fields import Json
from syncret.config.meta import is_object
from syncret.providers.contract import Compute, Paced, Readiness
from syncret.providers.errors import Denied, Malformed, SyncError
from syncret.providers.kit import extract
from syncret.providers.kit.auth.logins import ExpiringLogin
from syncret.providers.kit.batching import read_each
from syncret.providers.kit.golang import json as gojson
from syncret.providers.kit.golang import regexp
from syncret.providers.kit.http import Answer
from syncret.providers.kit.paging import Matches, Page, pages
from syncret.providers.kit.references import as_text
from syncret.providers.kit.rest.api import Api
from syncret.providers.kit.rest.clients import ComputingClient
from syncret.providers.kit.rest.endpoints import Endpoint
from syncret.providers.kit.rest.texts import TextValues, TextWrites
from syncret.providers.pushes import PushItem, RemoteTarget
from syncret.providers.values import FindQuery, RemoteKey, RemoteRef, SecretBytes, SecretMap
from syncret.providers.work import Work

_READ: Final = "let the auth method's role read and list the item's path"
_WRITE: Final = "let the auth method's role create, update and delete below the item's path"

DESCRIBE: Final = Endpoint("POST", "/describe-item", "describing item {name}", _READ)
STATIC: Final = Endpoint("POST", "/get-secret-value", "reading {name}", _READ)
DYNAMIC: Final = Endpoint("POST", "/get-dynamic-secret-value", "reading dynamic secret {name}", _READ)
ROTATED: Final = Endpoint("POST", "/get-rotated-secret-value", "reading rotated secret {name}", _READ)
CERTIFICATE: Final = Endpoint("POST", "/get-certificate-value", "reading certificate {name}", _READ)
LIST: Final = Endpoint("POST", "/list-items", "listing items", _READ)
CREATE: Final = Endpoint("POST", "/create-secret", "creating item {name}", _WRITE)
UPDATE: Final = Endpoint("POST", "/update-secret-val", "changing item {name}", _WRITE)
DELETE: Final = Endpoint("POST", "/delete-item", "deleting item {name}", _WRITE)

_KINDS: Final = ["static-secret", "dynamic-secret", "rotated-secret"]
_OURS: Final = "k8s-external-secrets"
"""The tag of items that were pushed; the operator's, too."""

_SYNTAX: Final = re.compile(r"[\\.|#@*?]")
_ESCAPED: Final = r"\\\g<0>"
"""What means something in a path, and how it does not."""


class _Item(msgspec.Struct):
    item_name: str
    item_type: str = ""
    item_tags: list[str] | None = None


class _Items(msgspec.Struct):
    items: list[_Item] | None = None
    next_page: str = ""


class Held(msgspec.Struct, frozen=True):
    """An item with its value."""

    text: bytes
    is_ours: bool


class AkeylessClient(ComputingClient, TextValues, TextWrites[Held]):
    """Reads, finds, pushes, deletes and probes."""

    def __init__(
        self, api: Api, login: ExpiringLogin[SecretBytes], compute: Compute, *, ignores_cache: bool
    ) -> None:
        super().__init__(api, compute)
        self._login = login
        self._beside: dict[str, Json] = {"ignore-cache": "true"} if ignores_cache else {}

    async def _call(self, endpoint: Endpoint, body: Mapping[str, Json], name: str = "") -> Answer:
        """The answer. Raises SyncError, also for a 404: it may be about anything that the call needs."""
        answer = await self._look_up(endpoint, body, name)
        if answer is None:
            doing = endpoint.doing.format(name=name)
            hint = "check the item, its version and its protection key, and akeylessGWApiURL"
            raise Malformed(f"{doing}: HTTP 404, Akeyless does not find what this needs", hint=hint)
        return answer

    async def _look_up(self, endpoint: Endpoint, body: Mapping[str, Json], name: str) -> Answer | None:
        """The answer; None if there is no such item. The token is sent in the body."""

        async def send(token: SecretBytes) -> Answer | None:
            text = token.raw.decode()
            member = "uid-token" if text.startswith("u-") else "token"
            return await self._api.look_up(endpoint, body={**body, member: text}, name=name)

        return await self._login.use(send)

    # -- read
    def remote_key(self, ref: RemoteRef) -> RemoteKey:
        """A version is a number; as in the operator, anything else is the latest."""
        number = ref.version if ref.version.isdecimal() and ref.version.strip("0") else ""
        return RemoteKey(ref.key, number)

    def value(self, payload: SecretBytes, ref: RemoteRef, work: Work) -> SecretBytes | None:
        """The text, the member of exactly this name, or what a gjson path leads to."""
        if not payload.raw:
            raise Malformed(
                f"invalid value received, found no value string : {ref.key}", hint="the item is empty"
            )
        return super().value(payload, ref, work)

    def part(self, text: bytes, name: str, work: Work) -> bytes | None:
        """As in the operator, a member of exactly this name comes before what the path leads to."""
        found = extract.value(text, extract.escaped(name), work) if "." in name else None
        return extract.value(text, name, work) if found is None else found

    async def fetch(self, keys: Sequence[RemoteKey]) -> Mapping[RemoteKey, SecretBytes | SyncError]:
        """Static secrets in one call; if that is refused for one of them, each by itself."""
        found: dict[RemoteKey, SecretBytes | SyncError] = {}
        plain = [key for key in keys if not key.version]
        if plain:
            try:
                texts = await self._static([key.key for key in plain])
            except (Denied, Malformed):  # each says why
                texts = {}
            found = {key: SecretBytes(texts[key.key].encode()) for key in plain if key.key in texts}
        return found | await read_each([key for key in keys if key not in found], self._read)

    async def _static(self, names: Sequence[str], version: int = 0) -> dict[str, str]:
        body: dict[str, Json] = {"names": list(names), **self._beside}
        if version:
            body["version"] = version
        what = f"item {names[0]}" if len(names) == 1 else "items"
        answer = await self._call(STATIC, body, what)
        values = answer.decode(dict[str, Any])
        return {name: value for name, value in values.items() if isinstance(value, str)}

    async def _read(self, key: RemoteKey) -> SecretBytes | None:
        item = await self._describe(key.key)
        return None if item is None else SecretBytes(await self._value(item, int(key.version or "0")))

    async def _describe(self, name: str) -> _Item | None:
        answer = await self._look_up(DESCRIBE, {"name": name}, name)
        return None if answer is None else answer.decode(_Item)

    async def _value(self, item: _Item, version: int) -> bytes:
        """The value as the item's type has it. Raises SyncError."""
        name = item.item_name
        chosen: dict[str, Json] = {"version": version} if version else {}
        if item.item_type == "STATIC_SECRET":
            texts = await self._static([name], version)
            if name in texts:
                return texts[name].encode()
            raise Malformed(f"item {name} holds no text", hint="is it a static secret of the type generic?")
        if item.item_type == "DYNAMIC_SECRET":
            return await self._document(DYNAMIC, {"name": name}, name)
        if item.item_type == "CERTIFICATE":
            return await self._document(CERTIFICATE, {"name": name, **chosen, **self._beside}, name)
        if item.item_type == "ROTATED_SECRET":
            return await self._document(ROTATED, {"names": name, **chosen, **self._beside}, name)
        raise Malformed(f"invalid item type: {item.item_type}", hint="name a secret or a certificate")

    async def _document(self, endpoint: Endpoint, body: Mapping[str, Json], name: str) -> bytes:
        answer = await self._call(endpoint, body, name)
        raw = answer.body

        def value_of(work: Work) -> bytes:
            document: Json = gojson.unmarshal_object(raw, work)
            value = document.get("value")
            if endpoint is ROTATED and is_object(value):
                if "payload" in value:
                    return gojson.byte_value(value["payload"], work)
                document = value.get("target_value", value)
            return gojson.marshal(document, work).encode("utf-8", "surrogateescape")

        return await self._compute(value_of)

    # -- find
    async def find(self, query: FindQuery, paced: Paced, work: Work) -> SecretMap:
        """Items below a path whose names match, or that have one of the tags: the values of `find.tags`."""
        if query.name is None and not query.tags:
            raise Malformed("unexpected find operator", hint="write find.name.regexp, or find.tags")
        matches = regexp.matcher(query.name or "", work)
        path = "" if query.path is None else f"/{query.path.strip('/')}/".replace("//", "/")
        tags = [""] if query.name is not None else [tag for _, tag in query.tags or ()]
        found = Matches()
        for tag in dict.fromkeys(tags):

            async def page(token: str, tag: str = tag) -> Page[_Item]:
                body: dict[str, Json] = {"filter": path, "type": list(_KINDS), "tag": tag}
                answer = await self._call(LIST, {**body, **({"pagination-token": token} if token else {})})
                listed = answer.decode(_Items)
                return Page(listed.items or (), listed.next_page)

            async for item in pages(page, paced, doing="listing items"):
                if item.item_name.startswith(path) and matches(item.item_name):
                    found.add_name(item.item_name)
        return await found.read_values(self._found, paced, doing="akeyless find")

    async def _found(self, name: str) -> SecretBytes | None:
        key = RemoteKey(name)
        value = (await self.fetch([key])).get(key)
        if isinstance(value, SyncError):
            raise value
        return value

    # -- push: the item is a JSON object; without a property all keys of the Secret are put into it
    async def push(self, item: PushItem) -> None:
        if item.property:
            await super().push(_renamed(item, _literal(item.property)))
            return
        entry = await self.entry(item.remote_key)
        old = b"{}" if entry is None else entry.text
        text = await self._compute(lambda work: _merged(old, item, work))
        if entry is None or text != old:
            await self.store(item, text, entry)

    async def delete(self, target: RemoteTarget) -> None:
        """As in the operator, what others made is left alone."""
        entry = await self.entry(target.remote_key)
        if entry is not None and entry.is_ours:
            await super().delete(RemoteTarget(target.remote_key, _literal(target.property)))

    async def exists(self, target: RemoteTarget) -> bool:
        return await super().exists(RemoteTarget(target.remote_key, _literal(target.property)))

    async def entry(self, key: str) -> Held | None:
        item = await self._describe(key)
        return None if item is None else Held(await self._value(item, 0), _OURS in (item.item_tags or ()))

    def text(self, entry: Held) -> bytes:
        return entry.text

    async def store(self, item: PushItem, text: bytes, entry: Held | None) -> None:
        body: dict[str, Json] = {"name": item.remote_key, "value": as_text(text, "push it in base64")}
        if entry is None:
            body["tags"] = [_OURS]
        await self._call(CREATE if entry is None else UPDATE, body, item.remote_key)

    async def remove(self, key: str) -> None:
        await self._look_up(DELETE, {"name": key}, key)

    # -- probe
    async def probe(self) -> Readiness:
        await self._login.get()
        return "ready"


def _literal(name: str) -> str:
    """The sjson path of the member with exactly this name, even if it is a number or a query."""
    return f":{_SYNTAX.sub(_ESCAPED, name)}" if name else ""


def _renamed(item: PushItem, name: str) -> PushItem:
    return PushItem(item.remote_key, name, item.value, item.metadata, item.secret_key, item.source)


def _merged(old: bytes, item: PushItem, work: Work) -> bytes:
    """The object with all keys of the Secret in it. Raises Malformed if the stored value is no object."""
    data = item.source.get("data")
    fresh: dict[str, Json] = (
        {name: as_text(b64decode(text), "push it in base64") for name, text in data.items()}
        if is_object(data)
        else gojson.unmarshal_object(item.value.raw, work)
    )
    document = gojson.unmarshal_object(old, work)
    if all(document.get(name) == value for name, value in fresh.items()):
        return old
    return gojson.marshal({**document, **fresh}, work).encode("utf-8", "surrogateescape")
