"""Keeper's own client works with the server as with theirs: records, fields, files, folders, errors.

It blocks: a script of calls runs in a thread, beside the loop that serves it.
"""

import asyncio
from collections.abc import AsyncGenerator
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import pytest

from tests.support.servers.keeper.server import FOLDER, INNER, Device, Keeper, uid_of
from tests.support.servers.rest import running
from tests.support.tls import Authority

pytestmark = pytest.mark.slow

# Keeper's client is not typed; checked as Any it reads as in its documentation.
core: Any = import_module("keeper_secrets_manager_core.core")
dto: Any = import_module("keeper_secrets_manager_core.dto.dtos")
payloads: Any = import_module("keeper_secrets_manager_core.dto.payload")
storage: Any = import_module("keeper_secrets_manager_core.storage")
exceptions: Any = import_module("keeper_secrets_manager_core.exceptions")

AUTHORITY: Final = Authority()
UID: Final = uid_of("database")


@pytest.fixture
async def keeper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Keeper]:
    (tmp_path / "ca.pem").write_bytes(AUTHORITY.pem)
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tmp_path / "ca.pem"))
    async with running(Keeper(), AUTHORITY.server(tmp_path)) as server:
        server.add(UID, {"title": "database", "type": "login", "fields": [_password("one")], "custom": []})
        yield server


def _password(text: str) -> dict[str, Any]:
    return {"type": "password", "value": [text]}


def _client(server: Keeper) -> Any:  # noqa: ANN401  # see above
    return core.SecretsManager(config=storage.InMemoryKeyValueStorage(server.configuration().decode()))


async def test_records_are_read(keeper: Keeper) -> None:
    keeper.add(uid_of("other"), {"title": "other", "type": "login", "fields": []}, in_folder=False)
    keeper.attach(UID, "ca.pem", b"---")

    def script() -> tuple[Any, ...]:
        client = _client(keeper)
        [record] = client.get_secrets([UID])
        [named] = client.get_notation_results(f"{UID}/field/password")
        every = sorted(each.title for each in client.get_secrets())
        content = record.find_file_by_title("ca.pem").get_file_data()
        return record.title, record.type, named, every, content, client.get_secrets([uid_of("none")])

    expected: tuple[Any, ...] = ("database", "login", "one", ["database", "other"], b"---", [])
    assert await asyncio.to_thread(script) == expected


async def test_a_record_is_changed(keeper: Keeper) -> None:
    def script() -> str:
        client = _client(keeper)
        [record] = client.get_secrets([UID])
        record.set_standard_field_value("password", "two")
        client.save(record)
        [again] = client.get_secrets([UID])
        with pytest.raises(exceptions.KeeperError, match="out_of_sync"):
            client.save(record)
        return str(again.get_standard_field_value("password", single=True))

    assert await asyncio.to_thread(script) == "two"
    assert keeper.data(UID)["fields"] == [_password("two")]


async def test_a_record_is_made_and_deleted(keeper: Keeper) -> None:
    def script() -> tuple[Any, ...]:
        client = _client(keeper)
        made = dto.RecordCreate("externalSecrets", "made")
        made.fields = [dto.RecordField(field_type="password", value=["three"])]
        place = payloads.CreateOptions(FOLDER, INNER)
        uid = client.create_secret_with_options(place, made)
        [found] = client.get_secrets_by_title("made")
        folders = [(each.folder_uid, each.parent_uid, each.name) for each in client.get_folders()]
        [gone] = client.delete_secret(uid)
        return found.uid == uid, folders, gone["responseCode"], client.get_secrets([uid])

    folders = [(FOLDER, "", "shop"), (INNER, FOLDER, "shop")]
    assert await asyncio.to_thread(script) == (True, folders, "ok", [])


async def test_another_key_of_the_server(keeper: Keeper) -> None:
    keeper.key_id = "12"
    assert len(await asyncio.to_thread(lambda: _client(keeper).get_secrets())) == 1


async def test_a_device_that_is_not_known(keeper: Keeper) -> None:
    client = _client(keeper)
    keeper.device = Device(2)

    def script() -> None:
        with pytest.raises(exceptions.KeeperError, match="access_denied"):
            client.get_secrets()

    await asyncio.to_thread(script)
