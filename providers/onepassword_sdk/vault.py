"""One vault: its items as the SDK returns them, references resolved, items written."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from syncret.providers.errors import Malformed, SyncError, Unavailable
from syncret.providers.kit.extract import missing_property
from syncret.providers.onepassword_sdk.items import Entry, Summary, of_sdk
from syncret.providers.onepassword_sdk.sdk import Gone, asked
from syncret.providers.values import SecretBytes

if TYPE_CHECKING:  # an extra
    from onepassword import Client, Item

_NO_FIELD: Final = {"fieldNotFound", "noMatchingSections"}
_NO_ITEM: Final = "itemNotFound"


class Vault:
    """The items of one vault, as one service account."""

    def __init__(self, client: "Client", id_: str) -> None:
        self._client = client
        self.id = id_

    def __repr__(self) -> str:
        return f"<Vault {self.id}>"

    async def summaries(self) -> Sequence[Summary]:
        """All items, without what is in them."""
        listed = await asked(self._client.items.list(self.id), "listing items")
        return [Summary(each.id, each.title, tuple(each.tags)) for each in listed]

    async def read(self, ids: Sequence[str]) -> Mapping[str, Entry | Unavailable]:
        """Items by their IDs, or why they could not be read; those that are gone are missing."""
        doing = f"reading item {ids[0]}" if len(ids) == 1 else "reading items"
        answer = await asked(self._client.items.get_all(self.id, [*ids]), doing)
        found: dict[str, Entry | Unavailable] = {}
        failed = False
        for each in answer.individual_responses:
            if each.content is not None:
                found[each.content.id] = of_sdk(each.content)
            elif each.error is None or each.error.type.value != _NO_ITEM:
                failed = True
        if failed:  # an error does not say which item it is about: none of the others is known to be gone
            error = Unavailable(f"{doing}: 1Password answers with an error")
            found |= dict.fromkeys([id_ for id_ in ids if id_ not in found], error)
        return found

    async def resolve(self, keys: Sequence[str]) -> Mapping[str, SecretBytes | SyncError]:
        """The values of references below the vault; those that name no item are missing."""
        references = {f"op://{self.id}/{key}": key for key in keys}
        answer = await asked(self._client.secrets.resolve_all([*references]), "resolving references")
        found: dict[str, SecretBytes | SyncError] = {}
        for reference, key in references.items():
            resolved = answer.individual_responses[reference]
            if resolved.content is not None:
                found[key] = SecretBytes(resolved.content.secret.encode())
            elif resolved.error is None or resolved.error.type.value != _NO_ITEM:
                found[key] = _unresolved(key, "" if resolved.error is None else resolved.error.type.value)
        return found

    async def with_files(self, entry: Entry, wanted: Callable[[str], bool]) -> Entry:
        """The item with the contents of those files whose names are wanted."""
        contents: list[tuple[str, SecretBytes]] = []
        for name, attributes in entry.file_attributes:
            if wanted(name):
                doing = f"reading file {name} of item {entry.title}"
                content = await asked(self._client.items.files.read(self.id, entry.id, attributes), doing)
                contents.append((name, SecretBytes(content)))
        return entry.with_contents(contents)

    async def create(self, title: str, fields: Mapping[str, str], kind: str, tags: Sequence[str]) -> None:
        """Make an item of the category Server."""
        from onepassword import ItemCategory, ItemCreateParams  # an extra

        params = ItemCreateParams(
            category=ItemCategory.SERVER,
            vault_id=self.id,
            title=title,
            fields=[new_field(name, text, kind) for name, text in fields.items()],
            tags=[*tags] or None,
        )
        await asked(self._client.items.create(params), f"creating item {title}")

    async def replace(self, item: "Item") -> None:
        """Write an item that was read, and changed. Raises SyncError."""
        for field in item.fields:
            field.section_id = field.section_id or None  # the SDK returns none as empty, and refuses that
        item.sections = [section for section in item.sections if section.id]
        await asked(self._client.items.put(item), f"changing item {item.title}")

    async def delete(self, entry: Entry) -> None:
        """Delete an item; one that is gone is no error. Raises SyncError."""
        try:
            await asked(self._client.items.delete(self.id, entry.id), f"deleting item {entry.title}")
        except Gone:
            return


def new_field(name: str, text: str, kind: str) -> "ItemField":
    """A field that is called by its ID as by its title."""
    from onepassword import ItemField, ItemFieldType  # an extra

    return ItemField(id=name, title=name, field_type=ItemFieldType(kind), value=text)


async def vault_named(client: "Client", name: str) -> Vault:
    """The vault with a name or an ID. Raises Malformed if the service account may use none, or several."""
    listed = await asked(client.vaults.list(), "listing vaults")
    named = [vault.id for vault in listed if vault.id == name] or [
        vault.id for vault in listed if vault.title == name
    ]
    if len(named) == 1:
        return Vault(client, named[0])
    if named:
        raise Malformed(f"there are several vaults {name}", hint="write the ID of the right one into vault")
    raise Malformed(
        f"there is no vault {name}, or the service account may not use it",
        hint="check vault, and the vaults of the service account",
    )


def _unresolved(key: str, code: str) -> Malformed:
    if code in _NO_FIELD:
        return missing_property(f"there is no field as in {key!r}")
    if code == "parsing":
        return Malformed(
            f"{key!r} is no secret reference",
            hint="write item/field or item/section/field; IDs for odd names",
        )
    return Malformed(f"{key!r} cannot be resolved ({code})", hint="does it lead to one field of one item?")


if TYPE_CHECKING:
    from onepassword import ItemField
