"""Pushes and deletes: only entries with our mark, only if they differ, and never over a concurrent write.

The mark is `managed-by: external-secrets` in the custom metadata of an entry (version 2), or in a member
`custom_metadata` of its value (version 1): that of the External Secrets Operator, so that either can take
over. In version 2 every write uses check-and-set: after a concurrent write it is refused, and the push is
repeated on the new value.
"""

from typing import Final

from syncret.config.meta import Document, is_object, member
from syncret.providers.contract import Compute
from syncret.providers.errors import Denied, Malformed
from syncret.providers.kit import references
from syncret.providers.kit.golang import json as gojson
from syncret.providers.kit.push_options import MARK, is_ours, not_ours
from syncret.providers.kit.vault import entries
from syncret.providers.kit.vault.entries import Payload
from syncret.providers.kit.vault.key_values import Entry, KeyValues
from syncret.providers.kit.vault.replies import Absent, number
from syncret.providers.pushes import PushItem, RemoteTarget
from syncret.providers.work import Work

_METADATA: Final = "custom_metadata"
_BASE64: Final = "push it in base64: template the value with b64enc"


class VaultPusher:
    """Writes to one engine."""

    def __init__(self, key_values: KeyValues, compute: Compute) -> None:
        self._compute = compute
        self._entries = key_values
        self._engine = key_values.engine

    async def push(self, item: PushItem) -> None:
        """Store the value, or one property of it."""
        key = item.remote_key
        entry = await self._entries.read(key)
        if entry.data is not None and not is_ours(await self._entries.metadata(key)):
            raise _not_ours(key)
        old = self._without_mark(entry)
        new = (
            {**old, item.property: references.as_text(item.value.raw, _BASE64)}
            if item.property
            else await self._compute(lambda work: _members(item, work))
        )
        if entry.data is not None and await self._compute(lambda work: _same(new, old, work)):
            return
        if item.property and type(old.get(item.property, "")) is not str:  # Number is a str
            raise Malformed(
                f"error converting {item.property} to string",
                hint="what stands in Vault under this property is not text: remove it there first",
            )
        if self._engine.versioned and entry.data is None:
            await self._mark(key)
        await self._write(key, new, entry)

    async def delete(self, target: RemoteTarget) -> None:
        """Delete the entry, or one property (with the last one, the entry), if the entry is ours."""
        key = target.remote_key
        entry = await self._entries.read(key)
        if entry.data is None or not is_ours(await self._entries.metadata(key)):
            return
        old = self._without_mark(entry)
        rest = {name: value for name, value in old.items() if name != target.property}
        if target.property and rest:
            if rest != old:
                await self._write(key, rest, entry)
            return
        await self._entries.vault.call("DELETE", self._engine.value_path(key), doing=f"deleting {key}")
        if self._engine.versioned:
            path = self._engine.metadata_path(key)
            await self._entries.vault.call("DELETE", path, doing=f"deleting metadata of {key}")

    async def exists(self, target: RemoteTarget) -> bool:
        """Whether there is an entry, and the property in it."""
        data = (await self._entries.read(target.remote_key)).data
        if data is None:
            return False
        if target.property in data:
            return data[target.property] is not None
        payload = Payload(data)
        try:
            await self._compute(lambda work: entries.value(payload, target.property, work))
        except Malformed:
            return False
        return True

    def _without_mark(self, entry: Entry) -> Document:
        """The members of an entry, without the mark that version 1 stores among them."""
        data = dict(entry.data or {})
        if not self._engine.versioned:
            data.pop(_METADATA, None)
        return data

    async def _mark(self, key: str) -> None:
        """Write the mark before the value, so that a crash leaves no value without a mark.

        An entry whose newest version is deleted has earlier ones, and may be of others.
        """
        path = self._engine.metadata_path(key)
        doing = f"writing metadata of {key}"
        found = await self._entries.vault.call("GET", path, doing=doing)
        metadata = {} if isinstance(found, Absent) else found.data or {}
        custom = member(metadata, _METADATA)
        if number(metadata.get("current_version")) and not is_ours(custom):
            raise _not_ours(key)
        await self._entries.vault.write(path, {_METADATA: {**custom, **MARK}}, doing=doing)

    async def _write(self, key: str, data: Document, entry: Entry) -> None:
        body: Document = {"data": data, "options": {"cas": entry.version}}
        if not self._engine.versioned:
            body = {**data, _METADATA: dict(MARK)}
        await self._entries.vault.write(self._engine.value_path(key), body, doing=f"writing {key}")


def _not_ours(key: str) -> Denied:
    return not_ours("secret not managed by external-secrets", key, "custom metadata")


def _same(one: Document, other: Document, work: Work) -> bool:
    """Whether Vault would store the same: it treats every number as a float."""
    return _stored_text(one, work) == _stored_text(other, work)


def _stored_text(data: Document, work: Work) -> str:
    return gojson.marshal(gojson.unmarshal(gojson.marshal(data, work), work), work)


def _members(item: PushItem, work: Work) -> Document:
    """The members of a whole value, which must be a JSON object."""
    try:
        found = gojson.unmarshal(item.value.raw, work, keep_numbers=True)
    except Malformed:
        found = None
    if is_object(found):
        return found
    raise Malformed(
        "error unmarshalling vault secret: invalid JSON format",
        hint="name a property to push one value, or push the whole Secret (no secretKey)",
    )
