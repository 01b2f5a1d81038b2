"""Pushes to items: a field of the item with the title, or a field for each key of a Secret."""

from base64 import b64decode
from collections.abc import Mapping, Sequence
from typing import Final

from syncret.config.fields import Model
from syncret.config.meta import Document
from syncret.providers.errors import Malformed, SyncError
from syncret.providers.kit.push_options import decode_spec
from syncret.providers.kit.references import as_text
from syncret.providers.onepassword_sdk.items import PASSWORD, Entry, several, unique
from syncret.providers.onepassword_sdk.vault import Vault
from syncret.providers.pushes import PushItem, RemoteTarget

_KINDS: Final[Mapping[str, str]] = {
    "": "Concealed",
    "concealed": "Concealed",
    "password": "Concealed",
    "text": "Text",
    "string": "Text",
    "email": "Email",
    "url": "Url",
    "phone": "Phone",
    "date": "Date",
    "monthyear": "MonthYear",
}
"""The kinds of fields, as metadata name them in small letters."""


class PushSpec(Model, forbid_unknown_fields=True):
    """The metadata of a PushSecret for 1Password."""

    tags: tuple[str, ...] | None = None
    field_type: str = ""


class Pusher:
    """Writes to the items of one vault."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault

    async def push(self, item: PushItem) -> None:
        """Set fields; nothing is written if they have the values, and the item the tags."""
        spec = decode_spec(item.metadata, PushSpec) or PushSpec()
        kind = _KINDS.get(spec.field_type.lower())
        if kind is None:
            raise Malformed(
                f"metadata.spec.fieldType: there is no {spec.field_type!r}",
                hint=f"write one of {', '.join(sorted(filter(None, _KINDS)))}",
            )
        texts = _texts(item)
        found = await self._find(item.remote_key)
        if found is None:
            await self._vault.create(item.remote_key, texts, kind, spec.tags or ())
            return
        held = unique(found.fields, found.title)
        tags = found.tags if spec.tags is None else spec.tags
        same = all(name in held and held[name].raw == text.encode() for name, text in texts.items())
        gone = [] if item.secret_key else [name for name in held if name not in texts]
        if not same or gone or tuple(found.tags) != tuple(tags):
            await self._change(found, texts, kind, tags, gone)

    async def delete(self, target: RemoteTarget) -> None:
        """Delete one field, and the item if nothing is left in it."""
        found = await self._find(target.remote_key)
        name = target.property or PASSWORD
        if found is None or name not in (title for title, _ in found.fields):
            return
        item = found.item.model_copy(deep=True)
        item.fields = [field for field in item.fields if field.title != name]
        if len(found.fields) - len(item.fields) > 1:
            raise several(name, found.title)
        if item.fields or found.file_attributes:
            await self._vault.replace(item)
        else:
            await self._vault.delete(found)

    async def exists(self, target: RemoteTarget) -> bool:
        """Whether there is the item; with a property, whether it has that field."""
        found = await self._find(target.remote_key)
        if found is None or not target.property:
            return found is not None
        return target.property in (title for title, _ in found.fields)

    async def _find(self, title: str) -> Entry | None:
        from syncret.providers.onepassword_sdk.client import ambiguous

        listed = await self._vault.summaries()
        same = [each for each in listed if each.id == title] or [
            each for each in listed if each.title == title
        ]
        if len(same) > 1:
            raise ambiguous(title)
        found = (await self._vault.read([same[0].id])).get(same[0].id) if same else None
        if isinstance(found, SyncError):
            raise found
        return found

    async def _change(
        self, found: Entry, texts: Mapping[str, str], kind: str, tags: Sequence[str], gone: Sequence[str]
    ) -> None:
        from onepassword import ItemFieldType  # an extra

        from syncret.providers.onepassword_sdk.vault import new_field

        item = found.item.model_copy(deep=True)
        item.tags = [*tags]
        item.fields = [field for field in item.fields if field.title not in gone]
        for field in item.fields:
            if field.title in texts:
                field.value, field.field_type = texts[field.title], ItemFieldType(kind)
        held = {field.title for field in item.fields}
        item.fields += [new_field(name, text, kind) for name, text in texts.items() if name not in held]
        await self._vault.replace(item)


def _texts(item: PushItem) -> Mapping[str, str]:
    """The fields that a push asks for, by title."""
    remedy = "push it in base64"
    if item.secret_key:
        return {item.property or PASSWORD: as_text(item.value.raw, remedy)}
    source: Document = item.source.get("data") or {}
    return {name: as_text(b64decode(value), remedy) for name, value in source.items()}
