"""Pushes to records of the type externalSecrets, by title: a field, or each key of a Secret as a field."""

from base64 import b64decode
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from syncret.config.meta import Document
from syncret.providers.errors import Denied, Malformed
from syncret.providers.keepersecurity.records import OURS, Record
from syncret.providers.keepersecurity.vault import Vault, check_titles
from syncret.providers.kit.references import as_text
from syncret.providers.pushes import PushItem, RemoteTarget

_KINDS: Final = (("login", "login"), ("username", "login"), ("password", "password"), ("url", "url"))
"""Parts of names that stand for fields that every record may have, the first one first."""


class _Place(NamedTuple):
    """A field of a record: a usual one by its type, or a custom one by its label."""

    section: str
    name: str

    def is_in(self, raw: Mapping[str, Any]) -> bool:
        return raw.get("type" if self.section == "fields" else "label") == self.name

    def field(self, text: str) -> dict[str, Any]:
        if self.section == "fields":
            return {"type": self.name, "value": [text]}
        return {"type": "secret", "label": self.name, "value": [text]}


class Pusher:
    """Writes to the records of one store's folder."""

    def __init__(self, vault: Vault, folder: str) -> None:
        self._vault = vault
        self._folder = folder

    async def push(self, item: PushItem) -> None:
        """Set one field, or all that a Secret has; nothing is written if they are as they should be."""
        title, values = _wanted(item)
        record = await self._find(title, creates=True)
        old: Mapping[str, Any] = {"type": OURS, "title": title} if record is None else record.raw
        new = old
        for place, text in values.items():
            new = _with(new, place, text)
        if record is None:
            await self._create(new)
        elif new != old:
            await self._vault.update(_editable(record), new)

    async def delete(self, target: RemoteTarget) -> None:
        """Delete one field, and the record if nothing is left in it."""
        title, place = _place_of(target.remote_key, target.property)
        record = await self._find(title)
        if record is None:
            return
        new = None if place is None else _without(record.raw, place)
        if new is None or not _has_fields(new):
            await self._vault.delete(_editable(record))
        elif new != record.raw:
            await self._vault.update(_editable(record), new)

    async def exists(self, target: RemoteTarget) -> bool:
        """Whether there is the record; if a field is named, whether it has that."""
        title, place = _place_of(target.remote_key, target.property)
        record = await self._find(title)
        if record is None or place is None:
            return record is not None
        return any(place.is_in(raw) for raw in _fields(record.raw, place.section))

    async def _find(self, title: str, *, creates: bool = False) -> Record | None:
        """The record of our type with a title. Raises Malformed if there are several.

        It also raises if there is none, but a record that cannot be decrypted: it may be that one.
        """
        listed = (await self._vault.records()).values()
        same = [each for each in listed if isinstance(each, Record) and each.title == title]
        ours = [each for each in same if each.is_ours]
        if len(ours) > 1:
            raise Malformed(
                f"there are several records {title}", hint="delete all but one, or push to another title"
            )
        if not ours and same and creates:
            raise Denied(
                f"record {title} is of the type {same[0].data.type}, and not made by a push",
                hint=f"push to another title; records of the type {OURS} alone are changed",
            )
        if not ours:
            check_titles(listed)
        return ours[0] if ours else None

    async def _create(self, data: Mapping[str, Any]) -> None:
        place = await self._vault.place(self._folder)
        if place is None:
            raise Malformed(
                f"creating record {data['title']}: there is no folder {self._folder}",
                hint="check folderID, and that the shared folder is shared with the application",
            )
        await self._vault.create(place, data)


def _wanted(item: PushItem) -> tuple[str, Mapping[_Place, str]]:
    """The title of a record, and what is to be in it."""
    if item.secret_key:
        title, place = _place_of(item.remote_key, item.property)
        if place is None:
            raise Malformed(
                f"match.remoteRef.remoteKey: {title!r} names no field",
                hint="write title/field, or a property",
            )
        return title, {place: as_text(item.value.raw, "push it in base64")}
    if "/" in item.remote_key or item.property:
        raise Malformed("a field holds one value", hint="write match.secretKey, or the title alone")
    source: Document = item.source.get("data") or {}
    texts = {name: as_text(b64decode(value), "push it in base64") for name, value in source.items()}
    return item.remote_key, {_Place("custom", name): text for name, text in texts.items()}


def _place_of(remote_key: str, name: str) -> tuple[str, _Place | None]:
    """Title and field: `title/field` as the operator has it, or a title with the label of a custom field."""
    title, slash, field = remote_key.partition("/")
    if "/" in field or not title or (slash and not field):
        raise Malformed(
            f"match.remoteRef.remoteKey: invalid format {remote_key!r}",
            hint="write title/field, with one slash",
        )
    if not slash:
        return title, _Place("custom", name) if name else None
    for part, kind in _KINDS:
        if part in field.lower():
            return title, _Place("fields", kind)
    return title, _Place("custom", field)


def _fields(data: Mapping[str, Any], section: str) -> Sequence[Mapping[str, Any]]:
    return data.get(section) or ()


def _with(data: Mapping[str, Any], place: _Place, text: str) -> Mapping[str, Any]:
    """The data with one field set: its first value, as fields may have several."""
    found = _fields(data, place.section)
    changed = [_set(raw, text) if place.is_in(raw) else raw for raw in found]
    if not any(place.is_in(raw) for raw in found):
        changed.append(place.field(text))
    return {**data, place.section: changed}


def _set(raw: Mapping[str, Any], text: str) -> Mapping[str, Any]:
    return {**raw, "value": [text, *(raw.get("value") or ())[1:]]}


def _without(data: Mapping[str, Any], place: _Place) -> Mapping[str, Any]:
    rest = [raw for raw in _fields(data, place.section) if not place.is_in(raw)]
    return data if len(rest) == len(_fields(data, place.section)) else {**data, place.section: rest}


def _has_fields(data: Mapping[str, Any]) -> bool:
    return any(raw.get("value") for section in ("fields", "custom") for raw in _fields(data, section))


def _editable(record: Record) -> Record:
    if not record.is_editable:
        raise Denied(
            f"changing record {record.title}: permission denied",
            hint="let the application edit what is in the folder",
        )
    return record
