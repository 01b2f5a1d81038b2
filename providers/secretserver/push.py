"""Pushes to secrets: one field of a secret, which is created if there is none."""

from typing import Any

import msgspec

from syncret.config.fields import Model
from syncret.providers.errors import Malformed
from syncret.providers.kit.push_options import decode_spec
from syncret.providers.kit.references import as_text
from syncret.providers.pushes import PushItem, RemoteTarget
from syncret.providers.secretserver.secrets import CREATE, DELETE, TEMPLATE, UPDATE, Item, Secret, Secrets

_SITE = 1
"""The site that every Secret Server has."""


class PushSpec(Model, forbid_unknown_fields=True):
    """The metadata of a PushSecret for Secret Server: where a new secret goes, and what it is."""

    folder_id: int = 0
    secret_template_id: int = 0


class _Field(msgspec.Struct, rename={"id": "secretTemplateFieldId", "slug": "fieldSlugName"}):
    id: int
    slug: str = ""
    name: str = ""


class _Template(msgspec.Struct):
    fields: list[_Field] = []


class Pusher:
    """Writes to the secrets of one store."""

    def __init__(self, secrets: Secrets) -> None:
        self._secrets = secrets

    async def push(self, item: PushItem) -> None:
        """Set one field, by default the first one; nothing is written if it has the value."""
        text = as_text(item.value.raw, "push it in base64")
        spec = decode_spec(item.metadata, PushSpec) or PushSpec()
        found = await self._secrets.find(item.remote_key, folder=spec.folder_id, strictly=True)
        if found is None:
            await self._create(item, text, spec)
            return
        place = _place(found, item.property)
        if found.items[place].item_value != text:
            await self._update(found, place, text)

    async def delete(self, target: RemoteTarget) -> None:
        """Delete a secret; with a property empty that field, and delete the secret with the last one."""
        found = await self._secrets.find(target.remote_key, strictly=True)
        if found is None:
            return
        if target.property:
            place = _place(found, target.property)
            if any(found.value(each) for number, each in enumerate(found.items) if number != place):
                if found.items[place].item_value:
                    await self._update(found, place, "")
                return
        await self._secrets.api.look_up(DELETE, id=found.id)

    async def exists(self, target: RemoteTarget) -> bool:
        """Whether there is the secret; with a property, whether that field has a value."""
        found = await self._secrets.find(target.remote_key, strictly=True)
        if found is None or not target.property:
            return found is not None
        return any(each.has(target.property) and found.value(each) for each in found.items)

    async def _update(self, found: Secret, place: int, text: str) -> None:
        """Files are left as they are: they are written elsewhere."""
        items = [dict(raw) for raw in found.raw["items"]]
        items[place]["itemValue"] = text
        kept = [raw for raw, item in zip(items, found.items, strict=True) if not item.is_file]
        await self._secrets.api.call(UPDATE, body={**found.raw, "items": kept}, id=found.id)

    async def _create(self, item: PushItem, text: str, spec: PushSpec) -> None:
        folder, name = _new_name(item.remote_key)
        folder = folder or spec.folder_id
        if not (folder > 0 and spec.secret_template_id > 0 and name):
            raise Malformed(
                f"there is no secret {item.remote_key!r} yet, and it is not said where a new one goes",
                hint="write folderId and secretTemplateId into metadata.spec",
            )
        template = str(spec.secret_template_id)
        fields = (await self._secrets.api.call(TEMPLATE, id=template)).decode(_Template).fields
        wanted = [each for each in fields if not item.property or item.property in {each.slug, each.name}]
        if not wanted:
            raise _no_field(item.property, [each.slug for each in fields])
        body: dict[str, Any] = {
            "name": name,
            "folderId": folder,
            "siteId": _SITE,
            "secretTemplateId": spec.secret_template_id,
            "items": [{"fieldId": wanted[0].id, "itemValue": text}],
        }
        await self._secrets.api.call(CREATE, body=body, name=name)


def _place(found: Secret, name: str) -> int:
    """The number of a field, by default of the first one. Raises Malformed."""
    for number, item in enumerate(found.items):
        if not name or item.has(name):
            if item.is_file:
                raise Malformed(f"field {name or item.slug!r} is a file", hint="push to a text field")
            return number
    raise _no_field(name, [_shown(item) for item in found.items])


def _no_field(name: str, known: list[str]) -> Malformed:
    return Malformed(f"field {name!r} not found", hint=f"the template has {', '.join(known)}")


def _shown(item: Item) -> str:
    return item.slug or item.field_name or ""


def _new_name(key: str) -> tuple[int, str]:
    """The folder and the name that a key gives a new secret: the last part of a path."""
    head, _, rest = key.partition("/")
    if head.startswith("folderId:") and head.removeprefix("folderId:").isdecimal():
        return int(head.removeprefix("folderId:")), "" if "/" in rest else rest
    return 0, key.rpartition("/")[2]
