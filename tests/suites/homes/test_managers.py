"""Managed fields: who wrote which key of a Secret."""

from syncret.config.meta import Document
from syncret.daemon.homes.contract import Home, StoredObject
from tests.suites.homes.objects import SECRET, document_of, manifest, ref, secret


def keys(stored: StoredObject | Document) -> dict[str, list[str]]:
    """The keys of data that each manager has."""
    document = stored.document if isinstance(stored, StoredObject) else stored
    entries: list[Document] = document["metadata"].get("managedFields", [])
    return {
        entry["manager"]: [key.removeprefix("f:") for key in entry["fieldsV1"]["f:data"]] for entry in entries
    }


async def test_a_write_without_a_manager_is_not_booked(backend: Home) -> None:
    assert "managedFields" not in (await backend.create(secret(stringData={"a": "1"}))).document["metadata"]


async def test_keys_belong_to_who_wrote_them(backend: Home) -> None:
    await backend.create(secret(stringData={"a": "1"}), field_manager="one")
    stored = await backend.update(secret(stringData={"a": "1", "b": "2"}), field_manager="two")
    assert keys(stored) == {"one": ["a"], "two": ["b"]}


async def test_a_key_that_changes_changes_hands(backend: Home) -> None:
    await backend.create(secret(stringData={"a": "1", "b": "1"}), field_manager="one")
    stored = await backend.update(secret(stringData={"a": "2", "b": "1"}), field_manager="two")
    assert keys(stored) == {"one": ["b"], "two": ["a"]}
    stored = await backend.update(secret(stringData={"a": "2", "b": "3"}))
    assert keys(stored) == {"two": ["a"]}


async def test_a_key_that_goes_belongs_to_nobody(backend: Home) -> None:
    await backend.create(secret(stringData={"a": "1", "b": "1"}), field_manager="one")
    stored = await backend.update(secret(stringData={"b": "1"}), field_manager="two")
    assert keys(stored) == {"one": ["b"]}


async def test_an_equal_write_changes_no_booking(backend: Home) -> None:
    created = await backend.create(secret(stringData={"a": "1"}), field_manager="one")
    assert await backend.update(secret(stringData={"a": "1"}), field_manager="two") == created
    whole = await document_of(backend, created.ref)
    assert await backend.update(whole, field_manager="one") == created


async def test_bookings_are_the_servers(backend: Home) -> None:
    await backend.create(secret(stringData={"a": "1"}), field_manager="one")
    document = await document_of(backend, ref(SECRET, "s"))
    document["metadata"]["managedFields"] = []
    document["metadata"]["labels"] = {"x": "y"}
    assert keys(await backend.update(document)) == {"one": ["a"]}


async def test_labels_and_annotations_are_booked_too(backend: Home) -> None:
    meta: Document = {"labels": {"l": "1"}, "annotations": {"n": "1"}}
    stored = await backend.create(manifest(SECRET, "s", meta=meta), field_manager="one")
    (entry,) = stored.document["metadata"]["managedFields"]
    assert entry["fieldsV1"] == {"f:metadata": {"f:labels": {"f:l": {}}, "f:annotations": {"f:n": {}}}}
    assert entry["operation"] == "Update"
