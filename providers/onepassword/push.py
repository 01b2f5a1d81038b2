"""Pushes to items: a field of the item with the title, which is created if there is none."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

from syncret.config.fields import Model
from syncret.providers.errors import Malformed, Unavailable
from syncret.providers.kit.push_options import decode_spec
from syncret.providers.kit.references import as_text
from syncret.providers.onepassword.api import Vaults
from syncret.providers.onepassword.items import PASSWORD, Field, Found, labelled
from syncret.providers.pushes import PushItem, RemoteTarget

_PAUSES: Final = (0.25, 0.5, 1.0, 2.0)
"""Seconds after which a change is looked for.

A Connect server shows it a moment after it took it; until then a second push would create an item again, or
undo the change by writing back the item as it was.
"""


class PushSpec(Model, forbid_unknown_fields=True):
    """The metadata of a PushSecret for 1Password."""

    tags: tuple[str, ...] | None = None
    vault: str = ""


class Pusher:
    """Writes to the items of one store's vaults."""

    def __init__(self, vaults: Vaults) -> None:
        self._vaults = vaults

    async def push(self, item: PushItem) -> None:
        """Set one field; nothing is written if it has the value and the item the tags."""
        if not item.secret_key:
            raise Malformed("a field holds one value", hint="write match.secretKey")
        spec = decode_spec(item.metadata, PushSpec) or PushSpec()
        label, value = item.property or PASSWORD, as_text(item.value.raw, "push it in base64")
        found = await self._vaults.find(item.remote_key)
        if found is None:
            await self._create(item.remote_key, label, value, spec)
            return
        old = labelled(found.item, label)
        tags = found.item.tags or []
        wanted = tags if spec.tags is None else list(spec.tags)
        if old is None or old.value != value or tags != wanted:
            changed = [{**raw, "value": value} if _is(raw, old) else raw for raw in _fields(found)]
            added = [_new_field(label, value)] if old is None else []
            await self._replace(found, {"tags": wanted, "fields": [*changed, *added]})

    async def delete(self, target: RemoteTarget) -> None:
        """Delete one field, and the item if nothing is left in it."""
        found = await self._vaults.find(target.remote_key)
        old = None if found is None else labelled(found.item, target.property or PASSWORD)
        if found is None or old is None:
            return
        rest = [raw for raw in _fields(found) if not _is(raw, old)]
        if rest or found.item.files or _has_sections(found):
            await self._replace(found, {"fields": rest})
        else:
            await self._vaults.delete(found)

    async def exists(self, target: RemoteTarget) -> bool:
        """Whether there is the item; with a property, whether it has that field."""
        found = await self._vaults.find(target.remote_key)
        if found is None or not target.property:
            return found is not None
        return labelled(found.item, target.property) is not None

    async def _create(self, title: str, label: str, value: str, spec: PushSpec) -> None:
        vault = await self._vaults.id_of(spec.vault) if spec.vault else (await self._vaults.ids())[0]
        await self._vaults.create(
            vault,
            {
                "title": title,
                "category": "SERVER",
                "vault": {"id": vault},
                "tags": list(spec.tags or ()),
                "fields": [_new_field(label, value)],
            },
        )

        async def is_there() -> bool:
            return await self._vaults.find(title) is not None

        await _shown(f"creating item {title}", is_there)

    async def _replace(self, found: Found, changes: Mapping[str, Any]) -> None:
        await self._vaults.replace(found, {**found.raw, **changes})
        old = found.item

        async def is_there() -> bool:  # the answer to the change has the old version, too
            now = await self._vaults.read(old.vault.id, old.id, old.title)
            return now is None or now.item.version != old.version

        await _shown(f"changing item {old.title}", is_there)


async def _shown(doing: str, is_there: Callable[[], Awaitable[bool]]) -> None:
    """Wait until the server shows a change that it took. Raises Unavailable."""
    for pause in (0.0, *_PAUSES):
        if pause:
            await asyncio.sleep(pause)
        if await is_there():
            return
    raise Unavailable(f"{doing}: the Connect server took it, but does not show it yet")


def _has_sections(found: Found) -> bool:
    """Whether an item has sections, but for one without ID and label, which the server adds itself."""
    return any(each.get("id") or each.get("label") for each in found.raw.get("sections") or ())


def _fields(found: Found) -> Sequence[dict[str, Any]]:
    return found.raw.get("fields") or ()


def _is(raw: dict[str, Any], field: Field | None) -> bool:
    return field is not None and (raw.get("id", ""), raw.get("label", "")) == (field.id, field.label)


def _new_field(label: str, value: str) -> dict[str, Any]:
    return {"label": label, "type": "CONCEALED", "value": value}
